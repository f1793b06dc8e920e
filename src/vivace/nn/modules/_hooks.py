"""Hooks of modules: registration, and the call of a module that has some.

Dicts of hooks are made when first read, and reading one that forward consults switches its module to the slow call.
"""

from collections import OrderedDict

from ...utils.hooks import BackwardHook, RemovableHandle

_global_forward_hooks = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()
_global_forward_hooks_with_kwargs = OrderedDict()
_global_forward_pre_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_backward_pre_hooks = OrderedDict()
_global_is_full_backward_hook = None
_global_buffer_registration_hooks = OrderedDict()
_global_module_registration_hooks = OrderedDict()
_global_parameter_registration_hooks = OrderedDict()


class OnFirstUse:
    """A class attribute that gives each instance its own `factory()` when first read."""

    def __init__(self, factory=OrderedDict, marks_hooked=False):
        self.factory = factory
        self.marks_hooked = marks_hooked

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, module, owner=None):
        if module is None:
            return self
        value = self.factory()
        object.__setattr__(module, self.name, value)
        if self.marks_hooked:
            object.__setattr__(module, "_hooked", True)
        return value


def _register(hooks, hook, flags=(), prepend=False):
    """Adds a hook to an ordered dict and its handle's id to each dict of flags."""
    handle = RemovableHandle(hooks, extra_dict=list(flags) or None)
    hooks[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class ModuleHooks:
    """The part of Module that knows of hooks."""

    # True where a call has more to do than `forward`: on an instance with hooks, or on the class for global ones.
    _hooked = False

    _forward_hooks = OnFirstUse(marks_hooked=True)
    _forward_pre_hooks = OnFirstUse(marks_hooked=True)
    _backward_hooks = OnFirstUse(marks_hooked=True)
    _backward_pre_hooks = OnFirstUse(marks_hooked=True)
    _forward_hooks_with_kwargs = OnFirstUse()
    _forward_hooks_always_called = OnFirstUse()
    _forward_pre_hooks_with_kwargs = OnFirstUse()
    _state_dict_hooks = OnFirstUse()
    _state_dict_pre_hooks = OnFirstUse()
    _load_state_dict_pre_hooks = OnFirstUse()
    _load_state_dict_post_hooks = OnFirstUse()
    _is_full_backward_hook = None

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """`hook(module, args[, kwargs])` runs before forward and may return other arguments."""
        hooks = self._forward_pre_hooks
        return _register(hooks, hook, [self._forward_pre_hooks_with_kwargs] if with_kwargs else (), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """`hook(module, args[, kwargs], output)` runs after forward and may return another output."""
        flags = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            flags.append(self._forward_hooks_always_called)
        return _register(self._forward_hooks, hook, flags, prepend)

    def register_backward_hook(self, hook):
        """The old form of `register_full_backward_hook`: it sees the gradients of the last operator only."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please "
                "use only one of them."
            )
        self._is_full_backward_hook = False
        return _register(self._backward_hooks, hook)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """`hook(module, grad_output)` runs before the gradients of the inputs exist and may replace grad_output."""
        return _register(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """`hook(module, grad_input, grad_output)` runs when the inputs' gradients are known and may replace them."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please "
                "use only one of them."
            )
        self._is_full_backward_hook = True
        return _register(self._backward_hooks, hook, prepend=prepend)

    def register_state_dict_pre_hook(self, hook):
        """`hook(module, prefix, keep_vars)` runs before state_dict() collects."""
        return _register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """`hook(module, state_dict, prefix, local_metadata)` runs after state_dict() and may change the dict."""
        hook._from_public_api = True
        return _register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was registered publicly"
            )
        return _register(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        from functools import partial

        return _register(self._load_state_dict_pre_hooks, partial(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook):
        """`hook(module, incompatible_keys)` may change the two lists of keys in place."""
        return _register(self._load_state_dict_post_hooks, hook)

    # ---- the call of a module that has hooks

    def _call_impl(self, *args, **kwargs):
        called = set()
        try:
            return self._call_with_hooks(args, kwargs, called)
        except Exception:
            self._call_remaining_hooks(args, kwargs, called)
            raise

    def _call_with_hooks(self, args, kwargs, called):
        args, kwargs = self._run_pre_hooks(args, kwargs)
        full, regular = _backward_hooks_of(self)
        pre = [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        backward = BackwardHook(self, full, pre) if full or pre else None
        if backward is not None:
            args = backward.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        for key, hook, with_kwargs, _ in self._forward_hook_rows():
            called.add(key)
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        if backward is not None:
            result = _outputs_through(backward, result)
        if regular:
            _attach_regular_hooks(self, regular, args, result)
        return result

    def _run_pre_hooks(self, args, kwargs):
        rows = [(hook, False) for hook in _global_forward_pre_hooks.values()]
        with_kwargs = self._forward_pre_hooks_with_kwargs
        rows += [(hook, key in with_kwargs) for key, hook in self._forward_pre_hooks.items()]
        for hook, takes_kwargs in rows:
            if takes_kwargs:
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _forward_hook_rows(self):
        """(key, hook, takes kwargs, runs after an exception too), global ones first."""
        for key, hook in list(_global_forward_hooks.items()):
            yield key, hook, key in _global_forward_hooks_with_kwargs, key in _global_forward_hooks_always_called
        for key, hook in list(self._forward_hooks.items()):
            yield key, hook, key in self._forward_hooks_with_kwargs, key in self._forward_hooks_always_called

    def _call_remaining_hooks(self, args, kwargs, called):
        """After an exception: the hooks registered with always_call that have not run; what they raise is a warning."""
        for key, hook, with_kwargs, always in self._forward_hook_rows():
            if not always or key in called:
                continue
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                import warnings

                warnings.warn(
                    f"module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=2,
                )


HOOK_DICTS = tuple(name for name, value in vars(ModuleHooks).items() if isinstance(value, OnFirstUse))


def _backward_hooks_of(module):
    """The full and the regular backward hooks that a call of the module must attach."""
    own = list(module._backward_hooks.values())
    everywhere = list(_global_backward_hooks.values())
    full = everywhere if _global_is_full_backward_hook is True else []
    regular = everywhere if _global_is_full_backward_hook is False else []
    if module._is_full_backward_hook is True:
        return full + own, regular
    return full, regular + own


def _outputs_through(backward, result):
    from vivace import Tensor

    if not isinstance(result, (Tensor, tuple)):
        import warnings

        warnings.warn(
            "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
            f"but received {type(result)}",
            stacklevel=4,
        )
    return backward.setup_output_hook(result)


def _attach_regular_hooks(module, hooks, args, result):
    from vivace import Tensor

    output = result
    while not isinstance(output, Tensor):
        output = (
            next((v for v in output.values() if isinstance(v, Tensor)), None) if isinstance(output, dict) else output[0]
        )
    node = output.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda grad_inputs, grad_outputs, hook=hook: hook(module, grad_inputs, grad_outputs))


# ---- hooks for all modules


def _on_every_module(hooks, hook, flags=()):
    ModuleHooks._hooked = True
    return _register(hooks, hook, flags)


def register_module_forward_pre_hook(hook):
    """A forward pre-hook of every module."""
    return _on_every_module(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """A forward hook of every module."""
    flags = [_global_forward_hooks_with_kwargs] if with_kwargs else []
    if always_call:
        flags.append(_global_forward_hooks_always_called)
    return _on_every_module(_global_forward_hooks, hook, flags)


def _register_global_backward_hook(hook, full):
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please "
            "use only one of them."
        )
    _global_is_full_backward_hook = full
    return _on_every_module(_global_backward_hooks, hook)


def register_module_backward_hook(hook):
    """The old form of a backward hook of every module."""
    return _register_global_backward_hook(hook, False)


def register_module_full_backward_hook(hook):
    """A full backward hook of every module."""
    return _register_global_backward_hook(hook, True)


def register_module_full_backward_pre_hook(hook):
    """A full backward pre-hook of every module."""
    return _on_every_module(_global_backward_pre_hooks, hook)


def register_module_buffer_registration_hook(hook):
    """`hook(module, name, buffer)` runs when any module registers a buffer, and may return another."""
    return _register(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """`hook(module, name, submodule)` runs when any module registers a submodule, and may return another."""
    return _register(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """`hook(module, name, parameter)` runs when any module registers a parameter, and may return another."""
    return _register(_global_parameter_registration_hooks, hook)
