"""The classes torch.cpu.amp and torch.cuda.amp, which fix the device and warn that torch.amp names it."""

import warnings

from vivace.amp.autocast_mode import autocast
from vivace.amp.grad_scaler import GradScaler


def _warn(device, name):
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('{device}', args...)` "
        "instead.",
        FutureWarning,
        stacklevel=3,
    )


def autocast_of(device, default_dtype):
    """The class autocast of torch.DEVICE.amp."""

    class OldAutocast(autocast):
        def __init__(self, enabled=True, dtype=default_dtype, cache_enabled=True):
            _warn(device, "autocast")
            super().__init__(device, dtype, enabled, cache_enabled)

    return _named(OldAutocast, device, "autocast")


def grad_scaler_of(device):
    """The class GradScaler of torch.DEVICE.amp."""

    class OldGradScaler(GradScaler):
        def __init__(
            self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
        ):
            _warn(device, "GradScaler")
            super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    return _named(OldGradScaler, device, "GradScaler")


def _named(kind, device, name):
    kind.__name__ = kind.__qualname__ = name
    kind.__module__ = f"torch.{device}.amp"
    kind.__doc__ = f"torch.amp.{name} for {device}, by its older name."
    return kind
