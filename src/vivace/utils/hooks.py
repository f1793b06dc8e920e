"""Handles of registered hooks, and the backward hooks of modules.

A module's full backward hook sees the gradients of all inputs and outputs at once. Inputs and outputs therefore pass
through one identity each, whose node's hooks meet in a `BackwardHook` made for that call.
"""

from _weakref import ref
from collections import OrderedDict
from functools import cache
from itertools import count


class RemovableHandle:
    """Removes a hook: by `remove()`, or at the end of a `with` block."""

    _ids = count()

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.id = next(RemovableHandle._ids)
        self.hooks_dict_ref = ref(hooks_dict)
        if extra_dict is None:
            extra_dict = ()
        elif isinstance(extra_dict, dict):
            extra_dict = (extra_dict,)
        self.extra_dict_ref = tuple(ref(d) for d in extra_dict)

    def remove(self):
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref)

    def __setstate__(self, state):
        # A dict that died is replaced by one of our own, so that remove() stays callable.
        hooks, self.id, extra = state
        self.hooks_dict_ref = ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(ref(OrderedDict() if d is None else d) for d in extra)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def _handle_for(hooks, key):
    """The handle of a hook that the extension has put into a tensor's plain dict under a key of its own."""
    handle = RemovableHandle.__new__(RemovableHandle)
    handle.id = key
    handle.hooks_dict_ref = lambda: hooks  # a plain dict takes no weak references
    handle.extra_dict_ref = ()
    return handle


def _retain_grad_hook(tensor):
    """The hook by which a tensor that is no leaf keeps its gradient."""
    reference = ref(tensor)

    def keep(grad):
        kept = reference()
        if kept is not None:
            kept.grad = grad.clone() if kept.grad is None else kept.grad + grad

    return keep


def unserializable_hook(f):
    """Marks a hook that must not be pickled with its tensor."""
    f.__torch_unserializable__ = True
    return f


@cache
def _identity():
    """A Function that gives its arguments back: its node sees all of their gradients together."""
    from vivace.autograd.function import Function

    class BackwardHookFunction(Function):
        @staticmethod
        def forward(ctx, *args):
            ctx.mark_non_differentiable(*(a for a in args if not a.requires_grad))
            return args

        @staticmethod
        def backward(ctx, *grads):
            return grads

    return BackwardHookFunction


class BackwardHook:
    """The full backward hooks of one call of a module."""

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs = None
        self.outputs_index = self.inputs_index = None
        self.n_outputs = self.n_inputs = -1

    def setup_input_hook(self, args):
        args, self.inputs_index, self.n_inputs, node = self._attach(args)
        if node is not None:
            node.register_hook(self._hook_inputs)
        return args

    def setup_output_hook(self, result):
        is_tuple = isinstance(result, tuple)
        outputs, self.outputs_index, self.n_outputs, node = self._attach(result if is_tuple else (result,))
        if node is not None:
            node.register_prehook(self._hook_outputs)
        return outputs if is_tuple else outputs[0]

    def _attach(self, args):
        """The arguments, tensors among them through an identity; which are tensors, how many arguments there are, and
        the identity's node, None without gradients.
        """
        from vivace import Tensor, is_grad_enabled

        index = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        if not is_grad_enabled() or not any(args[i].requires_grad for i in index):
            return args, None, len(args), None
        tensors = _identity().apply(*(args[i] for i in index))
        changed = list(args)
        for i, tensor in zip(index, tensors, strict=True):
            changed[i] = tensor
        if type(args) is not tuple and isinstance(args, tuple):
            changed = type(args)(*changed)  # a named tuple
        node = next(t.grad_fn for t in tensors if t.requires_grad)
        return tuple(changed) if type(args) is tuple else changed, index, len(args), node

    @staticmethod
    def _spread(values, index, size):
        """The gradients, with None where an argument was no tensor that requires grad."""
        if index is None:
            return ()
        full = [None] * size
        for i, value in zip(index, values, strict=True):
            full[i] = value
        return tuple(full)

    def _gather(self, values, index, size, what):
        if len(values) != size:
            raise RuntimeError(f"Backward hook returned {len(values)} {what}, but {size} were expected")
        return tuple(values[i] for i in index)

    def _run(self, grad_inputs):
        """Calls the hooks with the gradients of the inputs; what they return replaces these."""
        replaced = None
        for hook in self.user_hooks:
            given = grad_inputs if replaced is None else replaced
            result = hook(self.module, given, self.grad_outputs)
            if result is not None:
                replaced = result if isinstance(result, tuple) else (result,)
        return replaced

    def _hook_outputs(self, grads):
        self.grad_outputs = self._spread(grads, self.outputs_index, self.n_outputs)
        changed = False
        for hook in self.user_pre_hooks:
            result = hook(self.module, self.grad_outputs)
            if result is not None:
                self.grad_outputs = result if isinstance(result, tuple) else (result,)
                changed = True
        given = self.grad_outputs
        if self.inputs_index is None:  # no input requires grad: this is where the module's backward ends
            if self._run((None,) * self.n_inputs) is not None:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None."
                )
            self.grad_outputs = None
        return self._gather(given, self.outputs_index, self.n_outputs, "grad_output") if changed else None

    def _hook_inputs(self, grads, _):
        if self.grad_outputs is None:
            return None  # the outputs took no part in this backward
        replaced = self._run(self._spread(grads, self.inputs_index, self.n_inputs))
        self.grad_outputs = None
        return None if replaced is None else self._gather(replaced, self.inputs_index, self.n_inputs, "grad_input")
