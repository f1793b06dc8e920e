"""vivace: an eager tensor library with PyTorch's API.

This is the namespace that a program sees as `torch`. Types and operators come from the extension module `_C`;
submodules, and what few programs use, load when they are first asked for.
"""

import math as _math
import os as _os
import sys as _sys

from vivace import _C
from vivace._lazy import add_late_names, add_lazy_modules, lazy_function
from vivace.torch_version import TorchVersion as _TorchVersion
from vivace.version import __version__ as _version

_C._set_package_folder(_os.path.dirname(__file__))

# Everything public in the extension belongs here, but for what has its place in a submodule.
globals().update(
    {
        k: v
        for k, v in vars(_C).items()
        if k[0] != "_" and k not in {"Parameter", "install", "overridable", "run_backward"}
    }
)
_C.install(globals(), "torch")

from vivace import _autocast, _checks, _foreach, _legacy, _sym, _tensor, functional  # noqa: E402
from vivace._autocast import (  # noqa: E402
    autocast,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from vivace._errors import AcceleratorError, OutOfMemoryError  # noqa: E402
from vivace._settings import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    compiled_with_cxx11_abi,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    is_storage,
    is_warn_always_enabled,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_warn_always,
    typename,
    use_deterministic_algorithms,
)
from vivace.random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state  # noqa: E402
from vivace.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage  # noqa: E402

__version__ = _TorchVersion(_version)
e = _math.e
pi = _math.pi
inf = _math.inf
nan = _math.nan
newaxis = None
torch = _sys.modules[__name__]  # as in PyTorch, whose module imports itself


def _first_repr(tensor, **kwargs):
    from vivace._tensor_str import _repr

    _C._set_repr(_repr)
    return _repr(tensor, **kwargs)


_C._set_repr(_first_repr)
_tensor.install()
globals().update(_legacy.typed_classes() | LEGACY_CLASSES | _autocast.old_names() | _foreach.functions())
globals().update({name: getattr(module, name) for module in (_checks, _sym) for name in module.__all__})
globals().update({k: v for k, v in vars(functional).items() if getattr(v, "__module__", "") == functional.__name__})


def is_anomaly_enabled():
    """Whether anomaly mode of autograd is on."""
    return _C._get_anomaly()[0]


def set_anomaly_enabled(mode, check_nan=True):
    """Switches anomaly mode of autograd, and whether it looks for NaN."""
    _C._set_anomaly(mode, check_nan)


def is_anomaly_check_nan_enabled():
    """Whether anomaly mode, where it is on, looks for NaN."""
    return _C._get_anomaly()[1]


# Functions that bring modules of their own with them.
GradScaler = lazy_function("vivace.amp.grad_scaler", "GradScaler")
compile = lazy_function("vivace._eager", "compile")
for _name in ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "istft", "kaiser_window", "stft"):
    globals()[_name] = lazy_function("vivace._spectral", _name)
histogramdd = lazy_function("vivace._histogramdd", "histogramdd")
get_device_module = lazy_function("vivace._backend", "get_device_module")
_register_device_module = lazy_function("vivace._backend", "register_device_module")
load = lazy_function("vivace.serialization", "load")
save = lazy_function("vivace.serialization", "save")
svd_lowrank = lazy_function("vivace._lowrank", "svd_lowrank")
pca_lowrank = lazy_function("vivace._lowrank", "pca_lowrank")
segment_reduce = _segment_reduce = lazy_function("vivace._segments", "segment_reduce")
sparse_coo_tensor = lazy_function("vivace.sparse", "sparse_coo_tensor")
spmm = lazy_function("vivace.sparse", "mm", public_name="spmm")
vmap = lazy_function("vivace.func", "vmap")
set_printoptions = lazy_function("vivace._tensor_str", "set_printoptions")

# Layers that PyTorch's namespace repeats.
for _name in [
    "adaptive_avg_pool1d",
    "alpha_dropout",
    "avg_pool1d",
    "bilinear",
    "celu",
    "celu_",
    "channel_shuffle",
    "cosine_similarity",
    "feature_alpha_dropout",
    "hardshrink",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "rrelu",
    "selu",
    "selu_",
    "threshold",
    "threshold_",
]:
    globals().setdefault(_name, lazy_function("vivace.nn.functional", _name))

# And those that it has in another signature.
for _name in (
    "adaptive_max_pool1d", "affine_grid_generator", "alpha_dropout_", "binary_cross_entropy_with_logits",
    "conv_tbc", "convolution", "cosine_embedding_loss", "dropout_", "embedding", "embedding_renorm_",
    "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "frobenius_norm", "hinge_embedding_loss",
    "instance_norm", "kl_div", "margin_ranking_loss", "max_pool1d_with_indices", "native_channel_shuffle",
    "native_dropout", "norm_except_dim", "nuclear_norm", "poisson_nll_loss", "rrelu_", "triplet_margin_loss",
):  # fmt: skip
    globals().setdefault(_name, lazy_function("vivace._aten", _name))

# Methods that PyTorch's namespace repeats.
for _name in [
    *(
        "addmv_",
        "clamp_",
        "clamp_max_",
        "clamp_min_",
        "clip_",
        "detach_",
        "gcd_",
        "get_device",
        "index_put_",
        "is_conj",
    ),
    *("is_distributed", "is_neg", "is_same_size", "lcm_", "ldexp_", "xlogy_"),
]:
    globals().setdefault(_name, getattr(Tensor, _name))  # noqa: F821  one of the extension's types

add_lazy_modules(__name__, _os.path.dirname(__file__))
add_late_names(_C)
del LEGACY_CLASSES, add_late_names, add_lazy_modules, lazy_function
