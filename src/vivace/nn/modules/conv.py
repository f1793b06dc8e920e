"""Convolutions and transposed convolutions."""

import math

import vivace

from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import _pair, _reverse_repeat_tuple, _single, _triple

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups,
        bias, padding_mode, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            modes = ", ".join(repr(mode) for mode in _PADDING_MODES)
            raise ValueError(f"padding_mode must be one of {{{modes}}}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._pad_amounts()
        if transposed:
            shape = (in_channels, out_channels // groups, *kernel_size)
        else:
            shape = (out_channels, in_channels // groups, *kernel_size)
        self.weight = Parameter(vivace.empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(vivace.empty(out_channels, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def _pad_amounts(self):
        """What F.pad gets where the padding is not of zeros."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        amounts = []
        for dilation, size in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = dilation * (size - 1) if self.padding == "same" else 0
            amounts += [total // 2, total - total // 2]
        return amounts

    def reset_parameters(self):
        # a = sqrt(5) makes the bound 1 / sqrt(fan_in)
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        plain = (0,) * len(self.padding), (1,) * len(self.dilation), (0,) * len(self.output_padding)
        for name, usual in zip(("padding", "dilation", "output_padding"), plain, strict=True):
            value = getattr(self, name)
            if value != usual:
                parts.append(f"{name}={value}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"


class _Conv(_ConvNd):
    """What Conv1d, Conv2d and Conv3d share; each names its function and says how many dimensions a size has."""

    _tuple = None
    _function = None

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        sizes = self._tuple
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride),
            padding if isinstance(padding, str) else sizes(padding), sizes(dilation), False, sizes(0), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = self._tuple(0)
        return getattr(F, self._function)(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution over (N, C, L)."""

    _tuple = staticmethod(_single)
    _function = "conv1d"


class Conv2d(_Conv):
    """Convolution over (N, C, H, W)."""

    _tuple = staticmethod(_pair)
    _function = "conv2d"


class Conv3d(_Conv):
    """Convolution over (N, C, D, H, W)."""

    _tuple = staticmethod(_triple)
    _function = "conv3d"


class _ConvTransposeNd(_ConvNd):
    """What the transposed convolutions share."""

    _tuple = None
    _function = None

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        sizes = self._tuple
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride), sizes(padding), sizes(dilation), True,
            sizes(output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        """The output padding that gives `output_size`."""
        if output_size is None:
            return _single(self.output_padding)
        spatial = num_spatial_dims
        if len(output_size) == input.dim():
            output_size = output_size[input.dim() - spatial :]
        if len(output_size) != spatial:
            raise ValueError(
                f"ConvTranspose{spatial}D: for {input.dim()}D input, output_size must have {spatial} or "
                f"{input.dim()} elements (got {len(output_size)})"
            )
        smallest = [
            (input.size(d + input.dim() - spatial) - 1) * stride[d]
            - 2 * padding[d]
            + (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1)
            + 1
            for d in range(spatial)
        ]
        for wanted, low, step in zip(output_size, smallest, stride, strict=True):
            if not low <= wanted <= low + step - 1:
                largest = [n + s - 1 for n, s in zip(smallest, stride, strict=True)]
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                    f"(for an input of {input.size()[2:]})"
                )
        return [wanted - low for wanted, low in zip(output_size, smallest, strict=True)]

    def forward(self, input, output_size=None):
        extra = self.output_padding
        if output_size is not None:
            extra = self._output_padding(
                input, output_size, self.stride, self.padding, self.kernel_size, len(self.kernel_size), self.dilation
            )
        return getattr(F, self._function)(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over (N, C, L)."""

    _tuple = staticmethod(_single)
    _function = "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over (N, C, H, W)."""

    _tuple = staticmethod(_pair)
    _function = "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over (N, C, D, H, W)."""

    _tuple = staticmethod(_triple)
    _function = "conv_transpose3d"


class _LazyConvNd(LazyModuleMixin):
    """What convolutions share that take in_channels from their first input."""

    def _await_channels(self, out_channels, bias, like):
        self.weight = UninitializedParameter(**like)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**like)

    def reset_parameters(self):
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        spatial = len(self.kernel_size)
        if input.dim() not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {type(self).__name__}, but "
                f"got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-spatial - 1]
        if not self.has_uninitialized_params():
            return
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        channels = self.out_channels, self.in_channels
        first, second = reversed(channels) if self.transposed else channels
        with vivace.no_grad():
            self.weight.materialize((first, second // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()


class _LazyConv(_LazyConvNd):
    def __init__(
        self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
        device=None, dtype=None,
    ):  # fmt: skip
        # Without channels and bias no random numbers are drawn.
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._await_channels(out_channels, bias, {"device": device, "dtype": dtype})


class _LazyConvTranspose(_LazyConvNd):
    def __init__(
        self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._await_channels(out_channels, bias, {"device": device, "dtype": dtype})


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that takes in_channels from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes in_channels from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes in_channels from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that takes in_channels from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that takes in_channels from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that takes in_channels from its first input."""

    cls_to_become = ConvTranspose3d
