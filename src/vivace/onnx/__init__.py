"""torch.onnx, which vivace does not have: the question is answered, what packages register for exports is accepted,
and everything else refuses.
"""

from vivace._lazy import refusing

__all__ = ["is_in_onnx_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]


def is_in_onnx_export():
    return False


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Does nothing: there is no export that would use it."""


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Does nothing, as `register_custom_op_symbolic`."""


__getattr__ = refusing(__name__, "vivace runs programs and exports none: torch.onnx cannot be used")
