"""torch.func: functions of functions."""

from vivace.func._derivatives import grad, grad_and_value, jacrev, vjp
from vivace.func._forward import hessian, jacfwd, jvp, linearize
from vivace.func._functional_call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from vivace.func._vmap import debug_unwrap, functionalize, vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
