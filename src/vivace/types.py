"""torch.types: names for annotations."""

from typing import TypeAlias

from vivace import _C

Tensor = _C.Tensor
Number: TypeAlias = int | float | bool
Device: TypeAlias = _C.device | str | int | None
_int: TypeAlias = int
_float: TypeAlias = float
_bool: TypeAlias = bool
_dtype: TypeAlias = _C.dtype
_device: TypeAlias = _C.device
_size: TypeAlias = _C.Size | list[int] | tuple[int, ...]
