"""torch.nn.utils.stateless: the older place of torch.func.functional_call."""

from vivace.func._functional_call import Reparametrized as _reparametrize_module  # noqa: F401  under the name that programs use
from vivace.func._functional_call import functional_call

__all__ = ["functional_call"]
