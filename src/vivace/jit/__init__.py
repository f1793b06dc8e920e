"""torch.jit: script and trace give back what they were given, which runs eagerly."""

import builtins
from typing import Final as Final

from vivace._eager import tell_once, unchanged
from vivace._lazy import refusing
from vivace.nn import Module

__all__ = ["ScriptModule", "export", "ignore", "is_scripting", "is_tracing", "script", "trace", "unused"]


class ScriptModule(Module):
    """A module, as programs write them for TorchScript. What `script` gives back is none: it was not compiled."""


export = ignore = interface = unused = script_method = unchanged
script_if_tracing = _script_if_tracing = _overload = _overload_method = unchanged


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, module or class itself."""
    tell_once("jit.script")
    return unchanged(obj)


def trace(func, example_inputs=None, *args, **kwargs):
    """The function or module itself."""
    tell_once("jit.trace")
    return func


def trace_module(mod, inputs, *args, **kwargs):
    """The module itself."""
    tell_once("jit.trace_module")
    return mod


def freeze(mod, *args, **kwargs):
    """The module itself."""
    return mod


def optimize_for_inference(mod, other_methods=None):
    """The module itself."""
    return mod


def is_scripting():
    return False


def is_tracing():
    return False


def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type):
    return builtins.isinstance(obj, target_type)


__getattr__ = refusing(
    __name__, "vivace has no TorchScript: programs for it can be neither saved, loaded nor looked into"
)
