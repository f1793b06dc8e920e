"""Floating-point operations of one call, from the sizes of its arguments."""

import math


def _numel(tensor):
    return math.prod(tensor[0])


def _mm(a, b, *_):
    return 2 * _numel(a) * b[0][-1]


def _addmm(_, a, b, *__):
    return _mm(a, b)


def _linear(x, weight, *_):
    return 2 * _numel(x) * weight[0][0]


def _conv(x, weight, _, stride, padding, dilation, groups=1, *__):
    n = len(weight[0]) - 2
    if not isinstance(padding, list):  # "same" or "valid": the operator that this one calls is counted
        return 0
    pads, steps, gaps = (list(v) * (n if len(v) == 1 else 1) for v in (padding, stride, dilation))
    sizes = [
        (size + 2 * pad - gap * (kernel - 1) - 1) // step + 1
        for size, kernel, pad, gap, step in zip(x[0][-n:], weight[0][2:], pads, gaps, steps, strict=True)
    ]
    batch = x[0][0] if len(x[0]) == n + 2 else 1
    return 2 * batch * math.prod(weight[0]) * math.prod(sizes)


def _elementwise(a, *others):
    tensors = [t for t in (a, *others) if isinstance(t, tuple)]
    return max(map(_numel, tensors), default=0)


_FORMULAS = {
    "aten::mm": _mm, "aten::bmm": _mm, "aten::addmm": _addmm, "aten::baddbmm": _addmm, "aten::linear": _linear,
    "aten::conv1d": _conv, "aten::conv2d": _conv, "aten::conv3d": _conv, "aten::add": _elementwise,
    "aten::mul": _elementwise,
}  # fmt: skip


def flops(name, arguments):
    """0 where nothing is known."""
    formula = _FORMULAS.get(name)
    return formula(*arguments) if formula else 0
