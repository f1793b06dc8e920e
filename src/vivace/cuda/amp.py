"""torch.cuda.amp: the older names of torch.amp."""

from vivace import amp

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """amp.GradScaler("cuda", ...): there is no such device, so it warns and does nothing."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
