"""torch.autocast: a region in which operators choose the precision of their floating arguments.

Which operator chooses what stands in the catalogue (`autocast=`). Only the CPU has operators here; what is set for
other devices is remembered, and has no effect.
"""

import warnings

from vivace import _C

_LOWER = (_C.bfloat16, _C.float16)
_BFLOAT16_DEVICES = ("xla", "hpu", "mtia", "maia")
_AVAILABLE = ("cpu", "cuda", "xpu", "ipu", "hpu", "xla", "mps", "mtia", "maia", "privateuseone")
_others = {  # device that isn't here -> [enabled, dtype]
    device: [False, _C.bfloat16 if device in _BFLOAT16_DEVICES else _C.float16] for device in _AVAILABLE[1:]
}


def is_autocast_available(device_type):
    """Whether PyTorch has autocast for that type of device."""
    return _kind(device_type) in _AVAILABLE


def _kind(device_type):
    kind = _C.device(device_type).type
    return "privateuseone" if kind == _C._get_privateuse1_backend_name() else kind


def _other(device_type):
    kind = _kind(device_type)
    if kind not in _others:
        raise RuntimeError(f"autocast has no dtype for device type {kind!r}: unsupported scalarType")
    return _others[kind]


def is_autocast_enabled(device_type="cuda"):
    """Whether a region for that type of device is open."""
    return _C._get_autocast()[0] if device_type == "cpu" else _other(device_type)[0]


def set_autocast_enabled(device_type, enabled=None):
    """set_autocast_enabled(device_type, enabled); without a device type it means cuda."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if device_type == "cpu":
        _, dtype, cache = _C._get_autocast()
        _C._set_autocast(enabled, dtype, cache)
    else:
        _other(device_type)[0] = enabled


def get_autocast_dtype(device_type):
    """The lower precision of a region for that type of device."""
    return _C._get_autocast()[1] if device_type == "cpu" else _other(device_type)[1]


def set_autocast_dtype(device_type, dtype):
    """Sets the lower precision of regions that don't name one."""
    if device_type == "cpu":
        enabled, _, cache = _C._get_autocast()
        _C._set_autocast(enabled, dtype, cache)
    else:
        _other(device_type)[1] = dtype


def is_autocast_cache_enabled():
    """Whether weights are cast once a region."""
    return _C._get_autocast()[2]


def set_autocast_cache_enabled(enabled):
    """Sets whether weights are cast once a region."""
    _C._set_autocast(*_C._get_autocast()[:2], enabled)


def _supported(device, dtype, enabled):
    """Whether a region can be on; warns where it was asked for and can't."""
    if not enabled:
        return False
    if device == "cpu":
        if dtype in _LOWER:
            return True
        text = (
            "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
            "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
        )
    elif device == "cuda":
        text = "CUDA is not available or torch_xla is imported. Disabling autocast."
    elif _kind(device) == "privateuseone":
        text = f"vivace has no autocast for private backends such as {device!r}. Disabling autocast."
    else:
        text = f"vivace runs on the CPU: there is no device {device!r}. Disabling autocast."
    warnings.warn(text, stacklevel=3)
    return False


class autocast:
    """A with block, or a decorator of functions, in which products run in a lower precision and what needs it in
    float32. Weights are cast once, until the outermost region ends."""

    __module__ = "torch.amp.autocast_mode"

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = _supported(device_type, self.fast_dtype, enabled)
        self._found = []  # what each __enter__ that is open found

    def __enter__(self):
        device = self.device
        self._found.append((is_autocast_enabled(device), get_autocast_dtype(device), is_autocast_cache_enabled()))
        self._set(self._enabled, self.fast_dtype, self._cache_enabled)
        _C.autocast_increment_nesting()
        return self

    def __exit__(self, *exception):
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        self._set(*self._found.pop())

    def _set(self, enabled, dtype, cache):
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cache)

    def __call__(self, function):
        import functools  # here: it takes a third of what importing vivace takes

        @functools.wraps(function)
        def call(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return call


def old_names():
    """Functions like get_autocast_gpu_dtype, which name the device, by name."""
    functions = {}

    def add(name, new, function, device):
        def call(*args):
            arguments = ", ".join([repr(device), *["enabled" if "enabled" in name else "dtype"] * len(args)])
            warnings.warn(
                f"torch.{name}() is deprecated. Please use torch.{new}({arguments}) instead.",
                DeprecationWarning,
                stacklevel=2,
            )
            return function(device, *args)

        call.__name__ = call.__qualname__ = name
        call.__module__ = "vivace"  # where pickles find it
        call.__doc__ = f"torch.{new} for {device}."
        functions[name] = call

    for short, device in {"cpu": "cpu", "gpu": "cuda", "ipu": "ipu", "xla": "xla"}.items():
        add(f"get_autocast_{short}_dtype", "get_autocast_dtype", get_autocast_dtype, device)
        add(f"set_autocast_{short}_dtype", "set_autocast_dtype", set_autocast_dtype, device)
        if short != "gpu":
            add(f"is_autocast_{short}_enabled", "is_autocast_enabled", is_autocast_enabled, device)
            add(f"set_autocast_{short}_enabled", "set_autocast_enabled", set_autocast_enabled, device)
    return functions
