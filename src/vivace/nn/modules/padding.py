"""Padding of 1, 2 and 3 spatial dimensions."""

from .. import functional as F
from .module import Module
from .utils import _ntuple, _pair, _quadruple

_sextuple = _ntuple(6)


class _ConstantPadNd(Module):
    _amounts = None

    def __init__(self, padding, value):
        super().__init__()
        self.padding = self._amounts(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a value."""

    _amounts = staticmethod(_pair)


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a value."""

    _amounts = staticmethod(_quadruple)


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with a value."""

    _amounts = staticmethod(_sextuple)


class _ZeroPad:
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pads the last dimension with zeros."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pads the last two dimensions with zeros."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pads the last three dimensions with zeros."""


class _ModePadNd(Module):
    _amounts = None
    _mode = None

    def __init__(self, padding):
        super().__init__()
        self.padding = self._amounts(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ReflectionPadNd(_ModePadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension with its mirror image."""

    _amounts = staticmethod(_pair)


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last two dimensions with their mirror image."""

    _amounts = staticmethod(_quadruple)


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last three dimensions with their mirror image."""

    _amounts = staticmethod(_sextuple)


class _ReplicationPadNd(_ModePadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension with its border."""

    _amounts = staticmethod(_pair)


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last two dimensions with their border."""

    _amounts = staticmethod(_quadruple)


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last three dimensions with their border."""

    _amounts = staticmethod(_sextuple)


class _CircularPadNd(_ModePadNd):
    _mode = "circular"


class CircularPad1d(_CircularPadNd):
    """Pads the last dimension with its other end."""

    _amounts = staticmethod(_pair)


class CircularPad2d(_CircularPadNd):
    """Pads the last two dimensions with their other end."""

    _amounts = staticmethod(_quadruple)


class CircularPad3d(_CircularPadNd):
    """Pads the last three dimensions with their other end."""

    _amounts = staticmethod(_sextuple)
