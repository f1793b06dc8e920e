"""torch._custom_ops, under whose name older packages import what torch.library has."""

from vivace.library import get_ctx as get_ctx
from vivace.library import impl_abstract as impl_abstract
