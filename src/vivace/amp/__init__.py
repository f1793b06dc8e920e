"""torch.amp: training in lower precision."""

from vivace.amp.grad_scaler import GradScaler as GradScaler
