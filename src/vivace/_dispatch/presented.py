"""What modes and classes see where PyTorch has other operators than the catalogue: another one with other arguments, or
several, which autograd records one by one.
"""

import vivace
from vivace import _C

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _aten():
    from vivace._ops import namespace

    return namespace("aten")


def _reduction(size_average, reduce, reduction):
    if size_average is None and reduce is None:
        return _REDUCTIONS[reduction]
    if reduce is False:
        return 0
    return 2 if size_average is False else 1


# ---- one operator for another


def _softmax(self, dim, dtype=None):
    return _aten()._softmax(self if dtype in (None, self.dtype) else self.to(dtype), dim, False)


def _log_softmax(self, dim, dtype=None):
    return _aten()._log_softmax(self if dtype in (None, self.dtype) else self.to(dtype), dim, False)


def _conj(self):
    return _aten()._conj(self) if self.is_complex() else self


def _conv(x, weight, bias, stride, padding, dilation, groups):
    return _aten().convolution(x, weight, bias, stride, padding, dilation, False, [0] * len(stride), groups)


def _in_two_dims(name, x, *sizes):
    """A pooling along one dim, which PyTorch does along two: windows have size 1, step 1 and padding 0 in the other."""
    out = getattr(_aten(), name)(x.unsqueeze(-2), *sizes)
    return tuple(o.squeeze(-2) for o in out) if isinstance(out, tuple) else out.squeeze(-2)


def _max_pool(x, kernel_size, stride, padding, dilation, ceil_mode):
    n = len(kernel_size)
    if n == 1:
        sizes = ([1, *kernel_size], [1, *stride], [0, *padding], [1, *dilation], ceil_mode)
        return _in_two_dims("max_pool2d_with_indices", x, *sizes)
    return getattr(_aten(), f"max_pool{n}d_with_indices")(x, kernel_size, stride, padding, dilation, ceil_mode)


def _avg_pool(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor):
    n = len(kernel_size)
    if n == 1:
        sizes = ([1, *kernel_size], [1, *stride], [0, *padding])
        return _in_two_dims("avg_pool2d", x, *sizes, ceil_mode, count_include_pad, divisor)
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor)
    return getattr(_aten(), f"avg_pool{n}d")(x, *options)


def _adaptive_avg_pool(x, output_size):
    n = len(output_size)
    if n == 1:
        return _in_two_dims("_adaptive_avg_pool2d", x, [1, *output_size])
    return getattr(_aten(), f"_adaptive_avg_pool{n}d")(x, output_size)


def _adaptive_max_pool(x, output_size):
    n = len(output_size)
    if n == 1:
        return _in_two_dims("adaptive_max_pool2d", x, [1, *output_size])
    return getattr(_aten(), f"adaptive_max_pool{n}d")(x, output_size)


def _transposed(output_sizes, x, weight, stride, padding, dilation, groups):
    """The options of a transposed convolution: output_padding is what the sizes that follow from the others lack."""
    n = len(stride)
    sizes = zip(output_sizes[-n:], x.shape[-n:], weight.shape[-n:], stride, padding, dilation, strict=True)
    extra = [out - ((have - 1) * s - 2 * p + d * (k - 1) + 1) for out, have, k, s, p, d in sizes]
    return stride, padding, dilation, True, extra, groups


def _transposed_conv(x, weight, output_sizes, *options):
    return _aten().convolution(x, weight, None, *_transposed(output_sizes, x, weight, *options))


def _where_other(condition, x, number):
    other = _aten().scalar_tensor(number, dtype=vivace.result_type(x, number))
    return _aten().where.self(condition, x, other)


def _where_self(condition, number, other):
    x = _aten().scalar_tensor(number, dtype=vivace.result_type(other, number))
    return _aten().where.self(condition, x, other)


def _narrow(x, dim, start, length):
    first = start if start >= 0 else start + x.shape[dim]
    return _aten().slice.Tensor(x, dim, first, first + length)


def _chunk(x, chunks, dim=0):
    size = -(-x.shape[dim] // chunks)
    if size == 0:
        return _aten().split_with_sizes(x, [0] * chunks, dim)
    return _aten().split.Tensor(x, size, dim)


def _tensor_split(x, indices, dim=0):
    ends = [*indices, x.shape[dim]]
    return [_aten().slice.Tensor(x, dim, begin, end) for begin, end in zip([0, *indices], ends, strict=True)]


def _tensor_split_sections(x, sections, dim=0):
    size, longer = divmod(x.shape[dim], sections)
    return _tensor_split(x, [i * size + min(i, longer) for i in range(1, sections)], dim)


def _layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    return _aten().native_layer_norm(x, shape, weight, bias, eps)[0]


def _group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    n, c = x.shape[:2]
    hw = x[0, 0].numel() if x.numel() else 0
    return _aten().native_group_norm(x, weight, bias, n, c, hw, num_groups, eps)[0]


def _batch_norm_train(x, weight, bias, running_mean, running_var, momentum, eps):
    return _aten().native_batch_norm(x, weight, bias, running_mean, running_var, True, momentum, eps)[0]


def _batch_norm_eval(x, weight, bias, running_mean, running_var, eps):
    return _aten().native_batch_norm(x, weight, bias, running_mean, running_var, False, 0.1, eps)[0]


def _embedding(indices, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        return NotImplemented
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx < 0:
        padding_idx += weight.shape[0]
    return _aten().embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def _nll_loss(x, target, weight, ignore_index, reduction):
    if x.dim() > 2:
        return NotImplemented
    return _aten().nll_loss_forward(x, target, weight, _REDUCTIONS[reduction], ignore_index)[0]


def _mse_loss(x, target, size_average=None, reduce=None, reduction="mean", weight=None):
    return _aten().mse_loss(x, target, _reduction(size_average, reduce, reduction))


def _smooth_l1_loss(x, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return _aten().smooth_l1_loss(x, target, _reduction(size_average, reduce, reduction), beta)


def _huber_loss(x, target, reduction="mean", delta=1.0, weight=None):
    return _aten().huber_loss(x, target, _REDUCTIONS[reduction], delta)


def _attention(query, key, value, mask, is_causal, scale):
    if key.shape[1] != query.shape[1]:
        return NotImplemented
    attend = _aten()._scaled_dot_product_flash_attention_for_cpu
    given = None if scale == query.shape[-1] ** -0.5 else scale
    return attend(query, key, value, 0.0, is_causal, attn_mask=mask, scale=given)[0]


OTHERS = {
    "mul.Scalar_Tensor": lambda number, x: x * number,
    "add.Scalar_Tensor": lambda number, x, **alpha: NotImplemented if alpha else x + number,
    "sub.Scalar_Tensor": lambda number, x, **alpha: NotImplemented if alpha else _aten().rsub.Scalar(x, number),
    "div.Scalar_Tensor": lambda number, x: _aten().reciprocal(x) * number,
    "rsub.Scalar": lambda x, number, **alpha: _aten().rsub.Scalar(x, number, *alpha.values()),
    "square": lambda x: _aten().pow.Tensor_Scalar(x, 2),
    "narrow": _narrow,
    "chunk": _chunk,
    "tensor_split.sections": _tensor_split_sections,
    "tensor_split.indices": _tensor_split,
    "conj": _conj,
    "softmax.int": _softmax,
    "log_softmax.int": _log_softmax,
    "relu6": lambda x: _aten().hardtanh(x, 0, 6),
    "where.ScalarOther": _where_other,
    "where.ScalarSelf": _where_self,
    "conv": _conv,
    "conv_input_grad": _transposed_conv,
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": _adaptive_avg_pool,
    "adaptive_max_pool": _adaptive_max_pool,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "batch_norm_train": _batch_norm_train,
    "batch_norm_eval": _batch_norm_eval,
    "embedding": _embedding,
    "nll_loss_index": _nll_loss,
    "mse_loss": _mse_loss,
    "smooth_l1_loss": _smooth_l1_loss,
    "huber_loss": _huber_loss,
    "attention": _attention,
}

# ---- several operators for one


def _linear(x, weight, bias=None):
    if x.dim() < 2 or weight.dim() != 2:
        product = x.matmul(weight.t())
        return product if bias is None else product.add_(bias)
    if bias is not None and x.dim() == 2:
        return bias.addmm(x, weight.t()) if bias.dim() == 1 else x.mm(weight.t()) + bias
    if bias is not None and x.is_contiguous() and bias.dim() == 1:
        flat = bias.addmm(x.view(-1, x.shape[-1]), weight.t())
        return flat.view(*x.shape[:-1], weight.shape[0])
    product = x.matmul(weight.t())
    return product if bias is None else product.add_(bias)


def _cross_entropy(x, target, weight, ignore_index, reduction, label_smoothing):
    if label_smoothing > 0:
        return NotImplemented
    return _aten().nll_loss_index(x.log_softmax(1 if x.dim() > 1 else 0), target, weight, ignore_index, reduction)


def _l1_loss(x, target, size_average=None, reduce=None, reduction="mean", weight=None):
    losses = (x - target).abs()
    which = _reduction(size_average, reduce, reduction)
    return losses if which == 0 else losses.mean() if which == 1 else losses.sum()


def _masked_by_chance(x, p):
    if p == 1:
        mask = x.new_zeros(x.shape)
    else:
        mask = vivace.empty_like(x).bernoulli_(1 - p).div_(1 - p)
    return x * mask, mask


def _gradients(params, maximize, *others):
    """Parameters that have one, with it and with what other lists hold for them."""
    for p, *more in zip(params, *others, strict=True):
        if p.grad is not None:
            yield p, -p.grad if maximize else p.grad, *more


def _sgd(params, buffers, *, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    with vivace.no_grad():
        for p, grad, buffer in _gradients(params, maximize, buffers if momentum else [None] * len(params)):
            if weight_decay != 0:
                grad = grad.add(p, alpha=weight_decay)
            if momentum != 0:
                if first:
                    buffer.copy_(grad)
                else:
                    buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
                grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
            p.add_(grad, alpha=-lr)


def _adam(
    params,
    exp_avgs,
    exp_avg_sqs,
    max_exp_avg_sqs,
    state_steps,
    *,
    lr,
    beta1,
    beta2,
    weight_decay,
    eps,
    amsgrad,
    maximize,
    decoupled,
):
    largest = max_exp_avg_sqs if amsgrad else [None] * len(params)
    with vivace.no_grad():
        for p, grad, mean, square, most, count in _gradients(
            params, maximize, exp_avgs, exp_avg_sqs, largest, state_steps
        ):
            count += 1
            if weight_decay != 0 and decoupled:
                p.mul_(1 - lr * weight_decay)
            elif weight_decay != 0:
                grad = grad.add(p, alpha=weight_decay)
            mean.lerp_(grad, 1 - beta1)
            square.mul_(beta2).addcmul_(grad, grad.conj() if grad.is_complex() else grad, value=1 - beta2)
            steps = count.item()
            if amsgrad:
                most.copy_(vivace.maximum(most, square))
            root = (most if amsgrad else square).sqrt()
            scale = (root / (1 - beta2**steps) ** 0.5).add_(eps)
            p.addcdiv_(mean, scale, value=-lr / (1 - beta1**steps))


def _clip_grad_norm(params, max_norm, norm_type):
    with vivace.no_grad():
        grads = [p.grad for p in params if p.grad is not None]
        norms = [vivace.linalg.vector_norm(g, norm_type) for g in grads]
        total = vivace.linalg.vector_norm(vivace.stack(norms), norm_type)
        factor = vivace.clamp(max_norm / (total + 1e-6), max=1.0)
        for g in grads:
            g.mul_(factor)
    return total


SEVERAL = {
    "_fused_sgd_": _sgd,
    "_fused_adam_": _adam,
    "_fused_clip_grad_norm_": _clip_grad_norm,
    "linear": _linear,
    "cross_entropy_index": _cross_entropy,
    "l1_loss": _l1_loss,
    "masked_by_chance": _masked_by_chance,
}


def present():
    """Tells the extension."""
    for recorded, table in enumerate((OTHERS, SEVERAL)):
        for name, function in table.items():
            _C._present(name, function, bool(recorded))
