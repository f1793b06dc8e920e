"""Checkpoints that keep the results of some operators: `create_selective_checkpoint_contexts` makes the two contexts, a
mode that keeps what the policy names while the function runs, and one that hands it out, call by call of each operator,
while it runs again.
"""

import collections
import enum

import vivace
from vivace.utils._python_dispatch import TorchDispatchMode
from vivace.utils._pytree import tree_map


class CheckpointPolicy(enum.Enum):
    """What a policy says of an operator's result; MUST is for users, PREFER may be overruled by a compiler."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    """What a policy is told: whether the function runs for the second time. It is asked in the first run only."""

    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


class _Kept:
    """A result's tensor, and the version that it had."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()
        self.version = tensor._version

    def value(self, may_change):
        if self.tensor._version != self.version and not may_change:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.tensor.detach()


class _ComputedAgain:
    """Stands for a result that was not kept."""


def _saves(policy, context, func, args, kwargs):
    verdict = policy(context, func, *args, **kwargs)
    if isinstance(verdict, bool):
        return verdict
    return verdict in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


def _is_left_alone(func):
    """Views of what is there anyway."""
    return func is vivace.ops.aten.detach.default


class _Keeping(TorchDispatchMode):
    def __init__(self, policy, results):
        super().__init__()
        self.policy, self.results = policy, results

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if _is_left_alone(func):
            return out
        context = SelectiveCheckpointContext(is_recompute=False)
        if _saves(self.policy, context, func, args, kwargs):
            kept = tree_map(lambda x: _Kept(x) if isinstance(x, vivace.Tensor) else x, out)
        else:
            kept = _ComputedAgain
        self.results[func].append(kept)
        return out


class _HandingOut(TorchDispatchMode):
    def __init__(self, results, may_change):
        super().__init__()
        self.results, self.may_change = results, may_change

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if _is_left_alone(func):
            return func(*args, **kwargs)
        if not self.results[func]:
            raise RuntimeError(
                f"{func} encountered during backward but not found in storage: the recomputation calls it more often, "
                "or backward runs a second time through what was kept"
            )
        kept = self.results[func].popleft()
        if kept is _ComputedAgain:
            return func(*args, **kwargs)
        return tree_map(lambda x: x.value(self.may_change) if isinstance(x, _Kept) else x, kept)


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The two contexts that `context_fn` of checkpoint returns, so that it does not compute again what is kept: the
    results of the operators in a list, or of those for which `policy(context, op, *args, **kwargs)` says so.
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, vivace._ops.OpOverload):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. You can obtain an "
                    "OpOverload from an operator such as torch.ops.aten.mm by its overload's name: "
                    "torch.ops.aten.mm.default."
                )

        def policy(context, op, *args, **kwargs):
            listed = op in policy_fn_or_list
            return CheckpointPolicy.MUST_SAVE if listed else CheckpointPolicy.PREFER_RECOMPUTE
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    results = collections.defaultdict(collections.deque)
    return _Keeping(policy, results), _HandingOut(results, allow_cache_entry_mutation)
