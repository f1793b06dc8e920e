"""Weights divided by their largest singular value, which a power iteration follows: a hook before each call."""

import vivace
from vivace.nn.functional import normalize

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


def output_dim(module):
    """The dim of the module's weight that counts outputs."""
    transposed = (vivace.nn.ConvTranspose1d, vivace.nn.ConvTranspose2d, vivace.nn.ConvTranspose3d)
    return 1 if isinstance(module, transposed) else 0


class SpectralNorm:
    """The hook: `name` of the module is its parameter name_orig over its largest singular value. The buffers name_u and
    name_v hold the vectors of the iteration, which goes on while the module trains."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        """Dim `dim` as rows."""
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with vivace.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(vivace.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(vivace.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # backward may come after the next call
        return weight / vivace.dot(u, vivace.mv(matrix, v))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Replaces the parameter; gives the hook."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        self = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with vivace.no_grad():
            height, width = self.reshape_weight_to_matrix(weight).size()
            u = normalize(weight.new_empty(height).normal_(0, 1), dim=0, eps=eps)
            v = normalize(weight.new_empty(width).normal_(0, 1), dim=0, eps=eps)
        del module._parameters[name]
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(self)
        return self

    def remove(self, module):
        """Puts the parameter back."""
        with vivace.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, vivace.nn.Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Lets the largest singular value of a parameter of the module be 1."""
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Takes back spectral_norm; the parameter keeps its value."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
