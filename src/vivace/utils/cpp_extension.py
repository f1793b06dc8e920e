"""torch.utils.cpp_extension: extensions in C++, built when a program loads them or by a setup script;
docs/cpp_extensions.md. They include <torch/extension.h> and link to nothing: vivace is reached through a table.
"""

import os
import shutil
import sys

from vivace.utils import _cpp_build
from vivace.utils._cpp_build import check_compiler, get_cxx_compiler, include_paths

__all__ = [
    "BuildExtension",  # noqa: F822  see __getattr__
    "CUDAExtension",
    "CppExtension",  # noqa: F822
    "SyclExtension",
    "check_compiler_ok_for_platform",
    "get_compiler_abi_compatibility_and_version",
    "get_cxx_compiler",
    "get_default_build_root",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]

CUDA_HOME = ROCM_HOME = SYCL_HOME = None
IS_LINUX = sys.platform.startswith("linux")
IS_MACOS = sys.platform.startswith("darwin")
IS_WINDOWS = sys.platform == "win32"
IS_HIP_EXTENSION = False
_NO_CUDA = "vivace has no CUDA, so it can't build extensions with CUDA sources; leave them away, or use CppExtension"


def library_paths(device_type="cpu", torch_include_dirs=True):
    """Folders of libraries that an extension links to: none, since it finds vivace when it is loaded."""
    if device_type != "cpu":
        raise RuntimeError(_NO_CUDA)
    return []


def get_default_build_root():
    """Where `load` builds if no folder is given: TORCH_EXTENSIONS_DIR, or a folder of the user's cache."""
    return str(_cpp_build.build_root())


def check_compiler_ok_for_platform(compiler):
    """Whether there is such a compiler."""
    return shutil.which(compiler) is not None


def get_compiler_abi_compatibility_and_version(compiler):
    """Any compiler fits, since only C crosses the border; its version."""
    return True, check_compiler(compiler)


def is_ninja_available():
    """Whether ninja is there; it is not needed."""
    return shutil.which("ninja") is not None


def verify_ninja_availability():
    """Raises if ninja is not there, which nothing here uses."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")


def _refuse_devices(**given):
    for name, value in given.items():
        if value:
            raise RuntimeError(f"{_NO_CUDA} ({name}={value!r})")


def load(
    name,
    sources,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose=False,
    with_cuda=None,
    with_sycl=None,
    is_python_module=True,
    is_standalone=False,
    keep_intermediates=True,
):
    """Compiles `sources` if they or what they include have changed, and loads the result: a module, or with
    `is_python_module=False` a library whose operators are in torch.ops; then the path is returned.
    """
    _refuse_devices(with_cuda=with_cuda, with_sycl=with_sycl, extra_cuda_cflags=extra_cuda_cflags)
    if is_standalone:
        raise NotImplementedError("vivace's operators are called from Python: it builds no standalone executables")
    paths = [os.fspath(s) for s in ([sources] if isinstance(sources, str | os.PathLike) else sources)]
    _refuse_devices(sources=[p for p in paths if p.endswith((".cu", ".cuh", ".sycl"))])
    library = _cpp_build.build(
        name,
        paths,
        flags=_cpp_build.as_list(extra_cflags),
        link_flags=_cpp_build.as_list(extra_ldflags),
        include=_cpp_build.as_list(extra_include_paths),
        folder=build_directory,
        verbose=verbose,
    )
    if is_python_module:
        return _cpp_build.import_library(name, library)
    from vivace import ops

    ops.load_library(library)
    return library


def load_inline(
    name,
    cpp_sources,
    cuda_sources=None,
    sycl_sources=None,
    functions=None,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose=False,
    with_cuda=None,
    with_sycl=None,
    is_python_module=True,
    with_pytorch_error_handling=True,
    keep_intermediates=True,
    use_pch=False,
    no_implicit_headers=False,
):
    """The same for sources in strings. `functions` names those that become functions of the module; a dict has their
    documentation.
    """
    _refuse_devices(cuda_sources=cuda_sources, sycl_sources=sycl_sources, with_cuda=with_cuda, with_sycl=with_sycl)
    parts = [] if no_implicit_headers else ["#include <torch/extension.h>"]
    parts += [cpp_sources] if isinstance(cpp_sources, str) else cpp_sources
    if functions is not None:
        if isinstance(functions, str):
            functions = [functions]
        docs = functions if isinstance(functions, dict) else {f: f for f in functions}
        parts.append("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
        parts += [f'  m.def("{function}", {function}, {_literal(doc)});' for function, doc in docs.items()]
        parts.append("}")
    source = _cpp_build.write_source(name, build_directory, "\n".join(parts) + "\n")
    return load(
        name,
        [source],
        extra_cflags=extra_cflags,
        extra_cuda_cflags=extra_cuda_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=build_directory,
        verbose=verbose,
        is_python_module=is_python_module,
    )


def _literal(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def CUDAExtension(name, sources, *args, **kwargs):
    """Refuses: there is no CUDA."""
    raise RuntimeError(_NO_CUDA)


SyclExtension = CUDAExtension


def __getattr__(name):
    if name in ("BuildExtension", "CppExtension"):  # they need setuptools
        from vivace.utils import _cpp_setup

        return getattr(_cpp_setup, name)
    raise AttributeError(f"module 'torch.utils.cpp_extension' has no attribute {name!r}")
