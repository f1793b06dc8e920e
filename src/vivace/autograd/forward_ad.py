"""torch.autograd.forward_ad: tensors that carry a tangent through operators, which compute derivatives along it."""

from contextlib import ContextDecorator
from typing import Any, NamedTuple

from vivace import _C

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

# The level that was entered here, -1 outside; the transforms of torch.func have levels of their own around and in it.
_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """A tensor's value, and its tangent, or None."""

    primal: Any
    tangent: Any


def enter_dual_level():
    """Opens the level that dual tensors live in; `dual_level` closes it, too."""
    global _current_level
    if _current_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _current_level = _C._enter_dual_level()
    return _current_level


def exit_dual_level(*, level=None):
    """Closes the level: the tangents of all tensors go."""
    global _current_level
    if level is None:
        level = _current_level
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _C._exit_dual_level(level)
    _current_level = -1


def _check_differentiable(tensor, what):
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected {what} to be floating point or complex, but got: {tensor.dtype}")


def make_dual(tensor, tangent, *, level=None):
    """A view of the tensor that carries the tangent."""
    level = _current_level if level is None else level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    _check_differentiable(tensor, "primal")
    _check_differentiable(tangent, "tangent")
    return _C._make_dual(tensor, tangent, level)


def unpack_dual(tensor, *, level=None):
    """The tensor without its tangent, and the tangent, None if it has none."""
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor, level))


class dual_level(ContextDecorator):
    """A `with` block, or a decorated function, in which dual tensors can be made."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


def _is_fwd_grad_enabled():
    """Whether operators of this thread look at tangents."""
    return _C._is_fwd_grad_enabled()


class _set_fwd_grad_enabled(ContextDecorator):
    """Says whether operators of this thread look at tangents: for good, or for a `with` block."""

    def __init__(self, mode):
        self._before = _C._is_fwd_grad_enabled()
        _C._set_fwd_grad_enabled(mode)

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _C._set_fwd_grad_enabled(self._before)
