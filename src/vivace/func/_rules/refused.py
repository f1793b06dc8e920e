"""Operators whose result depends on values in a way that a batch can't follow."""

from vivace.func._rules.table import decomposed


@decomposed("_local_scalar_dense")
def item(self):
    raise RuntimeError(
        "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
        "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere inside "
        "PyTorch internals, please file a bug report."
    )


def refuse_dynamic(name):
    """Raises for an operator whose result has sizes that depend on values."""
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    )


def _dynamic(name):
    @decomposed(name)
    def refuse(*args, **kwargs):
        refuse_dynamic(name)


for _name in ("nonzero", "_unique", "_unique_consecutive", "bincount", "repeat_interleave.Tensor"):
    _dynamic(_name)


@decomposed("equal")
def equal(self, other):
    raise RuntimeError(
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
        "that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
    )
