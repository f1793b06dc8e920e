"""ModuleTracker: which modules' forward, or backward, is running."""

import warnings
import weakref

import vivace
from vivace import _C
from vivace.autograd.graph import register_multi_grad_hook
from vivace.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

__all__ = ["ModuleTracker"]


def _tracked(values):
    """The tensors among arguments or results whose gradient backward computes."""
    from vivace.utils._pytree import tree_leaves

    return [t for t in tree_leaves(values) if isinstance(t, vivace.Tensor) and t.requires_grad]


class ModuleTracker:
    """A with block in which `parents` holds the full names of the modules that are running, and "Global". In backward a
    module runs from the first gradient of its outputs to the last of its inputs.
    """

    def __init__(self):
        self.parents = {"Global"}
        self._names = weakref.WeakKeyDictionary()
        self._named = weakref.WeakSet()  # those whose children have names
        self._will_reset = False

    @property
    def is_bw(self):
        """Whether a backward runs in this thread."""
        return _C._current_run() != 0

    def _name(self, module):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._named:
            self._named.add(module)
            for child_name, child in module.named_children():
                self._names[child] = f"{name}.{child_name}"
                self._name(child)
        return name

    def _enter(self, name, backward):
        if backward and not self._will_reset:
            self._will_reset = True
            _C._queue_callback(self._reset)  # inputs without gradients leave modules running
        if name in self.parents:
            what = "backward" if backward else "forward"
            warnings.warn(f"The module hierarchy tracking is wrong: {name} is entered twice in {what}", stacklevel=2)
        self.parents.add(name)

    def _leave(self, name, backward):
        if name not in self.parents and not backward:
            raise RuntimeError(f"The module hierarchy tracking is wrong: {name} is left and was never entered")
        self.parents.discard(name)

    def _reset(self):
        self.parents = {"Global"}
        self._will_reset = False

    def _before(self, module, args):
        name = self._name(module)
        self._enter(name, False)
        inputs = _tracked(args)
        if inputs:
            self._hooks.append(register_multi_grad_hook(inputs, lambda grads: self._leave(name, True)))

    def _after(self, module, args, output):
        name = self._name(module)
        self._leave(name, False)
        outputs = _tracked(output)
        if outputs:
            hook = register_multi_grad_hook(outputs, lambda grad: self._enter(name, True), mode="any")
            self._hooks.append(hook)

    def __enter__(self):
        self._hooks = []
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, always_call=True),
        ]
        return self

    def __exit__(self, *exception):
        for handle in (*self._handles, *self._hooks):
            handle.remove()
        self._hooks = []
        self._reset()
