"""The public names of PyTorch's namespaces: tests/data/torch_names.json, which tools/gaps.py compares with."""

from __future__ import annotations

import importlib
import inspect
import typing
from types import ModuleType
from typing import Any

from tools.record.common import DATA, write

NAMESPACES = (
    "torch", "torch.Tensor", "torch.Generator", "torch.autograd", "torch.autograd.functional", "torch.autograd.graph",
    "torch.distributions", "torch.fft", "torch.func", "torch.linalg", "torch.multiprocessing", "torch.nn",
    "torch.nn.Module", "torch.nn.attention", "torch.nn.functional", "torch.nn.init", "torch.nn.utils",
    "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.nn.utils.rnn",
    "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.profiler", "torch.random",
    "torch.sparse", "torch.special", "torch.testing", "torch.utils", "torch.utils.checkpoint", "torch.utils.data",
)  # fmt: skip
# Operators of libraries and devices that have other names everywhere else.
OTHER_BACKENDS = ("cudnn_", "fbgemm_", "miopen_", "mkldnn_")
FILE = DATA / "torch_names.json"


def _is_public(place: Any, name: str) -> bool:
    """Whether a name is the namespace's own: not private, no module, nothing that it imports from elsewhere."""
    value = getattr(place, name)
    if name.startswith(("_", *OTHER_BACKENDS)) or isinstance(value, ModuleType) or hasattr(typing, name):
        return False
    listed = getattr(place, "__all__", None)
    if place.__name__ == "torch":  # `__all__` holds what its extension exports for others
        return name[0].islower() and (callable(value) or type(value).__module__ == "torch")
    if listed is not None:
        return name in listed
    home = getattr(value, "__module__", None) or ""
    return inspect.isroutine(value) or inspect.isdatadescriptor(value) or home.startswith(place.__name__)


def main() -> None:
    """Writes the names."""
    found = {}
    for namespace in NAMESPACES:
        parent, _, last = namespace.rpartition(".")
        try:
            place: Any = importlib.import_module(namespace)
        except ModuleNotFoundError:
            place = getattr(importlib.import_module(parent), last)
        found[namespace] = sorted(name for name in dir(place) if _is_public(place, name))
    write(FILE, found)
