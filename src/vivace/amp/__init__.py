"""torch.amp: training in lower precision."""

from vivace.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from vivace.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
