"""Initial values, drawn in the same order as PyTorch draws them: equal seeds give equal weights."""

import math

import vivace
from vivace import _C

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

_UNIT_GAIN = frozenset(
    ["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"]
)


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance through a nonlinearity."""
    if nonlinearity in _UNIT_GAIN:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive_field, tensor.size(0) * receptive_field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def _overridden(function, tensor, **options):
    """The call as a mode or a class sees it: with every argument by its name."""
    return vivace.overrides.handle_torch_function(function, (tensor,), tensor=tensor, **options)


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in [a, b)."""
    if _C._has_torch_function_variadic(tensor):
        return _overridden(uniform_, tensor, a=a, b=b, generator=generator)
    with vivace.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal with the given mean and standard deviation."""
    if _C._has_torch_function_variadic(tensor):
        return _overridden(normal_, tensor, mean=mean, std=std, generator=generator)
    with vivace.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal within [a, b]: numbers outside are drawn anew, or uniform ones accepted where most would be outside."""
    if mean < a - 2 * std or mean > b + 2 * std:
        import warnings

        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )

    def cdf(x):
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    with vivace.no_grad():
        draw = _normal_within if cdf(b) - cdf(a) > 0.3 else _uniform_accepted
        drawn = draw(tensor, mean, std, a, b, generator)
        return tensor if drawn is tensor else tensor.copy_(drawn)


def _normal_within(tensor, mean, std, a, b, generator):
    low, high = (vivace.tensor(bound, dtype=tensor.dtype).item() for bound in (a, b))
    drawn = tensor.normal_(mean, std, generator=generator)
    while (outside := (drawn < low) | (drawn > high)).any():
        drawn = vivace.where(outside, vivace.empty_like(drawn).normal_(mean, std, generator=generator), drawn)
    return drawn


def _uniform_accepted(tensor, mean, std, a, b, generator):
    """Uniform numbers, each accepted with its density over the largest one within the bounds."""
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def rejected(proposed):
        log_density = ((proposed - mean) / std) ** 2 * -0.5 - log_peak
        return vivace.empty_like(proposed).uniform_(generator=generator).log_() > log_density

    drawn = tensor.uniform_(a, b, generator=generator)
    pending = rejected(drawn)
    while pending.any():
        proposed = vivace.empty_like(drawn).uniform_(a, b, generator=generator)
        drawn = vivace.where(pending, proposed, drawn)
        pending = pending & rejected(proposed)
    return drawn


def constant_(tensor, val):
    """One value everywhere."""
    if _C._has_torch_function_variadic(tensor):
        return _overridden(constant_, tensor, val=val)
    with vivace.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """0 everywhere."""
    with vivace.no_grad():
        return tensor.zero_()


def eye_(tensor):
    """The identity matrix."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with vivace.no_grad():
        tensor.copy_(vivace.eye(*tensor.shape, dtype=tensor.dtype))
    return tensor


def dirac_(tensor, groups=1):
    """The identity of a convolution: each input channel goes to the output channel of the same number."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = out_channels // groups
    center = tuple(size // 2 for size in kernel)
    with vivace.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, in_channels)):
                tensor[(group * per_group + channel, channel, *center)] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform, its variance balanced between forward and backward (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal, its variance balanced between forward and backward (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _nothing_to_draw(tensor):
    if 0 not in tensor.shape:
        return False
    import warnings

    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform, its variance kept through rectifiers (He et al., 2015)."""
    if _C._has_torch_function_variadic(tensor):
        return _overridden(kaiming_uniform_, tensor, a=a, mode=mode, nonlinearity=nonlinearity, generator=generator)
    if _nothing_to_draw(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal, its variance kept through rectifiers (He et al., 2015)."""
    if _nothing_to_draw(tensor):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A (semi-)orthogonal matrix, from the QR decomposition of a normal one (Saxe et al., 2013)."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns))
    with vivace.no_grad():
        flat.normal_(0, 1, generator=generator)
        if rows < columns:
            flat.t_()
        q, r = vivace.linalg.qr(flat)
        q *= vivace.diag(r, 0).sign()  # makes the decomposition unique, so that q is uniform
        if rows < columns:
            q.t_()
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal, with a fraction of each column set to zero (Martens, 2010)."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with vivace.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[vivace.randperm(rows)[:zeros], column] = 0
    return tensor


def _old_name(function):
    def deprecated(*args, **kwargs):
        import warnings

        warnings.warn(
            f"`nn.init.{function.__name__[:-1]}` is now deprecated in favor of `nn.init.{function.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    deprecated.__name__ = function.__name__[:-1]
    deprecated.__doc__ = f"The old name of `{function.__name__}`."
    return deprecated


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)
