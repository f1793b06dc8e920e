"""autograd.Function in vmap: by the class's own `vmap`, or by a Function over the physical tensors that calls its
forward and backward in vmap (`generate_vmap_rule`).
"""

from vivace import _C, Tensor
from vivace.autograd.function import Function
from vivace.func._levels import levels_seen
from vivace.func._rules.table import Info

_SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def _is_own(cls, name):
    return not hasattr(getattr(cls, name), "_is_default")


def _check(cls):
    if cls.generate_vmap_rule:
        if _is_own(cls, "vmap"):
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overriden vmap "
                "staticmethod. Please set generate_vmap_rule=False or delete the overriden vmap staticmethod to avoid "
                f"ambiguity. {_SEE}"
            )
    elif not _is_own(cls, "vmap"):
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            f"the vmap staticmethod or set generate_vmap_rule=True. {_SEE}"
        )
    if not _is_own(cls, "setup_context"):
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod. {_SEE}"
        )


def _wrapped(values, dims, level):
    return tuple(v if d is None else _C._add_batch_dim(v, d, level) for v, d in zip(values, dims, strict=True))


def apply(cls, *args):
    """cls.apply for arguments that are batched."""
    _check(cls)
    level = max(_C._vmap_level(a) for a in args)
    dims = tuple(0 if _C._vmap_level(a) == level else None for a in args)
    size, randomness = _C._vmap_info(level)
    with levels_seen(level - 1):
        physical = [a if d is None else _C._vmap_physical(a) for a, d in zip(args, dims, strict=True)]
        if cls.generate_vmap_rule:
            over = _over_samples(cls, dims, Info(size, randomness))
            out = over.apply(*physical)
            out_dims = over.out_dims
        else:
            out, out_dims = cls.vmap(Info(size, randomness), dims, *physical)
    if isinstance(out, tuple):
        out_dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(out)
        return tuple(_wrapped(out, out_dims, level))
    return _wrapped((out,), (out_dims,), level)[0]


class _Level:
    """A vmap over samples whose physical tensors are there already."""

    def __init__(self, info):
        self._info = info

    def __enter__(self):
        self.level = _C._vmap_enter(*self._info)
        return self

    def __exit__(self, *exception):
        _C._vmap_leave()

    def wrapped(self, values, dims):
        return _wrapped(values, dims, self.level)

    def physical(self, values):
        """The physical tensors, and the place of the batch in each, or None."""
        dims = tuple(0 if _C._vmap_level(v) == self.level else None for v in values)
        return tuple(v if d is None else _C._vmap_physical(v) for v, d in zip(values, dims, strict=True)), dims


class _Context:
    """The ctx that the class's own methods see: what they save is batched, what the node keeps is not."""

    def __init__(self, ctx, level):
        object.__setattr__(self, "_ctx", ctx)
        object.__setattr__(self, "_level", level)

    def save_for_backward(self, *tensors):
        physical, self._ctx.saved_dims = self._level.physical(tensors)
        self._ctx.save_for_backward(*physical)

    def save_for_forward(self, *tensors):
        self._ctx.save_for_forward(*self._level.physical(tensors)[0])

    @property
    def saved_tensors(self):
        return self._level.wrapped(self._ctx.saved_tensors, self._ctx.saved_dims)

    def mark_non_differentiable(self, *tensors):
        self._ctx.mark_non_differentiable(*self._level.physical(tensors)[0])

    def mark_dirty(self, *tensors):
        self._ctx.mark_dirty(*self._level.physical(tensors)[0])

    def __getattr__(self, name):
        return getattr(self._ctx, name)

    def __setattr__(self, name, value):
        setattr(self._ctx, name, value)


def _as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def _summed(gradient, level, dim, like):
    """A gradient for an input: an unbatched one gets the sum of all samples'."""
    if gradient is None:
        return None
    (physical,), (own,) = level.physical((gradient,))
    if dim is None:
        return physical if own is None else physical.sum(0)
    return physical if own is not None else physical.unsqueeze(0).expand(like)


def _over_samples(cls, dims, info):
    """A Function of physical tensors that are batched at `dims`."""

    class OverSamples(Function):
        generate_vmap_rule = True
        out_dims = None

        @staticmethod
        def forward(*args):
            with _Level(info) as level:
                out = cls.forward(*level.wrapped(args, dims))
                physical, found = level.physical(_as_tuple(out))
            OverSamples.out_dims = found if isinstance(out, tuple) else found[0]
            return physical if isinstance(out, tuple) else physical[0]

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.shapes = [x.shape if isinstance(x, Tensor) else None for x in inputs]
            ctx.output_dims = _as_tuple(OverSamples.out_dims)
            with _Level(info) as level:
                outputs = level.wrapped(_as_tuple(output), ctx.output_dims)
                given = outputs if isinstance(output, tuple) else outputs[0]
                cls.setup_context(_Context(ctx, level), level.wrapped(inputs, dims), given)

        @staticmethod
        def backward(ctx, *grads):
            with _Level(info) as level:
                batched = [None if g is None else d for g, d in zip(grads, ctx.output_dims, strict=True)]
                found = _as_tuple(cls.backward(_Context(ctx, level), *level.wrapped(grads, batched)))
                return tuple(_summed(g, level, d, s) for g, d, s in zip(found, dims, ctx.shapes, strict=True))

        @staticmethod
        def jvp(ctx, *tangents):
            with _Level(info) as level:
                given = [d if isinstance(t, Tensor) else None for t, d in zip(tangents, dims, strict=True)]
                found = cls.jvp(_Context(ctx, level), *level.wrapped(tangents, given))
                out = [_summed(t, level, 0, None) for t in _as_tuple(found)]
                return tuple(out) if isinstance(found, tuple) else out[0]

    OverSamples.__name__ = f"Vmapped{cls.__name__}"
    return OverSamples
