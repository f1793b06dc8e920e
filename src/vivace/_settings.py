"""Process-wide settings that exist for programs written for PyTorch, and small questions about types."""

from vivace import _C

_deterministic = {"enabled": False, "warn_only": False}
_PRECISIONS = ("highest", "high", "medium")
_matmul_precision = "highest"


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Kernels here are deterministic for a given number of threads, whatever the mode."""
    _deterministic.update(enabled=bool(mode), warn_only=bool(mode and warn_only))


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms set."""
    return _deterministic["enabled"]


def is_deterministic_algorithms_warn_only_enabled():
    """Whether use_deterministic_algorithms asked for warnings alone."""
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """0 or "default", 1 or "warn", 2 or "error"."""
    level = {"default": 0, "warn": 1, "error": 2}.get(debug_mode, debug_mode)
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected one of default, warn, error; got {debug_mode!r}")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode():
    """0, 1 where it would warn, 2 where it would raise."""
    if not _deterministic["enabled"]:
        return 0
    return 1 if _deterministic["warn_only"] else 2


def set_float32_matmul_precision(precision):
    """Products of float32 matrices are always of the highest precision here; the setting is remembered."""
    global _matmul_precision
    if precision not in _PRECISIONS:
        raise RuntimeError(f"float32 matmul precision must be one of {', '.join(_PRECISIONS)}, got {precision!r}")
    _matmul_precision = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision set."""
    return _matmul_precision


def set_flush_denormal(mode):
    """False: small numbers are never flushed to zero here."""
    return False


_warn_always = False


def set_warn_always(b, /):
    """Warnings come from Python here, whose filters say how often; the setting is remembered."""
    global _warn_always
    _warn_always = bool(b)


def is_warn_always_enabled():
    """What set_warn_always set."""
    return _warn_always


def compiled_with_cxx11_abi():
    """True."""
    return True


def set_default_tensor_type(t):
    """Sets the default dtype by the name or class of an old typed tensor: torch.DoubleTensor."""
    name = t if isinstance(t, str) else f"torch.{getattr(t, '__name__', t)}"
    if name.startswith("torch.cuda."):
        raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    dtypes = {"Float": _C.float32, "Double": _C.float64, "Half": _C.float16, "BFloat16": _C.bfloat16}
    dtype = dtypes.get(name.removeprefix("torch.").removesuffix("Tensor"))
    if dtype is None:
        raise TypeError(f"only floating-point types are supported as the default type, got {name}")
    _C.set_default_dtype(dtype)


def is_storage(obj):
    """Whether an object is a storage."""
    from vivace.storage import TypedStorage, UntypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj):
    """The name of an object's type; of a tensor, its old typed name: torch.FloatTensor."""
    if isinstance(obj, _C.Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__", None) else f"{module}.{kind.__qualname__}"
