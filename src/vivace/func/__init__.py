"""torch.func: functions of functions."""

from vivace.func._derivatives import grad, grad_and_value, jacrev, vjp
from vivace.func._forward import hessian, jacfwd, jvp, linearize
from vivace.func._functional_call import functional_call, stack_module_state
from vivace.func._vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
