"""torch.utils.checkpoint: activations are not kept for backward but computed again.

The variant without re-entry packs what is saved into holders, by saved-tensor hooks; the first holder that backward
unpacks runs the function again. The re-entrant variant is a Function whose backward calls backward.
"""

import contextlib
import warnings
import weakref

import vivace
from vivace import _C
from vivace.autograd.function import Function
from vivace.autograd.graph import saved_tensors_hooks
from vivace.utils._pytree import tree_map as tree_map
from vivace.utils._selective_checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_early_stop = None  # what set_checkpoint_early_stop says; None: each call's own argument
_debug = None


class CheckpointError(RuntimeError):
    """The function did something else the second time."""


class _Complete(BaseException):
    """All that is needed has been computed again."""


class DefaultDeviceType:
    """The accelerator whose random state is kept, by name; there is none here."""

    _default = "cuda"

    @staticmethod
    def set_device_type(device="cuda"):
        DefaultDeviceType._default = device

    @staticmethod
    def get_device_type():
        return DefaultDeviceType._default


def noop_context_fn():
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def get_device_states(*args):
    """The accelerators of the tensors, and their random states: none."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Sets the random states of accelerators: there are none."""


def detach_variable(inputs):
    """The inputs, each tensor cut off from its history but with its requires_grad."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, vivace.Tensor) else x for x in inputs)


def check_backward_validity(inputs):
    """Warns if no input requires grad."""
    if not any(isinstance(x, vivace.Tensor) and x.requires_grad for x in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """In this context recomputation stops, or does not, at the last tensor that is needed, whatever calls say."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Stands for the `debug` argument of calls in this context."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


class _Surroundings:
    """Autocast and the state of the default generator when it was made, for the second computation."""

    def __init__(self, preserve):
        self.state = vivace.get_rng_state() if preserve else None
        enabled, dtype, cache = _C._get_autocast()
        self.autocast = {"dtype": dtype, "enabled": enabled, "cache_enabled": cache}

    @contextlib.contextmanager
    def again(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(vivace.autocast("cpu", **self.autocast))
            if self.state is not None:
                stack.enter_context(vivace.random.fork_rng())
                vivace.set_rng_state(self.state)
            yield


# ---- without re-entry


class _Inputs(Function):
    """Saves the tensors among the arguments, so that hooks of an enclosing checkpoint see them."""

    @staticmethod
    def forward(ctx, dummy, *tensors):
        ctx.save_for_backward(*tensors)
        return dummy.detach()

    @staticmethod
    def backward(ctx, *grads):
        raise AssertionError("this node is not part of any result")


class _Holder:
    """Stands for one saved tensor."""

    def __init__(self, frame, index):
        self.frame = frame
        self.index = index
        self.run = None  # in which it was computed again
        self.tensor = None


def _metadata(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


class _Frame:
    """One call of checkpoint."""

    def __init__(self, function, args, kwargs, preserve, contexts, determinism_check, early_stop):
        self.function = function
        self.forward_context, self.recompute_context = contexts
        self.compares = determinism_check != "none"
        self.early_stop = early_stop
        self.surroundings = _Surroundings(preserve)
        tensors = [a for a in args if isinstance(a, vivace.Tensor)]
        self.args = [None if isinstance(a, vivace.Tensor) else a for a in args]
        self.places = [i for i, a in enumerate(args) if isinstance(a, vivace.Tensor)]
        self.kwargs = kwargs
        dummy = vivace.empty(0, requires_grad=True)
        self.inputs = _Inputs.apply(dummy, *tensors).grad_fn
        self.holders = []  # weak references
        self.complete = False  # while the function still runs, a backward in it needs only what was saved so far
        self.metadata = []

    def run(self, args):
        with saved_tensors_hooks(self.pack, self.unpack), self.forward_context:
            results = self.function(*args, **self.kwargs)
        self.complete = True
        return results

    def pack(self, tensor):
        holder = _Holder(self, len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.metadata.append(_metadata(tensor))
        return holder

    def unpack(self, holder):
        run = _C._current_run() or object()
        if holder.tensor is None or holder.run != run:
            self.recompute(run)
        if holder.tensor is None:
            raise CheckpointError(
                "torch.utils.checkpoint: the recomputation ended before it reached a tensor that backward needs"
            )
        tensor, holder.tensor = holder.tensor, None  # what was used once is not kept
        return tensor

    def recompute(self, run):
        count = 0

        def pack(tensor):
            nonlocal count
            index, count = count, count + 1
            tensor = tensor.detach()  # the graph of the recomputation is needed by backwards inside the function only
            if index < len(self.holders):
                self.check(index, tensor)
                holder = self.holders[index]()
                if holder is not None:
                    holder.run, holder.tensor = run, tensor
            if self.early_stop and count == len(self.holders):
                raise _Complete
            return tensor

        args = list(self.args)
        for place, tensor in zip(self.places, self.inputs.saved_tensors, strict=True):
            args[place] = tensor
        hooks = saved_tensors_hooks(pack, lambda tensor: tensor)
        try:
            with self.surroundings.again(), vivace.enable_grad(), hooks, self.recompute_context:
                self.function(*args, **self.kwargs)
        except _Complete:
            return
        if self.complete and count != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\n"
                f"Number of tensors saved during recomputation: {count}."
            )

    def check(self, index, tensor):
        again = _metadata(tensor)
        if self.compares and again != self.metadata[index]:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\ntensor at position {index}:\nsaved metadata: {self.metadata[index]}\n"
                f"recomputed metadata: {again}"
            )


# ---- with re-entry


class CheckpointFunction(Function):
    """Runs a function without recording; backward runs it again, recording, and goes back through that."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state)
        ctx.args = [None if isinstance(a, vivace.Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, vivace.Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if _C._run_is_selective():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        args = list(ctx.args)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor
        args = detach_variable(tuple(args))
        with ctx.surroundings.again(), vivace.enable_grad():
            outputs = ctx.run_function(*args)
        outputs = (outputs,) if isinstance(outputs, vivace.Tensor) else outputs
        pairs = [
            (o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, vivace.Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        vivace.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return None, None, *(a.grad if isinstance(a, vivace.Tensor) else None for a in args)


# ---- the functions


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """`function(*args, **kwargs)`, whose backward computes it again instead of keeping what it needs."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended; the default is True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    if not vivace.is_grad_enabled():
        with context_fn()[0]:
            return function(*args, **kwargs)
    stop = early_stop if _early_stop is None else _early_stop
    return _Frame(function, args, kwargs, preserve, context_fn(), determinism_check, stop).run(args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Modules in a row, in `segments` parts, of which all but the last are checkpointed."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended; the default is True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children() if isinstance(functions, vivace.nn.Sequential) else functions)

    def run(start, end):
        def forward(value):
            for function in functions[start:end]:
                value = function(value)
            return value

        return forward

    size = len(functions) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end, len(functions))(input)
