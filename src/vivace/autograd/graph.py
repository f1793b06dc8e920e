"""torch.autograd.graph: the graph's nodes and edges, and hooks on what it saves."""

import abc
import contextlib
import threading
import weakref
from typing import NamedTuple

import vivace
from vivace import _C
from vivace.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(abc.ABC):
    """What all `grad_fn` objects, and the ends of the graph at its leaves, are instances of."""

    @abc.abstractmethod
    def name(self):
        """The node's kind, such as 'AddBackward0'."""

    @property
    @abc.abstractmethod
    def next_functions(self):
        """((node, output number), ...): where the gradients of the inputs go."""

    @abc.abstractmethod
    def register_hook(self, fn):
        """Calls `fn(grad_inputs, grad_outputs)` when the node has run; what that returns replaces grad_inputs."""

    @abc.abstractmethod
    def register_prehook(self, fn):
        """Calls `fn(grad_outputs)` before the node runs; what that returns replaces grad_outputs."""


Node.register(_C._Node)
Node.register(_C._AccumulateGrad)


class GradientEdge(NamedTuple):
    """The place in the graph where the gradient of a tensor arrives; stands for the tensor in grad and backward."""

    node: Node
    output_nr: int
    ownership_token: object = None


def get_gradient_edge(tensor):
    """The GradientEdge of a tensor, which does not keep the tensor alive."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(_C._gradient_node(tensor), tensor.output_nr)


def increment_version(tensor):
    """Tells autograd that a tensor, or each of several, was changed in a way that it could not see."""
    _C._increment_version(tensor)


class saved_tensors_hooks:
    """A context in which each tensor that is saved for backward becomes `pack_hook(tensor)`, until backward needs it
    and calls `unpack_hook` on that.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc):
        _C._pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """A context in which saved tensors are kept on the CPU, which is where all of vivace's are: as copies."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda tensor: tensor.clone(), lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """In this context setting saved-tensor hooks raises a RuntimeError with the message."""
    before = _C._disable_saved_hooks(error_message)
    try:
        yield
    finally:
        _C._disable_saved_hooks(before)


# ---- hooks on several gradients at once


class _MultiHandle(RemovableHandle):
    """Removes the hooks of all tensors."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __getstate__(self):
        return self.handles

    def __setstate__(self, state):
        self.handles = state


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls `fn` in each backward: with all gradients of `tensors` when the last is there, None for those that the
    backward does not reach; or, with mode="any", with the first of them.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    for i, tensor in enumerate(tensors):
        if not tensor.requires_grad:
            raise AssertionError(f"register_multi_grad_hook: tensor {i} does not require grad")
    register = _register_all if mode == "all" else _register_any
    return _MultiHandle(register(tensors, fn))


def _register_all(tensors, fn):
    lock = threading.Lock()
    arrived = {}  # by run: how many gradients to expect, and those that are there
    edges = [get_gradient_edge(t) for t in tensors]
    leaves = [edge.node.variable if isinstance(edge.node, _C._AccumulateGrad) else None for edge in edges]

    def hook_of(index):
        def hook(grad):
            run = _C._current_run()
            with lock:
                if run not in arrived:
                    targets = [e if leaf is None else leaf for e, leaf in zip(edges, leaves, strict=True)]
                    arrived[run] = [sum(map(_C._will_compute, targets)), [None] * len(tensors)]
                entry = arrived[run]
                entry[0] -= 1
                entry[1][index] = grad
                complete = entry[0] == 0
                if complete:
                    del arrived[run]
            if complete:
                fn(entry[1])

        return hook

    return [t.register_hook(hook_of(i)) for i, t in enumerate(tensors)]


def _register_any(tensors, fn):
    lock = threading.Lock()
    last = [0]  # the run that has called fn

    def hook(grad):
        run = _C._current_run()
        with lock:
            called, last[0] = last[0] == run, run
        if not called:
            fn(grad)

    return [t.register_hook(hook) for t in tensors]


# ---- saved tensors that may be changed


class _Kept:
    """What a saved tensor became: the tensor while nobody has changed it, then a copy of what it was."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.version = tensor._version


class _MutationContext:
    """Knows the saved tensors of an `allow_mutation_on_saved_tensors` block, by their storage."""

    def __init__(self):
        self.kept = {}  # storage key -> weak references to _Kept

    def clear(self):
        self.kept.clear()

    def pack(self, tensor):
        kept = _Kept(tensor.detach())
        self.kept.setdefault(tensor.untyped_storage()._cdata, []).append(weakref.ref(kept))
        return kept

    def unpack(self, kept):
        if kept.tensor._version != kept.version:
            raise AssertionError(
                "a saved tensor was changed in place where allow_mutation_on_saved_tensors could not see it"
            )
        return kept.tensor

    def before_write(self, tensor):
        """Copies what is saved of the tensor's memory."""
        for reference in self.kept.pop(tensor.untyped_storage()._cdata, ()):
            kept = reference()
            if kept is not None:
                kept.tensor = kept.tensor.clone()
                kept.version = kept.tensor._version


_allows_mutation = False


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """A context in which saved tensors may be changed in place: backward uses what they were, by copies that are made
    when a write is about to happen.
    """
    from vivace.overrides import TorchFunctionMode

    global _allows_mutation
    if _allows_mutation:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _MutationContext()

    class CopyBeforeWrite(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            name = getattr(func, "__name__", "")
            in_place = (name.endswith("_") and not name.endswith("__")) or name.startswith(("__i", "__setitem__"))
            out = kwargs.get("out")
            written = [*out] if isinstance(out, (tuple, list)) else [out]
            for tensor in [*args[:1], *written] if in_place else written:
                if isinstance(tensor, vivace.Tensor):
                    context.before_write(tensor)
            return func(*args, **kwargs)

    with saved_tensors_hooks(context.pack, context.unpack), CopyBeforeWrite():
        _allows_mutation = True
        try:
            yield context
        finally:
            _allows_mutation = False
            context.clear()
