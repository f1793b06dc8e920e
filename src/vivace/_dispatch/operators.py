"""Operators of PyTorch that are none here: others with other arguments do their work. Modes and classes see these; a
kernel of them runs on plain tensors. Derivatives are taken from the function that they are of.
"""

import contextlib

import vivace
from vivace import _C
from vivace._library import registry


@contextlib.contextmanager
def _recording():
    """Autograd on, for a kernel that asks it for a derivative."""
    before = _C._exclude_keys(0)
    try:
        with vivace.enable_grad():
            yield
    finally:
        _C._exclude_keys(before)


def _gradients(function, inputs, grad, wanted):
    """Of a function of several tensors, None where there is none or it is not wanted."""
    with _recording():
        leaves = [t.detach().requires_grad_(w) if t is not None else None for t, w in zip(inputs, wanted, strict=True)]
        ends = [t for t, w in zip(leaves, wanted, strict=True) if t is not None and w]
        found = iter(vivace.autograd.grad(function(*leaves), ends, grad)) if ends else iter(())
    return tuple(next(found) if t is not None and w else None for t, w in zip(leaves, wanted, strict=True))


def _gradient(function, x, grad):
    return _gradients(function, (x,), grad, (True,))[0]


_REDUCTIONS = ("none", "mean", "sum")


def _functional():
    from vivace.nn import functional

    return functional


def _softmax(self, dim, half_to_float):
    return _functional().softmax(self, dim, dtype=vivace.float32 if half_to_float else None)


def _log_softmax(self, dim, half_to_float):
    return _functional().log_softmax(self, dim, dtype=vivace.float32 if half_to_float else None)


def _convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    f, n = _functional(), weight.dim() - 2
    if transposed:
        call = getattr(f, f"conv_transpose{n}d")
        return call(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return getattr(f, f"conv{n}d")(x, weight, bias, stride, padding, dilation, groups)


def _convolution_backward(grad, x, weight, bias_sizes, *options_and_mask):
    *options, mask = options_and_mask
    bias = None if bias_sizes is None else vivace.zeros(bias_sizes, dtype=weight.dtype)
    return _gradients(lambda x, w, b: _convolution(x, w, b, *options), (x, weight, bias), grad, mask)


def _moments(x, dims, eps):
    var, mean = vivace.var_mean(x, dims, correction=0, keepdim=True)
    return mean, (var + eps).rsqrt()


def _unstandardize(grad, unit, rstd, dims):
    """The gradient of what became `unit` when it was standardized over dims."""
    return rstd * (grad - grad.mean(dims, keepdim=True) - unit * (grad * unit).mean(dims, keepdim=True))


def _native_layer_norm(x, shape, weight, bias, eps):
    out = _functional().layer_norm(x, shape, weight, bias, eps)
    return (out, *_moments(x, list(range(x.dim() - len(shape), x.dim())), eps))


def _native_layer_norm_backward(grad, x, shape, mean, rstd, weight, bias, mask):
    outer, inner = list(range(x.dim() - len(shape))), list(range(x.dim() - len(shape), x.dim()))
    unit = (x - mean) * rstd
    scaled = grad if weight is None else grad * weight
    return (
        _unstandardize(scaled, unit, rstd, inner) if mask[0] else None,
        _summed(grad * unit, outer) if mask[1] else None,
        _summed(grad, outer) if mask[2] else None,
    )


def _summed(t, dims):
    return t.sum(dims) if dims else t


def _native_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps):
    out = _functional().batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return out, x.new_empty(0), x.new_empty(0)
    mean, rstd = _moments(x, [0, *range(2, x.dim())], eps)
    return out, mean.reshape(-1), rstd.reshape(-1)


def _native_batch_norm_backward(
    grad, x, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
):
    f = _functional()

    def forward(x, w, b):
        return f.batch_norm(x, None if train else running_mean, None if train else running_var, w, b, train, 0.0, eps)

    shift = x.new_zeros(x.shape[1])
    scale = x.new_ones(x.shape[1]) if weight is None else weight
    return _gradients(forward, (x, scale, shift), grad, output_mask)


def _native_group_norm(x, weight, bias, n, c, hw, group, eps):
    out = _functional().group_norm(x, group, weight, bias, eps)
    mean, rstd = _moments(x.reshape(n, group, -1), [2], eps)
    return out, mean.reshape(n, group), rstd.reshape(n, group)


def _native_group_norm_backward(grad, x, mean, rstd, weight, n, c, hw, group, mask):
    channels = [1, c] + [1] * (x.dim() - 2)
    others = [0, *range(2, x.dim())]
    unit = (x.reshape(n, group, -1) - mean.reshape(n, group, 1)) * rstd.reshape(n, group, 1)
    scaled = grad if weight is None else grad * weight.reshape(channels)
    return (
        _unstandardize(scaled.reshape(n, group, -1), unit, rstd.reshape(n, group, 1), [2]).reshape(x.shape)
        if mask[0]
        else None,
        _summed(grad * unit.reshape(x.shape), others) if mask[1] else None,
        _summed(grad, others) if mask[2] else None,
    )


def _pool(n):
    def max_pool(x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        pool = getattr(_functional(), f"max_pool{n}d")
        return pool(x, kernel_size, stride or None, padding, dilation, ceil_mode, return_indices=True)

    def max_pool_backward(grad, x, kernel_size, stride, padding, dilation, ceil_mode, indices):
        places = x.new_zeros(*x.shape[:-n], x[(0,) * (x.dim() - n)].numel())
        return places.scatter_add(-1, indices.flatten(-n), grad.flatten(-n)).reshape(x.shape)

    def avg_pool(x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor=None):
        pool = getattr(_functional(), f"avg_pool{n}d")
        return pool(x, kernel_size, stride or None, padding, ceil_mode, count_include_pad, divisor)

    def avg_pool_backward(grad, x, *options):
        return _gradient(lambda x: avg_pool(x, *options), x, grad)

    def adaptive(x, output_size):
        return getattr(_functional(), f"adaptive_avg_pool{n}d")(x, output_size)

    def adaptive_backward(grad, x):
        return _gradient(lambda x: adaptive(x, grad.shape[-n:]), x, grad)

    def adaptive_max(x, output_size):
        return getattr(_functional(), f"adaptive_max_pool{n}d")(x, output_size, return_indices=True)

    return max_pool, max_pool_backward, avg_pool, avg_pool_backward, adaptive, adaptive_backward, adaptive_max


_max2, _max2_backward, _avg2, _avg2_backward, _adaptive2, _adaptive2_backward, _adaptive_max2 = _pool(2)
_max3, _max3_backward, _avg3, _avg3_backward, _adaptive3, _adaptive3_backward, _adaptive_max3 = _pool(3)


def _embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    padding = None if padding_idx < 0 else padding_idx
    return _functional().embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq)


def _embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    table = grad.new_zeros(num_weights, grad.shape[-1])
    return _gradient(lambda w: _embedding(w, indices, padding_idx, scale_grad_by_freq), table, grad)


def _nll_loss_forward(self, target, weight, reduction, ignore_index):
    loss = _functional().nll_loss(self, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])
    counts = target != ignore_index
    if weight is None:
        total = counts.sum().to(self.dtype)
    else:
        total = (weight[target * counts] * counts).sum()
    return loss, total if reduction else total.new_zeros(())


def _nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight):
    f = _functional()
    options = {"ignore_index": ignore_index, "reduction": _REDUCTIONS[reduction]}
    return _gradient(lambda x: f.nll_loss(x, target, weight, **options), self, grad)


def _pair_loss(name, parameter=None):
    """A loss of two tensors and its derivative, with the numbers that PyTorch has for reductions."""

    def forward(self, target, reduction=1, number=None):
        options = {parameter: number} if number is not None else {}
        return getattr(_functional(), name)(self, target, reduction=_REDUCTIONS[reduction], **options)

    def backward(grad, self, target, reduction, *numbers):
        return _gradient(lambda x: forward(x, target, reduction, *numbers), self, grad)

    return forward, backward


_mse, _mse_backward = _pair_loss("mse_loss")
_smooth_l1, _smooth_l1_backward = _pair_loss("smooth_l1_loss", "beta")
_huber, _huber_backward = _pair_loss("huber_loss", "delta")


def _attention(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    attend = _functional().scaled_dot_product_attention
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = (query * factor) @ key.transpose(-2, -1)
    if attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        scores = scores + scores.new_full(scores.shape[-2:], -float("inf")).triu(1)
    out = attend(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    return out, scores.logsumexp(-1)


def _attention_backward(grad, query, key, value, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None):
    attend = _functional().scaled_dot_product_attention
    return _gradients(
        lambda q, k, v: attend(q, k, v, attn_mask, dropout_p, is_causal, scale=scale),
        (query, key, value),
        grad,
        (True, True, True),
    )


def _slope(name):
    """The derivative of an activation by its input."""
    return lambda grad, self, *options: _gradient(lambda x: getattr(_functional(), name)(x, *options), self, grad)


def _gelu_backward(grad, self, *, approximate="none"):
    return _gradient(lambda x: _functional().gelu(x, approximate=approximate), self, grad)


def _leaky_relu_backward(grad, self, negative_slope, self_is_result):
    return grad * (self > 0) + grad * (self <= 0) * negative_slope


def _hardtanh_backward(grad, self, min_val, max_val):
    return grad * ((self > min_val) & (self < max_val))


def _elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result):
    return _gradient(lambda x: _functional().elu(x, alpha), self_or_result, grad)


def _softmax_backward_data(grad, output, dim, input_dtype):
    return ((grad - (grad * output).sum(dim, keepdim=True)) * output).to(input_dtype)


def _log_softmax_backward_data(grad, output, dim, input_dtype):
    return (grad - output.exp() * grad.sum(dim, keepdim=True)).to(input_dtype)


_POOL = "int[{n}] kernel_size, int[{n}] stride=[], int[{n}] padding=0"
_CONVOLUTION = "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups"
_NORMS = "Tensor? weight, Tensor? bias"
_BATCH = "Tensor? running_mean, Tensor? running_var"
_ATTENTION = "float dropout_p{zero}, bool is_causal{false}, *, Tensor? attn_mask=None, float? scale=None"
_PAIR = "Tensor grad_output, Tensor self"

OPERATORS = {
    "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor": _softmax,
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor": (
        _softmax_backward_data
    ),
    "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor": _log_softmax,
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor": (
        _log_softmax_backward_data
    ),
    f"convolution(Tensor input, Tensor weight, Tensor? bias, {_CONVOLUTION}) -> Tensor": _convolution,
    f"convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, {_CONVOLUTION}, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)": _convolution_backward,
    f"native_layer_norm(Tensor input, int[] normalized_shape, {_NORMS}, float eps) -> (Tensor, Tensor, Tensor)": (
        _native_layer_norm
    ),
    "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, "
    f"{_NORMS}, bool[3] output_mask) -> (Tensor, Tensor, Tensor)": _native_layer_norm_backward,
    f"native_batch_norm(Tensor input, {_NORMS}, {_BATCH}, bool training, float momentum, float eps) "
    "-> (Tensor, Tensor, Tensor)": _native_batch_norm,
    f"native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, {_BATCH}, Tensor? save_mean, "
    "Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)": (
        _native_batch_norm_backward
    ),
    f"native_group_norm(Tensor input, {_NORMS}, int N, int C, int HxW, int group, float eps) "
    "-> (Tensor, Tensor, Tensor)": _native_group_norm,
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int N, "
    "int C, int HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)": _native_group_norm_backward,
    **{
        f"max_pool{n}d_with_indices(Tensor self, {_POOL.format(n=n)}, int[{n}] dilation=1, bool ceil_mode=False) "
        "-> (Tensor, Tensor)": f
        for n, f in ((2, _max2), (3, _max3))
    },
    **{
        f"max_pool{n}d_with_indices_backward(Tensor grad_output, Tensor self, int[{n}] kernel_size, int[{n}] stride, "
        f"int[{n}] padding, int[{n}] dilation, bool ceil_mode, Tensor indices) -> Tensor": f
        for n, f in ((2, _max2_backward), (3, _max3_backward))
    },
    **{
        f"avg_pool{n}d(Tensor self, {_POOL.format(n=n)}, bool ceil_mode=False, bool count_include_pad=True, "
        "int? divisor_override=None) -> Tensor": f
        for n, f in ((2, _avg2), (3, _avg3))
    },
    **{
        f"avg_pool{n}d_backward(Tensor grad_output, Tensor self, int[{n}] kernel_size, int[{n}] stride, "
        f"int[{n}] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor": f
        for n, f in ((2, _avg2_backward), (3, _avg3_backward))
    },
    **{
        f"_adaptive_avg_pool{n}d(Tensor self, int[{n}] output_size) -> Tensor": f
        for n, f in ((2, _adaptive2), (3, _adaptive3))
    },
    **{
        f"_adaptive_avg_pool{n}d_backward(Tensor grad_output, Tensor self) -> Tensor": f
        for n, f in ((2, _adaptive2_backward), (3, _adaptive3_backward))
    },
    **{
        f"adaptive_max_pool{n}d(Tensor self, int[{n}] output_size) -> (Tensor, Tensor)": f
        for n, f in ((2, _adaptive_max2), (3, _adaptive_max3))
    },
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) "
    "-> Tensor": _embedding,
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, "
    "bool scale_grad_by_freq) -> Tensor": _embedding_dense_backward,
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) "
    "-> (Tensor, Tensor)": _nll_loss_forward,
    f"nll_loss_backward({_PAIR}, Tensor target, Tensor? weight, int reduction, int ignore_index, "
    "Tensor total_weight) -> Tensor": _nll_loss_backward,
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor": _mse,
    f"mse_loss_backward({_PAIR}, Tensor target, int reduction) -> Tensor": _mse_backward,
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor": _smooth_l1,
    f"smooth_l1_loss_backward({_PAIR}, Tensor target, int reduction, float beta) -> Tensor": _smooth_l1_backward,
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor": _huber,
    f"huber_loss_backward({_PAIR}, Tensor target, int reduction, float delta) -> Tensor": _huber_backward,
    "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
    f"{_ATTENTION.format(zero='=0.0', false='=False')}) -> (Tensor, Tensor)": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
    f"Tensor out, Tensor logsumexp, {_ATTENTION.format(zero='', false='')}) -> (Tensor, Tensor, Tensor)": (
        _attention_backward
    ),
    f"threshold_backward({_PAIR}, Scalar threshold) -> Tensor": lambda g, x, threshold: g * (x > threshold),
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor": lambda g, y: g * (y.conj() * (1 - y.conj())),
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor": lambda g, y: g * (1 - y.conj() ** 2),
    f"gelu_backward({_PAIR}, *, str approximate='none') -> Tensor": _gelu_backward,
    f"silu_backward({_PAIR}) -> Tensor": _slope("silu"),
    f"mish_backward({_PAIR}) -> Tensor": _slope("mish"),
    f"hardswish_backward({_PAIR}) -> Tensor": _slope("hardswish"),
    f"hardsigmoid_backward({_PAIR}) -> Tensor": _slope("hardsigmoid"),
    f"softplus_backward({_PAIR}, Scalar beta, Scalar threshold) -> Tensor": _slope("softplus"),
    f"leaky_relu_backward({_PAIR}, Scalar negative_slope, bool self_is_result) -> Tensor": _leaky_relu_backward,
    f"hardtanh_backward({_PAIR}, Scalar min_val, Scalar max_val) -> Tensor": _hardtanh_backward,
    "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
    "Tensor self_or_result) -> Tensor": _elu_backward,
    "_conj(Tensor(a) self) -> Tensor(a)": lambda x: x.conj(),
    "lift_fresh(Tensor(a) self) -> Tensor(a)": lambda x: x,
    "_pin_memory(Tensor self, Device? device=None) -> Tensor": lambda x, device=None: x.pin_memory(device),
    "_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor": (
        lambda x, a, b, beta=1, alpha=1: vivace.sparse.addmm(x, a, b, beta=beta, alpha=alpha)
    ),
    "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor": lambda x, number, alpha=1: number - x * alpha,
}


def define():
    """Defines them all."""
    for schema, function in OPERATORS.items():
        qualname = registry.define(f"aten::{schema}", stands_before_built_in=True)
        registry.impl(qualname, "CompositeExplicitAutograd", function)
        registry.impl(qualname, "Autograd", function, "record")
