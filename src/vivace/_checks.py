"""Checks that programs make for compilers' sake: torch._assert, torch._check and their kin raise what they say."""

__all__ = [
    "_assert",
    "_assert_async",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_type",
    "_check_value",
]


def _assert(condition, message):
    if not condition:
        raise AssertionError(message)


def _assert_async(condition, message="Expected Tensor with single nonzero value, but got zero"):
    if not bool(condition):
        raise RuntimeError(message)


def _checking(error):
    def check(condition, message=None):
        if not isinstance(condition, bool):
            raise TypeError(f"cond must be a bool, but got {type(condition)}")
        if condition:
            return
        if message is not None and not callable(message):
            raise TypeError("message must be a callable")
        raise error("Expected cond to be True, but got False" if message is None else str(message()))

    return check


_check = _checking(RuntimeError)
_check_index = _checking(IndexError)
_check_value = _checking(ValueError)
_check_type = _checking(TypeError)
_check_not_implemented = _checking(NotImplementedError)


def _check_is_size(size, message=None, *, max=None):
    _check(size >= 0, message)
    if max is not None:
        _check(size <= max, message)
