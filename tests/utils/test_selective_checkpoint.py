"""Checkpoints that keep the results of some operators."""

from functools import partial

import pytest

import vivace as torch
from vivace.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

AT = torch.ops.aten
_W = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def run(policy, function, x, **options):
    contexts = partial(create_selective_checkpoint_contexts, policy, **options)
    return checkpoint(function, x, use_reentrant=False, context_fn=contexts)


@pytest.fixture
def x():
    return torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)


def f(x):
    return (x @ _W).sin().exp() @ _W


class _Counted(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **kwargs or {})


def test_what_is_kept_is_not_computed_again(x):
    (plain,) = torch.autograd.grad(f(x).sum(), x)
    y = run([AT.sin.default, AT.exp.default], f, x)
    with _Counted() as counted:
        y.sum().backward()
    assert torch.equal(x.grad, plain)
    assert not {"aten.sin.default", "aten.exp.default"} & set(counted.names) and "aten.mm.default" in counted.names


def test_policy_is_asked_once_for_each_call(x):
    asked = []

    def policy(context, op, *args, **kwargs):
        asked.append((op, context.is_recompute))
        return CheckpointPolicy.MUST_SAVE if op is AT.mm.default else CheckpointPolicy.PREFER_RECOMPUTE

    (plain,) = torch.autograd.grad(f(x).sum(), x)
    run(policy, f, x).sum().backward()
    assert torch.equal(x.grad, plain)
    assert asked == [(op, False) for op in (AT.mm.default, AT.sin.default, AT.exp.default, AT.mm.default)]


def test_what_was_kept_may_be_changed_only_by_permission(x):
    def changes(x):
        return x.sin().mul_(2).exp()

    keep = [AT.sin.default]
    with pytest.raises(RuntimeError, match="has been mutated"):
        run(keep, changes, x).sum().backward()
    run(keep, changes, x, allow_cache_entry_mutation=True).sum().backward()


def test_backward_twice(x):
    y = run([AT.exp.default], f, x).sum()
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="not found in storage"):
        y.backward()


def test_arguments():
    with pytest.raises(ValueError, match="OpOverload"):
        create_selective_checkpoint_contexts([AT.mm])
    with pytest.raises(TypeError, match="either a function or a list"):
        create_selective_checkpoint_contexts(3)
