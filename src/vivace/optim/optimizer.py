"""Optimizer: parameter groups, state, saving and loading, hooks; and two ways to write a step.

Native optimizers make one native call a group, from lists that stay valid until parameters or state change. The others,
and these where a parameter's memory can't be read, update one parameter after the other with tensor operators.
"""

from collections import OrderedDict
from operator import is_

import vivace
from vivace import _C

from ..utils._observed import ObservedDict
from ..utils.hooks import RemovableHandle
from ._helpers import *  # noqa: F403  what packages take from here
from ._helpers import _group_tensors_by_device_and_dtype

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

_global_pre_hooks = OrderedDict()
_global_post_hooks = OrderedDict()


class _Counted(ObservedDict):
    """A dict that counts its changes in a cell that several dicts share."""

    __slots__ = ("changes",)

    def __init__(self, changes, items=()):
        self.changes = changes
        self.update(items)

    def _stored(self, key, value):
        self.changes[0] += 1

    def _removed(self, key):
        self.changes[0] += 1


class State(_Counted):
    """What an optimizer keeps of each parameter; asking for a new one makes an empty dict."""

    __slots__ = ()

    def __init__(self, items=()):
        super().__init__([0], items)

    def _stored(self, key, value):
        if type(value) is dict:
            dict.__setitem__(self, key, _Counted(self.changes, value))
        self.changes[0] += 1

    def __missing__(self, parameter):
        self[parameter] = {}
        return dict.__getitem__(self, parameter)


class Optimizer:
    """Base class of all optimizers."""

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)
    _hooked = False  # on the class that `step` of is wrapped to run hooks

    def __init__(self, params, defaults):
        for other in ("foreach", "differentiable"):
            if defaults.get("fused") and defaults.get(other):
                raise RuntimeError(f"`fused` and `{other}` cannot be `True` together.")
        self.defaults = defaults
        self.state = State()
        self.param_groups = []
        self._plans = []
        if isinstance(params, vivace.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + params.type()
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._plans = []
        if type(self.state) is not State:
            self.state = State(self.state)

    def __repr__(self):
        lines = []
        for number, group in enumerate(self.param_groups):
            lines.append(f"\nParameter Group {number}\n")
            lines += [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
        return f"{type(self).__name__} ({''.join(lines)})"

    # ---- groups

    def add_param_group(self, param_group):
        """Adds a group of parameters; options that it does not state are the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, vivace.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = list(params)
        named = [item for item in params if isinstance(item, tuple)]
        if named:
            if len(named) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [name for name, _ in named]
            params = [parameter for _, parameter in named]
        param_group["params"] = params
        for parameter in params:
            if not isinstance(parameter, vivace.Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is " + vivace.typename(parameter)
                )
            if not (
                self.defaults.get("differentiable") or parameter.is_leaf or getattr(parameter, "retains_grad", False)
            ):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is _REQUIRED and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(set(params)) != len(params):
            import warnings

            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error",
                stacklevel=3,
            )
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            verb = "with" if "param_names" in self.param_groups[0] else "without"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group to an "
                f"optimizer {verb} names"
            )
        seen = {parameter for group in self.param_groups for parameter in group["params"]}
        if not seen.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        """Drops, or sets to zero, the gradients of all parameters."""
        for group in self.param_groups:
            if set_to_none:
                for parameter in group["params"]:
                    parameter.grad = None
                continue
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad = parameter.grad.detach().zero_()

    # ---- the step

    def step(self, closure=None):
        """Updates the parameters from their gradients; `closure` computes the loss anew and is called first."""
        raise NotImplementedError

    @staticmethod
    def _loss_of(closure):
        if closure is None:
            return None
        with vivace.enable_grad():
            return closure()

    def _plan_of(self, number, group, build, option):
        """The lists for the native call of a group, built again only if what they hold or the option has changed."""
        state = self.state
        if type(state) is not State:
            state = self.state = State(state)
        plans = self._plans
        if number < len(plans):
            plan = plans[number]
            params = group["params"]
            if (
                plan.state is state
                and plan.option == option
                and plan.changes == state.changes[0]
                and len(plan.params) == len(params)
                and all(map(is_, plan.params, params))
                and not (plan.waiting and any(p.grad is not None for p in plan.waiting))
            ):
                return plan
        else:
            plans += [None] * (number + 1 - len(plans))
        plan = plans[number] = build(group, state, option)
        plan.option, plan.state, plan.changes = option, state, state.changes[0]
        plan.params = list(group["params"])
        plan.native = all(map(vivace._C._has_plain_memory, plan.params))
        return plan

    # ---- hooks

    def register_step_pre_hook(self, hook):
        """`hook(optimizer, args, kwargs)` runs before each step and may return other (args, kwargs)."""
        return self._register("_optimizer_step_pre_hooks", hook, True)

    def register_step_post_hook(self, hook):
        """`hook(optimizer, args, kwargs)` runs after each step."""
        return self._register("_optimizer_step_post_hooks", hook, True)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """`hook(optimizer)` runs before state_dict()."""
        return self._register("_optimizer_state_dict_pre_hooks", hook, False, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """`hook(optimizer, state_dict)` runs after state_dict() and may return another."""
        return self._register("_optimizer_state_dict_post_hooks", hook, False, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """`hook(optimizer, state_dict)` runs before load_state_dict() and may return another dict."""
        return self._register("_optimizer_load_state_dict_pre_hooks", hook, False, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """`hook(optimizer)` runs after load_state_dict()."""
        return self._register("_optimizer_load_state_dict_post_hooks", hook, False, prepend)

    def _register(self, name, hook, of_step, prepend=False):
        if of_step:
            _run_hooks_in_steps()
        hooks = self.__dict__.setdefault(name, OrderedDict())
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def _hooks(self, name):
        return list(self.__dict__.get(name, {}).values())

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if Optimizer._hooked:
            _wrap_step(cls)

    # ---- saving and loading

    def state_dict(self):
        """State and options, with parameters replaced by their numbers."""
        for hook in self._hooks("_optimizer_state_dict_pre_hooks"):
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, vivace.Tensor) else key: dict(value)
            if isinstance(value, dict)
            else value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._hooks("_optimizer_state_dict_post_hooks"):
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict):
        """Takes over what state_dict() gave, on this optimizer's parameters in their order."""
        state_dict = dict(state_dict)
        for hook in self._hooks("_optimizer_load_state_dict_pre_hooks"):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        parameters = {}
        for old, group in zip(saved, self.param_groups, strict=True):
            if len(old["params"]) != len(group["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
            parameters.update(zip(old["params"], group["params"], strict=True))
        state = {}
        for key, value in state_dict["state"].items():
            parameter = parameters.get(key)
            state[key if parameter is None else parameter] = _fitted(value, parameter, None)
        groups = []
        for old, group in zip(saved, self.param_groups, strict=True):
            new = _copied(old)
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
            groups.append(new)
        self.__setstate__({"state": State(state), "param_groups": groups})
        for hook in self._hooks("_optimizer_load_state_dict_post_hooks"):
            hook(self)


class _Required:
    def __repr__(self):
        return "<required parameter>"


_REQUIRED = required = _Required()


def _copied(value):
    if isinstance(value, dict):
        return {k: _copied(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_copied(v) for v in value]
    return value.clone() if isinstance(value, vivace.Tensor) else value


def _fitted(value, parameter, key):
    """A saved value in the dtype and on the device of its parameter; `step` keeps its own dtype."""
    if isinstance(value, vivace.Tensor):
        if parameter is None:
            return value.clone()
        if key == "step" or not parameter.is_floating_point():
            return value.to(device=parameter.device, copy=True) if key != "step" else value.clone()
        return value.to(dtype=parameter.dtype, device=parameter.device, copy=True)
    if isinstance(value, dict):
        return {k: _fitted(v, parameter, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fitted(v, parameter, key) for v in value)
    return value


# ---- hooks of steps, and their time in profiles: `step` is wrapped when the first hook is registered or the first
# profile begins, so that steps without either cost nothing


def _wrap_step(cls):
    inner = cls.__dict__.get("step")
    if inner is None or getattr(inner, "_runs_hooks", False):
        return

    def step(self, *args, **kwargs):
        if type(self).step is not step:  # called by the step of a subclass, which has run the hooks
            return inner(self, *args, **kwargs)
        args = (self, *args)  # hooks see the optimizer among them, too
        for hook in (*_global_pre_hooks.values(), *self._hooks("_optimizer_step_pre_hooks")):
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{hook} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        token = _C._profiler_enter(f"Optimizer.step#{type(self).__name__}.step")
        try:
            result = inner(*args, **kwargs)
        finally:
            _C._profiler_exit(token)
        for hook in (*self._hooks("_optimizer_step_post_hooks"), *_global_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    step.__doc__ = inner.__doc__
    step._runs_hooks = True
    cls.step = step


def _run_hooks_in_steps():
    if Optimizer._hooked:
        return
    Optimizer._hooked = True
    classes = [Optimizer]
    while classes:
        cls = classes.pop()
        classes += cls.__subclasses__()
        _wrap_step(cls)


def _register_global(hooks, hook):
    _run_hooks_in_steps()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def register_optimizer_step_pre_hook(hook):
    """A step pre-hook of every optimizer."""
    return _register_global(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """A step post-hook of every optimizer."""
    return _register_global(_global_post_hooks, hook)


if _C._profiler_active():
    _run_hooks_in_steps()
