"""Weights as length times direction: a hook computes them before each call of the module."""

import warnings

import vivace

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v, dim):
    """The lengths of the slices along a dim, in the shape that broadcasts; dim -1: of the whole."""
    if dim == -1:
        return v.norm()
    dims = [d for d in range(v.dim()) if d != dim % v.dim()]
    return vivace.linalg.vector_norm(v, 2, dims, keepdim=True)


def weight_of(g, v, dim):
    """Length g and direction v put together."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook: `name` of the module is made of its parameters name_g and name_v."""

    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return weight_of(g, v, self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Replaces the parameter; gives the hook."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        self = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(name + "_g", vivace.nn.Parameter(norm_except_dim(weight.detach(), self.dim)))
        module.register_parameter(name + "_v", vivace.nn.Parameter(weight.detach()))
        setattr(module, name, self.compute_weight(module))
        module.register_forward_pre_hook(self)
        return self

    def remove(self, module):
        """Puts the parameter back."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, vivace.nn.Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Lets a parameter of the module be length times direction: a length for each slice along dim, or one (None)."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Takes back weight_norm; the parameter keeps its value."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
