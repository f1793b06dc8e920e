"""torch.cpu.amp: the older names of torch.amp."""

from vivace import _C
from vivace.amp._old_names import autocast_of, grad_scaler_of

__all__ = ["GradScaler", "autocast"]

autocast = autocast_of("cpu", _C.bfloat16)
GradScaler = grad_scaler_of("cpu")
