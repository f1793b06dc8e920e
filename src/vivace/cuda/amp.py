"""torch.cuda.amp: the older names of torch.amp. There is no such device, so both classes warn and do nothing."""

import functools

from vivace import _C, amp
from vivace.amp._old_names import autocast_of, grad_scaler_of

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

autocast = autocast_of("cuda", _C.float16)
GradScaler = grad_scaler_of("cuda")
custom_fwd = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")
