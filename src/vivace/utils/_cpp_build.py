"""Compiles and loads extensions. An object is built again when its source, a file that it includes, the flags, the
compiler or vivace's headers have changed; files are named by what they are made of, so nothing is loaded that is stale.
"""

import contextlib
import fcntl
import functools
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HEADERS = Path(__file__).resolve().parent.parent / "include"
STANDARD = "-std=c++20"


def as_list(given):
    """None, a string or a list, as a list of strings."""
    return [given] if isinstance(given, str) else [os.fspath(item) for item in given or ()]


def include_paths(device_type="cpu", torch_include_dirs=True):
    """Folders of headers that an extension is compiled with."""
    if device_type != "cpu":
        raise RuntimeError(f"vivace has no {device_type}, and no headers for it")
    return [str(HEADERS)] if torch_include_dirs else []


def get_cxx_compiler():
    """The compiler: the environment's CXX, or c++."""
    return os.environ.get("CXX", "c++")


@functools.cache
def check_compiler(compiler):
    """The first line of what the compiler says of its version; RuntimeError if it can't be run."""
    command = compiler.split()
    if shutil.which(command[0]) is None:
        raise RuntimeError(f"there is no C++ compiler {compiler!r}: install one, or name it in the variable CXX")
    return subprocess.run([*command, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]


def build_root():
    """Where extensions are built: TORCH_EXTENSIONS_DIR, or a folder of the user's cache."""
    given = os.environ.get("TORCH_EXTENSIONS_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(cache) / "vivace_extensions"


def _folder(name, given):
    folder = Path(given) if given else build_root() / sys.implementation.cache_tag / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_source(name, folder, text):
    """A file with the text, named by it."""
    path = _folder(name, folder) / f"{name}_{_digest(text.encode())}.cpp"
    if not path.exists():
        _write(path, text.encode())
    return path


def _write(path, data):
    """All or nothing, since other processes may read it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


def _digest(*parts):
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:20]


def _digest_file(path):
    try:
        return _digest(Path(path).read_bytes())
    except OSError:
        return None


@functools.cache
def _digest_headers():
    return _digest(*(path.read_bytes() for path in sorted(HEADERS.rglob("*.h"))))


@contextlib.contextmanager
def _lock(folder):
    """One process at a time."""
    with open(folder / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command, name, verbose):
    if verbose:
        print(" ".join(command), flush=True)
    result = subprocess.run(command, capture_output=True, text=True)
    if verbose and result.stderr:
        print(result.stderr, file=sys.stderr)
    if result.returncode:
        raise RuntimeError(f"Error building extension '{name}': {' '.join(command)}\n{result.stdout}{result.stderr}")


def _dependencies(text):
    """The files that a compiler's makefile rule names."""
    _, _, names = text.replace("\\\n", " ").partition(": ")
    return [name.replace("\\ ", " ") for name in re.split(r"(?<!\\)\s+", names.strip())]


def _compile(name, source, command, folder, verbose):
    """The object file of one source, compiled if need be."""
    source = os.path.abspath(source)
    if not os.path.isfile(source):
        raise FileNotFoundError(f"extension '{name}': there is no source {source}")
    common = _digest(" ".join(command).encode(), source.encode(), _digest_headers().encode())
    record = folder / f"{Path(source).stem}_{common}.json"
    if record.exists():
        known = json.loads(record.read_text())
        built = folder / known["object"]
        if built.exists() and all(_digest_file(path) == digest for path, digest in known["files"].items()):
            return built
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made, rule = Path(scratch, "made.o"), Path(scratch, "made.d")
        _run([*command, "-MMD", "-MF", str(rule), "-c", source, "-o", str(made)], name, verbose)
        files = {path: _digest_file(path) for path in _dependencies(rule.read_text())}
        built = folder / f"{Path(source).stem}_{common}_{_digest(json.dumps(files).encode())}.o"
        os.replace(made, built)
    _write(record, json.dumps({"object": built.name, "files": files}).encode())
    return built


def build(name, sources, flags=(), link_flags=(), include=(), folder=None, verbose=False):
    """The path of the shared library that is made of the sources."""
    folder = _folder(name, folder)
    compiler = get_cxx_compiler()
    version = check_compiler(compiler)
    standard = [] if any(flag.startswith("-std=") for flag in flags) else [STANDARD]
    headers = [part for path in (*include_paths(), sysconfig.get_path("include")) for part in ("-isystem", path)]
    command = [
        *compiler.split(),
        f"-DTORCH_EXTENSION_NAME={name}",
        *(f"-I{path}" for path in include),
        *headers,
        "-fPIC",
        "-O2",
        *standard,
        *flags,
    ]
    with _lock(folder), ThreadPoolExecutor(int(os.environ.get("MAX_JOBS", 0)) or os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: _compile(name, source, command, folder, verbose), sources))
        link = [*compiler.split(), "-shared", *map(str, objects), *link_flags]
        library = folder / f"{name}_{_digest(' '.join(link).encode(), version.encode())}.so"
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                made = Path(scratch, "made.so")
                _run([*link, "-o", str(made)], name, verbose)
                os.replace(made, library)
    return str(library)


_modules = {}


def import_library(name, library):
    """The module in a shared library; the same one each time."""
    if library not in _modules:
        loader = importlib.machinery.ExtensionFileLoader(name, library)
        spec = importlib.util.spec_from_file_location(name, library, loader=loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        _modules[library] = module
    return _modules[library]
