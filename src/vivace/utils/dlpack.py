"""torch.utils.dlpack: exchange of tensors by DLPack, under its older names."""

from vivace._C import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
