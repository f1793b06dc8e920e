"""opcheck: whether an operator does what its registrations say, on sample arguments."""

import functools

import vivace
from vivace import testing
from vivace._library import registry
from vivace._library.autograd import any_requires_grad
from vivace.utils import _pytree


class OpCheckError(Exception):
    """A registration does not hold."""


def _tensors(tree):
    return [leaf for leaf in _pytree.tree_leaves(tree) if isinstance(leaf, vivace.Tensor)]


def _copy(tree):
    """The same arguments, with tensors of their own, which are leaves."""

    def one(value):
        if not isinstance(value, vivace.Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    return _pytree.tree_map(one, tree)


def _to_meta(tree):
    def one(value):
        if not isinstance(value, vivace.Tensor):
            return value
        made = vivace.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        return made.requires_grad_(value.requires_grad)

    return _pytree.tree_map(one, tree)


def _bind(op, args, kwargs):
    """Argument of the schema -> value, for those given."""
    arguments = op._schema.arguments
    return {**dict(zip([a.name for a in arguments], args, strict=False)), **kwargs}


def _check_schema(op, args, kwargs, close):
    """What the schema says of writes and shared memory."""
    given_args, given_kwargs = _copy((args, kwargs))
    with vivace.no_grad():
        bound = _bind(op, given_args, given_kwargs)
        before = _copy(bound)
        result = op(*given_args, **given_kwargs)
    for a in op._schema.arguments:
        if a.name not in bound or a.is_write:
            continue
        for then, now in zip(_tensors(before[a.name]), _tensors(bound[a.name]), strict=True):
            if not vivace.equal(then.nan_to_num(), now.nan_to_num()):
                raise OpCheckError(f"Argument {a.name} is not defined as mutable but was mutated")
    memory = {t.untyped_storage().data_ptr() for t in _tensors(bound) if t.numel()}
    if any(r.alias_info for r in op._schema.returns):
        return
    for t in _tensors(result):
        if t.numel() and t.untyped_storage().data_ptr() in memory:
            raise OpCheckError(f"{op}: a result shares memory with an argument, which the schema does not say")


def _check_autograd_registration(op, args, kwargs, close):
    """That gradients come from a kernel for Autograd."""
    if not any_requires_grad(_pytree.tree_leaves((args, kwargs))) or op.namespace == "aten":
        return
    record = registry.record(op.name())
    if record.kernels.get("Autograd") or record.kernels.get("CompositeImplicitAutograd"):
        return
    with vivace.enable_grad():
        results = _tensors(op(*_copy(args), **_copy(kwargs)))
    if any(t.requires_grad for t in results):
        raise OpCheckError(
            f"{op}: its results require grad though it has no kernel for Autograd. Use register_autograd, or don't "
            "let the kernel for a backend record."
        )


def _same_metadata(op, real, fake, what):
    real, fake = _tensors(real), _tensors(fake)
    if len(real) != len(fake):
        raise OpCheckError(f"{op}: {what} are {len(real)} tensors, on the meta device {len(fake)}")
    for r, f in zip(real, fake, strict=True):
        seen = [(tuple(t.shape), t.stride() if t.numel() > 1 else (), t.dtype) for t in (r, f)]
        if seen[0] != seen[1]:
            raise OpCheckError(f"{op}: {what} have shape, strides and dtype {seen[0]}, on the meta device {seen[1]}")


def _check_fake(op, args, kwargs, close):
    """That the meta device gives results of the same shapes, strides and dtypes."""
    with vivace.no_grad():
        real_args, real_kwargs = _copy((args, kwargs))
        real = op(*real_args, **real_kwargs)
        fake_args, fake_kwargs = _to_meta((args, kwargs))
        fake = op(*fake_args, **fake_kwargs)
    _same_metadata(op, real, fake, "results")


def _gradients(op, args, kwargs):
    results = _tensors(op(*args, **kwargs))
    roots = [t for t in results if t.requires_grad]
    leaves = [t for t in _tensors((args, kwargs)) if t.requires_grad]
    if not roots or not leaves:
        return results, []
    grads = vivace.autograd.grad(roots, leaves, [vivace.ones_like(t) for t in roots], allow_unused=True)
    return results, list(grads)


def _check_joint(op, args, kwargs, close):
    """That forward and backward give the same values again, and gradients of the same shapes on the meta device."""
    first, first_grads = _gradients(op, *_copy((args, kwargs)))
    second, second_grads = _gradients(op, *_copy((args, kwargs)))
    _, fake_grads = _gradients(op, *_to_meta((args, kwargs)))
    for once, again in zip((*first, *_tensors(first_grads)), (*second, *_tensors(second_grads)), strict=True):
        close(once, again)
    _same_metadata(op, first_grads, fake_grads, "gradients")


_CHECKS = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_autograd_registration,
    "test_faketensor": _check_fake,
    "test_aot_dispatch_dynamic": _check_joint,
}


def opcheck(op, args, kwargs=None, *, test_utils=tuple(_CHECKS), raise_exception=True, atol=None, rtol=None):
    """Checks an operator's registrations on sample arguments; a dict of check -> "SUCCESS" or the exception."""
    op = getattr(op, "_opoverload", op)
    if not hasattr(op, "_schema"):
        op = op.default
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    unknown = set(names) - set(_CHECKS)
    if unknown:
        raise ValueError(f"Expected test_utils to be a subset of {sorted(_CHECKS)}, got {sorted(unknown)}")
    close = functools.partial(testing.assert_close, atol=atol, rtol=rtol, equal_nan=True)
    results = {}
    for name in names:
        try:
            _CHECKS[name](op, tuple(args), kwargs or {}, close)
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck({op}, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
    return results
