"""What gradcheck does beside backward: derivatives along tangents against differences, and batches one by one."""

import vivace
from vivace.autograd import forward_ad
from vivace.autograd.gradcheck import (
    GradcheckError,
    _as_tuple,
    _close,
    _difference,
    _differentiable,
    _numerical,
    _outputs,
    _parts,
    _random_like,
)
from vivace.func import vmap


def _pushed(func, inputs, x, direction, kept):
    """Derivatives of the outputs along a direction of `x`, one of the inputs."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(v, direction) if v is x else v for v in inputs]
        tensors = [o for o in _as_tuple(func(*duals)) if isinstance(o, vivace.Tensor)]
        pairs = [forward_ad.unpack_dual(tensors[k]) for k in kept]
    return [vivace.zeros_like(p) if t is None else t.detach() for p, t in pairs]


def _mismatch(number, index, part, both, numerical, analytical):
    prefix = (
        f"While considering the {'real' if part == 1 else 'imaginary'} part of complex inputs only, " if both else ""
    )
    raise GradcheckError(
        f"{prefix}Jacobian computed with forward mode mismatch for output {number} with respect to input {index},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
    )


def _unit(x, j, part):
    direction = vivace.zeros_like(x.detach()).contiguous()
    direction.view(-1)[j] = part
    return direction


def check_forward(func, inputs, kept, settings):
    """The whole Jacobian, or in fast mode one direction of each input, by forward mode and by differences."""
    generator = vivace.Generator().manual_seed(0)
    for index, x in enumerate(_differentiable(inputs)):
        if not x.numel():
            continue
        if settings.fast:
            direction = _random_like(x, generator)
            numerical = _difference(func, inputs, x, direction * settings.eps, settings.eps, kept)
            columns = [_pushed(func, inputs, x, direction, kept)]
            _compare(index, x, 1, [n.reshape(1, -1) for n in numerical], columns, settings)
            continue
        for part, numerical in zip(_parts(x), _numerical(func, inputs, x, kept, settings.eps), strict=True):
            columns = [_pushed(func, inputs, x, _unit(x, j, part), kept) for j in range(x.numel())]
            _compare(index, x, part, numerical, columns, settings)


def _compare(index, x, part, numerical, columns, settings):
    for number, expected in enumerate(numerical):
        analytical = vivace.stack([column[number].reshape(-1) for column in columns])
        if not _close(analytical, expected, settings):
            _mismatch(number, index, part, x.is_complex(), expected, analytical)


_BATCHED = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation: the gradients of a batch of "
    "directions are not those of its directions, for output {} and input {}."
)
_BATCHED_FORWARD = (
    "gradcheck failed while testing batched gradient computation with forward-mode AD: the derivatives along a batch "
    "of tangents are not those along its tangents, for output {} and input {}."
)


def check_batched(func, inputs):
    """Gradients of two directions at once."""
    leaves = _differentiable(inputs)
    generator = vivace.Generator().manual_seed(0)
    for number, output in enumerate(_outputs(func, inputs)):
        weights = vivace.stack([_random_like(output, generator) for _ in range(2)])
        settings = {"retain_graph": True, "allow_unused": True}
        batched = vivace.autograd.grad(output, leaves, weights, is_grads_batched=True, **settings)
        singles = zip(*(vivace.autograd.grad(output, leaves, w, **settings) for w in weights), strict=True)
        for index, (batch, single) in enumerate(zip(batched, singles, strict=True)):
            if batch is not None and not vivace.allclose(batch, vivace.stack(single)):
                raise GradcheckError(_BATCHED.format(number, index))


def check_batched_forward(func, inputs, kept):
    """Derivatives along two tangents at once."""
    generator = vivace.Generator().manual_seed(0)
    for index, x in enumerate(_differentiable(inputs)):
        tangents = [_random_like(x, generator) for _ in range(2)]
        batched = vmap(lambda t, x=x: tuple(_pushed(func, inputs, x, t, kept)))(vivace.stack(tangents))
        singles = zip(*(_pushed(func, inputs, x, t, kept) for t in tangents), strict=True)
        for number, (batch, single) in enumerate(zip(batched, singles, strict=True)):
            if not vivace.allclose(batch, vivace.stack(single)):
                raise GradcheckError(_BATCHED_FORWARD.format(number, index))
