"""What modes and classes see of derivatives where PyTorch calls other operators than the formulas here. `rule(s)` gets
what the node saved by the names of the operator's arguments, the gradient `s.grad`, `s.needs`, which gradients are
wanted, and `s.sources`, the names of the nodes that they go to. It gives one for each differentiable argument. Only
where no graph is made of the derivative.
"""

from types import SimpleNamespace

from vivace import _C
from vivace._dispatch.operators import _moments
from vivace._dispatch.presented import _REDUCTIONS, _aten, _reduction, _transposed


def _unseen():
    """For what PyTorch kept from the forward pass and the nodes here did not."""
    from vivace.utils._python_dispatch import _disable_current_modes

    return _disable_current_modes()


def _like_input(s):
    """Something of the input's sizes, which are all that a derivative reads of it."""
    with _unseen():
        return s.grad.new_empty(s.input_sizes)


def _t(x):
    return _aten().t(x)


def _times(x, factor):
    return x if factor == 1 else x * factor


def _by_left(grad, right):
    return grad.mm(_t(right))


def _by_right(grad, left, source):
    """What was transposed on its way in gets a gradient laid out alike."""
    return _t(_t(grad).mm(left)) if source == "TBackward0" else _t(left).mm(grad)


def _mm(s):
    return (
        _by_left(s.grad, s.mat2) if s.needs[0] else None,
        _by_right(s.grad, s.self, s.sources[1]) if s.needs[1] else None,
    )


def _addmm(s):
    return (
        _times(s.grad, s.beta) if s.needs[0] else None,
        _times(_by_left(s.grad, s.mat2), s.alpha) if s.needs[1] else None,
        _times(_by_right(s.grad, s.mat1, s.sources[2]), s.alpha) if s.needs[2] else None,
    )


def _conv(s):
    sizes = [s.weight.shape[0]] if s.needs[2] else None
    options = (s.stride, s.padding, s.dilation, False, [0] * len(s.stride), s.groups)
    return _aten().convolution_backward(s.grad, s.input, s.weight, sizes, *options, list(s.needs))


def _transposed_conv(s):
    options = _transposed(s.grad.shape, s.grads, s.weight, s.stride, s.padding, s.dilation, s.groups)
    return _aten().convolution_backward(s.grad, s.grads, s.weight, None, *options, [*s.needs, False])[:2]


def _avg_pool(s):
    n = len(s.kernel_size)
    options = (s.ceil_mode, s.count_include_pad, s.divisor)
    if n == 1:
        windows = ([1, *s.kernel_size], [1, *s.stride], [0, *s.padding])
        return _in_two_dims("avg_pool2d_backward", s, *windows, *options)
    windows = (s.kernel_size, s.stride, s.padding)
    return getattr(_aten(), f"avg_pool{n}d_backward")(s.grad, _like_input(s), *windows, *options)


def _adaptive_avg_pool(s):
    n = len(s.input_sizes) - 2
    if n == 1:
        return _in_two_dims("_adaptive_avg_pool2d_backward", s)
    return getattr(_aten(), f"_adaptive_avg_pool{n}d_backward")(s.grad, _like_input(s))


def _in_two_dims(name, s, *options):
    with _unseen():
        x = _like_input(s).unsqueeze(-2)
    return getattr(_aten(), name)(s.grad.unsqueeze(-2), x, *options).squeeze(-2)


def _nll_loss(s):
    if len(s.input_sizes) > 2:
        return NotImplemented
    with _unseen():
        x, counts = s.grad.new_empty(s.input_sizes), s.target != s.ignore_index
        total = (counts if s.weight is None else s.weight[s.target * counts] * counts).sum().to(s.grad.dtype)
    return _aten().nll_loss_backward(s.grad, x, s.target, s.weight, _REDUCTIONS[s.reduction], s.ignore_index, total)


def _layer_norm(s):
    dims = list(range(s.input.dim() - len(s.normalized_shape), s.input.dim()))
    with _unseen():
        mean, rstd = _moments(s.input, dims, s.eps)
    shift = s.weight if s.needs[2] else None
    return _aten().native_layer_norm_backward(
        s.grad, s.input, s.normalized_shape, mean, rstd, s.weight, shift, list(s.needs)
    )


def _group_norm(s):
    x, groups = s.input, s.num_groups
    n, c = x.shape[:2]
    with _unseen():
        mean, rstd = (m.reshape(n, groups) for m in _moments(x.reshape(n, groups, -1), [2], s.eps))
        hw = x.numel() // (n * c) if x.numel() else 0
    return _aten().native_group_norm_backward(s.grad, x, mean, rstd, s.weight, n, c, hw, groups, list(s.needs))


def _batch_norm_train(s):
    mask = [bool(n) for n in s.needs[:3]]
    return _aten().native_batch_norm_backward(s.grad, s.input, s.weight, None, None, None, None, True, s.eps, mask)


def _batch_norm_eval(s):
    mask, running = [bool(n) for n in s.needs[:3]], (s.running_mean, s.running_var)
    return _aten().native_batch_norm_backward(s.grad, s.input, s.weight, *running, None, None, False, s.eps, mask)


def _embedding(s):
    padding = -1 if s.padding_idx is None else s.padding_idx % s.weight_sizes[0]
    return _aten().embedding_dense_backward(s.grad, s.input, s.weight_sizes[0], padding, s.scale_grad_by_freq)


def _pair(name, *parameters):
    def rule(s):
        by_flags = (getattr(s, "size_average", None), getattr(s, "reduce", None), s.reduction)
        options = (_reduction(*by_flags), *(getattr(s, p) for p in parameters))
        backward = getattr(_aten(), f"{name}_backward")
        if s.input.shape != s.target.shape:
            return NotImplemented
        x = backward(s.grad, s.input, s.target, *options) if s.needs[0] else None
        target = backward(s.grad, s.target, s.input, *options) if s.needs[1] else None
        return x, target

    return rule


def _widened(s, sizes):
    """The gradient of a reduction with its dims back."""
    dims = sorted(d % len(sizes) for d in s.dim) if sizes else []
    grad = s.grad
    if not s.keepdim:
        for d in dims:
            grad = grad.unsqueeze(d)
    return grad.expand(sizes), dims


def _sum_dim(s):
    return NotImplemented if not s.dim else _widened(s, s.self_sizes)[0]


def _mean_dim(s):
    if not s.dim:
        return NotImplemented
    wide, dims = _widened(s, s.self_sizes)
    count = 1
    for d in dims:
        count *= s.self_sizes[d]
    return _aten().div.Scalar(wide, count)


def _mean(s):
    count = 1
    for size in s.self_sizes:
        count *= size
    return _aten().div.Scalar(s.grad.expand(s.self_sizes), count)


def _activation(name, *parameters, **named):
    """NAME_backward(grad, self, ...)."""

    def rule(s):
        keywords = {k: getattr(s, k) for k in named}
        return getattr(_aten(), f"{name}_backward")(s.grad, s.self, *(getattr(s, p) for p in parameters), **keywords)

    return rule


def _pow(s):
    if s.exponent == 0 or isinstance(s.exponent, complex) or s.self.is_complex():
        return NotImplemented
    return s.grad * _aten().mul.Scalar(s.self.pow(s.exponent - 1), s.exponent)


RULES = {
    "mm": _mm,
    "addmm": _addmm,
    "conv": _conv,
    "conv_input_grad": _transposed_conv,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": _adaptive_avg_pool,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "batch_norm_train": _batch_norm_train,
    "batch_norm_eval": _batch_norm_eval,
    "embedding": _embedding,
    "nll_loss_index": _nll_loss,
    "mse_loss": _pair("mse_loss"),
    "smooth_l1_loss": _pair("smooth_l1_loss", "beta"),
    "huber_loss": _pair("huber_loss", "delta"),
    "softmax.int": lambda s: _aten()._softmax_backward_data(s.grad, s.result0, s.dim, s.result0.dtype),
    "log_softmax.int": lambda s: _aten()._log_softmax_backward_data(s.grad, s.result0, s.dim, s.result0.dtype),
    "relu": lambda s: _aten().threshold_backward(s.grad, s.result0, 0),
    "sigmoid": lambda s: _aten().sigmoid_backward(s.grad, s.result0),
    "tanh": lambda s: _aten().tanh_backward(s.grad, s.result0),
    "gelu": _activation("gelu", approximate=True),
    "silu": _activation("silu"),
    "mish": _activation("mish"),
    "hardswish": _activation("hardswish"),
    "hardsigmoid": _activation("hardsigmoid"),
    "hardtanh": _activation("hardtanh", "min_val", "max_val"),
    "relu6": lambda s: _aten().hardtanh_backward(s.grad, s.self, 0, 6),
    "leaky_relu": lambda s: _aten().leaky_relu_backward(s.grad, s.self, s.negative_slope, False),
    "elu": lambda s: _aten().elu_backward(s.grad, s.alpha, 1, 1, False, s.self),
    "softplus": _activation("softplus", "beta", "threshold"),
    "sum.dim_IntList": _sum_dim,
    "mean": _mean,
    "mean.dim": _mean_dim,
    "pow.Tensor_Scalar": _pow,
    "exp": lambda s: s.grad * s.result0 if not s.result0.is_complex() else NotImplemented,
    "log": lambda s: s.grad.div(s.self) if not s.self.is_complex() else NotImplemented,
    "sqrt": lambda s: s.grad / _aten().mul.Scalar(s.result0, 2) if not s.result0.is_complex() else NotImplemented,
    "rsqrt": lambda s: (
        _aten().mul.Scalar(s.grad, -0.5) * s.result0.pow(3) if not s.result0.is_complex() else NotImplemented
    ),
}


def _bound(rule):
    def derivative(grad, needs, saved):
        return rule(SimpleNamespace(grad=grad, needs=needs, **saved))

    return derivative


def register():
    """Tells the extension."""
    for name, rule in RULES.items():
        _C._set_derivative(name, _bound(rule))
