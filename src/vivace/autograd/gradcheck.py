"""Checks of derivatives against finite differences. The module is also the function: torch.autograd.gradcheck(f, x).

A gradient is compared as a real one: a complex input counts as its two parts, and a complex output as two outputs.
"""

import sys
import warnings
from types import ModuleType

import vivace
from vivace.autograd.function import Function

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """The derivative is not what finite differences say."""


class _Settings:
    def __init__(self, eps, atol, rtol, nondet_tol, undefined, dtypes, fast):
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.nondet_tol = nondet_tol
        self.undefined = undefined
        self.dtypes = dtypes
        self.fast = fast


def _as_tuple(values):
    return (values,) if isinstance(values, vivace.Tensor) else tuple(values)


def _differentiable(values):
    return [v for v in values if isinstance(v, vivace.Tensor) and v.requires_grad]


def _outputs(func, inputs):
    return _differentiable(_as_tuple(func(*inputs)))


def _check_inputs(inputs):
    if not _differentiable(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for i, x in enumerate(inputs):
        if not (isinstance(x, vivace.Tensor) and x.requires_grad):
            continue
        if x.dtype not in (vivace.float64, vivace.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if any(st == 0 and size > 1 for st, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
        x.retain_grad()


def _parts(x):
    """The numbers by which an input is shifted: also along the imaginary axis if it is complex."""
    return (1, 1j) if x.is_complex() else (1,)


def _with_shift(func, inputs, x, shift):
    """The outputs where `x`, one of the inputs, is shifted in place."""
    with vivace.no_grad():
        before = x.detach().clone()
        x.data.add_(shift)
        try:
            return [o.detach().clone() for o in _as_tuple(func(*inputs)) if isinstance(o, vivace.Tensor)]
        finally:
            x.data.copy_(before)


def _difference(func, inputs, x, shift, eps, kept):
    """Derivatives of the outputs along a shift of `x`."""
    above, below = _with_shift(func, inputs, x, shift), _with_shift(func, inputs, x, -shift)
    return [(above[k] - below[k]) / (2 * eps) for k in kept]


def _kept(func, inputs):
    """Which of the outputs that are tensors are differentiable."""
    tensors = [o for o in _as_tuple(func(*inputs)) if isinstance(o, vivace.Tensor)]
    return [k for k, o in enumerate(tensors) if o.requires_grad]


def _numerical(func, inputs, x, kept, eps):
    """For each output a matrix: a row for each element of `x`, a column for each of the output. The derivative along
    the real axis, and for complex inputs that along the imaginary axis.
    """
    result = []
    for part in _parts(x):
        rows = []
        for j in range(x.numel()):
            shift = vivace.zeros_like(x.detach()).contiguous()
            shift.view(-1)[j] = part * eps
            rows.append(_difference(func, inputs, x, shift, eps, kept))
        result.append([vivace.stack([row[k].reshape(-1) for row in rows]) for k in range(len(kept))] if rows else None)
    return result


def _grads(output, inputs, weight):
    grads = vivace.autograd.grad(output, inputs, weight, retain_graph=True, allow_unused=True)
    return [vivace.zeros_like(x) if g is None else g for g, x in zip(grads, inputs, strict=True)]


def _analytical(output, inputs, unit):
    """For each input a matrix like that of `_numerical`: gradients of each element of the output times `unit`."""
    columns = [[] for _ in inputs]
    for j in range(output.numel()):
        weight = vivace.zeros_like(output.detach()).contiguous()
        weight.view(-1)[j] = unit
        for column, grad in zip(columns, _grads(output, inputs, weight), strict=True):
            column.append(grad.detach().reshape(-1))
    return [vivace.stack(c, 1) if c else None for c in columns]


def _combine(derivatives, unit):
    """The gradient that backward gives for weight `unit`, out of derivatives along the real and imaginary axes."""
    real = [(d.real if unit == 1 else d.imag) if d.is_complex() else d for d in derivatives]
    return real[0] if len(real) == 1 else vivace.complex(real[0], real[1])


def _close(a, b, settings):
    return a.shape == b.shape and vivace.allclose(a, b.to(a.dtype), settings.rtol, settings.atol, equal_nan=True)


def _mismatch(number, index, numerical, analytical):
    raise GradcheckError(
        f"Jacobian mismatch for output {number} with respect to input {index},\nnumerical:{numerical}\n"
        f"analytical:{analytical}\n"
    )


def _check_slow(func, inputs, outputs, kept, settings):
    leaves = _differentiable(inputs)
    numerical = [_numerical(func, inputs, x, kept, settings.eps) for x in leaves]
    for number, output in enumerate(outputs):
        for unit in _parts(output):
            analytical = _analytical(output, leaves, unit)
            again = _analytical(output, leaves, unit)
            for i, x in enumerate(leaves):
                if not x.numel() or not output.numel():
                    continue
                _check_repeatable(analytical[i], again[i], settings)
                expected = _combine([part[number] for part in numerical[i]], unit)
                if not _close(analytical[i], expected, settings):
                    _mismatch(number, i, expected, analytical[i])


def _check_repeatable(first, second, settings):
    if not vivace.allclose(first, second, 0.0, settings.nondet_tol, equal_nan=True):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            f"different values. The tolerance for nondeterminism was {settings.nondet_tol}."
        )


def _random_like(t, generator):
    real = vivace.rand(t.shape, dtype=vivace.float64, generator=generator)
    if t.is_complex():
        real = vivace.complex(real, vivace.rand(t.shape, dtype=vivace.float64, generator=generator))
    return (real / real.abs().square().sum().sqrt() if real.numel() else real).to(t.dtype)


def _check_fast(func, inputs, outputs, kept, settings):
    """One random projection of each pair's Jacobian."""
    generator = vivace.Generator().manual_seed(0)
    leaves = _differentiable(inputs)
    for i, x in enumerate(leaves):
        if not x.numel():
            continue
        direction = _random_like(x, generator)
        along = _difference(func, inputs, x, direction * settings.eps, settings.eps, kept)
        for number, output in enumerate(outputs):
            if not output.numel():
                continue
            weight = _random_like(output, generator)
            grad = _grads(output, leaves, weight)[i]
            _check_repeatable(grad, _grads(output, leaves, weight)[i], settings)
            analytical = (grad.conj() * direction).sum()
            numerical = (weight.conj() * along[number]).sum()
            analytical, numerical = (v.real if v.is_complex() else v for v in (analytical, numerical))
            # The size of what was projected sets how much of it the projection may lose.
            if not _close(analytical, numerical, settings):
                _mismatch(number, i, numerical, analytical)


class _Unreached(Function):
    """Identity through which no gradient comes."""

    @staticmethod
    def forward(ctx, x):
        return x.detach()

    @staticmethod
    def backward(ctx, grad):
        return None


def _check_undefined(func, inputs):
    """Backward must take gradients that did not arrive as zeros."""
    leaves = _differentiable(inputs)
    outputs = _outputs(func, inputs)
    subsets = [range(len(outputs))]
    if len(outputs) > 1:
        subsets += [[k] for k in range(len(outputs))]
    for subset in subsets:
        through = [_Unreached.apply(o) if k in subset else o for k, o in enumerate(outputs)]
        weights = [vivace.zeros_like(o) for o in outputs]
        try:
            grads = vivace.autograd.grad(through, leaves, weights, retain_graph=True, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Treat a grad that is None as zeros."
            ) from error
        for grad in grads:
            if grad is not None and not bool((grad == 0).all()):
                raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are.")


def _check_zeros(func, inputs):
    leaves, outputs = _differentiable(inputs), _outputs(func, inputs)
    weights = [vivace.zeros_like(o) for o in outputs]
    for grad, x in zip(vivace.autograd.grad(outputs, leaves, weights, allow_unused=True), leaves, strict=True):
        if grad is None:
            continue
        if not bool((grad == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if grad.dtype != x.dtype or grad.shape != x.shape:
            raise GradcheckError("grad is of another dtype or size than the input")


def _check(func, inputs, settings):
    kept = _kept(func, inputs)
    outputs = _outputs(func, inputs)
    if not outputs:
        for x in _differentiable(inputs):
            for part in _numerical(func, inputs, x, range(len(_as_tuple(func(*inputs)))), settings.eps):
                if part is not None and any(bool((m != 0).any()) for m in part if m.numel()):
                    raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    if settings.dtypes and len({t.dtype for t in [*outputs, *_differentiable(inputs)]}) > 1:
        raise GradcheckError("gradcheck: inputs and outputs are of different dtypes")
    (_check_fast if settings.fast else _check_slow)(func, inputs, outputs, kept, settings)
    _check_zeros(func, inputs)
    if settings.undefined:
        _check_undefined(func, inputs)


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Whether the derivatives of `func` at `inputs`, backward and, if asked for, forward, are those of central
    differences; otherwise a GradcheckError.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    settings = _Settings(eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode)
    try:
        inputs = _as_tuple(inputs)
        _check_inputs(inputs)
        if check_forward_ad or check_batched_grad:
            from vivace.autograd import _gradcheck_forward as forward
        if check_forward_ad:
            forward.check_forward(func, inputs, _kept(func, inputs), settings)
        if check_backward_ad:
            _check(func, inputs, settings)
        if check_batched_forward_grad:
            forward.check_batched_forward(func, inputs, _kept(func, inputs))
        if check_batched_grad:
            forward.check_batched(func, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """gradcheck of the gradients of `func`, as a function of its inputs and of `grad_outputs` (random if not given)."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    inputs = _as_tuple(inputs)
    kept = _kept(func, inputs)
    if grad_outputs is None:
        grad_outputs = [_random_weight(o, gen_non_contig_grad_outputs) for o in _outputs(func, inputs)]
    grad_outputs = _as_tuple(grad_outputs)
    ninputs = len(inputs)

    def gradients(*args):
        given, weights = args[:ninputs], args[ninputs:]
        given = tuple(x.view_as(x) if isinstance(x, vivace.Tensor) and x.requires_grad else x for x in given)
        tensors = [o for o in _as_tuple(func(*given)) if isinstance(o, vivace.Tensor)]
        grads = vivace.autograd.grad(
            [tensors[k] for k in kept], _differentiable(given), weights, create_graph=True, allow_unused=True
        )
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        _switching(gradients),
        inputs + grad_outputs,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _switching(gradients):
    """The function, recording inside even where the caller takes differences without a graph."""

    def call(*args):
        with vivace.enable_grad():
            return gradients(*args)

    return call


def _random_weight(output, non_contiguous):
    weight = vivace.randn(output.shape, dtype=output.dtype)
    if non_contiguous and weight.dim() > 0:
        weight = vivace.stack([weight, weight], -1)[..., 0]
    return weight.requires_grad_()


class _Callable(ModuleType):
    """The module, which PyTorch hides behind its function of the same name."""

    def __call__(self, *args, **kwargs):
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
