"""torch.ops: operators by library and schema name; see _ops.py."""

from vivace import _ops

loaded_libraries: set[str] = set()


def load_library(path):
    """Refuses: such libraries are compiled against PyTorch's own."""
    raise OSError(f"vivace can't load {path}: it is compiled against PyTorch's C++ libraries")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute {name!r}")
    found = globals()[name] = _ops.namespace(name)
    return found
