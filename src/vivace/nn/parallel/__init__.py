"""torch.nn.parallel: modules on several devices. Without GPUs DataParallel calls its module, as in PyTorch."""

from ..modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """Splits a batch over GPUs; there are none here, so the module gets it whole."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids:
            raise RuntimeError(f"DataParallel: vivace has no GPU, but device_ids={device_ids}")
        self.module = module
        self.device_ids = []
        self.dim = dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """Averages gradients over processes, which vivace does not do."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("DistributedDataParallel: vivace does not have torch.distributed; train in one process")
