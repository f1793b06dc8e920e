"""torch.ops: operators by library and schema name; see _ops.py."""

import ctypes
import os

from vivace import _ops

loaded_libraries: set[str] = set()


def load_library(path):
    """Loads a library of operators that is compiled with vivace's headers; its blocks of TORCH_LIBRARY run."""
    path = os.path.realpath(path)
    try:
        ctypes.CDLL(path)
    except SystemError as error:  # a block left an exception
        raise (error.__cause__ or error) from None
    except OSError as error:
        raise OSError(
            f"Could not load this library: {path} ({error}). One that is compiled against PyTorch has to be built "
            "again, with torch.utils.cpp_extension."
        ) from error
    loaded_libraries.add(path)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute {name!r}")
    found = globals()[name] = _ops.namespace(name)
    return found
