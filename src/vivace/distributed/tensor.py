"""torch.distributed.tensor: its names can be imported; vivace.distributed says what they do."""

from vivace.distributed import __getattr__ as __getattr__
