"""Modules that load when a program first touches them. The namespace `vivace` holds them from the start, so it needs no
`__getattr__`, which would make each `torch.add` three times as slow to look up.
"""

import importlib
import os
import sys
from importlib import _bootstrap, _bootstrap_external
from types import ModuleType


class _Lazy(ModuleType):
    """A module whose code has not run yet."""

    def __getattribute__(self, name):
        _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name, value):
        _load(self)
        ModuleType.__setattr__(self, name, value)

    def __delattr__(self, name):
        _load(self)
        ModuleType.__delattr__(self, name)

    def __dir__(self):
        _load(self)
        return ModuleType.__dir__(self)


_running = set()  # names of modules whose code runs; the threads that run it hold their import locks


def _load(module):
    spec = object.__getattribute__(module, "__spec__")
    with _bootstrap._ModuleLockManager(spec.name):
        if type(module) is not _Lazy or spec.name in _running:
            return
        _running.add(spec.name)
        try:
            spec.loader.exec_module(module)
            if type(module) is _Lazy:  # else its code has chosen a class
                object.__setattr__(module, "__class__", ModuleType)
        finally:
            _running.discard(spec.name)


class HandedOut:
    """A loader that gives a module that is loaded already."""

    def __init__(self, module):
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has put the new one in its place


class _LoadedMeanwhile:
    """A finder of modules that are there: the import system asks for `vivace.nn.functional` after it has read the path
    of `vivace.nn`, which runs its code, which may have imported it. Without, its code would run twice. So would that of
    `torch.nn` in a program that has put vivace into sys.modules under the name torch."""

    def __init__(self, package):
        self.package, self.prefix = package, f"{package}."

    def find_spec(self, name, path=None, target=None):
        if name.startswith("torch.") and sys.modules.get("torch") is sys.modules.get(self.package):
            return importlib.import_module(f"{self.package}._alias").FINDER.find_spec(name)
        if target is None and name.startswith(self.prefix) and name in sys.modules:
            return _bootstrap.ModuleSpec(name, HandedOut(sys.modules[name]))
        return None


def add_lazy_modules(package, folder):
    """Puts all modules in a package's folder into its namespace, and into sys.modules."""
    sys.meta_path.insert(0, _LoadedMeanwhile(package))
    for entry in os.scandir(folder):
        name, _, extension = entry.name.partition(".")
        full = f"{package}.{name}"
        if name in ("__init__", "__main__", "__pycache__") or extension not in ("", "py") or full in sys.modules:
            continue
        is_package = extension == ""
        path = os.path.join(entry.path, "__init__.py") if is_package else entry.path
        if is_package and not os.path.exists(path):
            continue  # a folder of data
        search = [entry.path] if is_package else None
        spec = _bootstrap_external.spec_from_file_location(full, path, submodule_search_locations=search)
        module = _bootstrap.module_from_spec(spec)
        module.__class__ = _Lazy
        sys.modules[full] = module
        setattr(sys.modules[package], name, module)


def lazy_function(module, name, public_name=None):
    """A function that imports a module, and calls the function of that name there. Pickles find it in the namespace
    that it is made for."""

    def call(*args, **kwargs):
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = public_name or name
    call.__module__ = sys._getframe(1).f_globals["__name__"]
    call.__doc__ = f"See {module}.{name}."
    return call


def submodule(package, name):
    """For `__getattr__` of a package: the submodule, or an AttributeError that says what vivace does not have."""
    full = f"{package}.{name}"
    if not name.startswith("_"):
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:  # it needs a package that is not there
                raise AttributeError(str(error)) from error
    raise AttributeError(f"vivace does not have torch{full.removeprefix('vivace')}") from None


class _Package(ModuleType):
    """A package whose names come when they are read, or all at once when its dictionary is."""

    @property
    def __dict__(self):
        object.__setattr__(self, "__class__", ModuleType)
        for name in self.__all__:
            getattr(self, name)
        return vars(self)


def lazily(package, home, listed=True):
    """`__getattr__` and `__dir__` of a package whose names come from the modules that `home` gives, or are submodules.
    Those in `__all__` are in its dictionary too, unless it is not `listed`, which makes reading a name faster."""
    if listed:
        object.__setattr__(sys.modules[package], "__class__", _Package)

    def __getattr__(name):
        if name not in home:
            return submodule(package, name)
        value = getattr(importlib.import_module(home[name]), name)
        setattr(importlib.import_module(package), name, value)  # the next read finds it
        return value

    def __dir__():
        module = sys.modules[package]
        files = [entry.name.partition(".") for path in getattr(module, "__path__", ()) for entry in os.scandir(path)]
        modules = (name for name, _, kind in files if kind in ("", "py") and name[0] != "_")
        return sorted({*vars(module), *home, *modules})

    return __getattr__, __dir__


class _Absent(type):
    """The type of classes that vivace does not have: annotations and isinstance() may name them, and default arguments
    what is in them; making an instance is refused."""

    def __call__(cls, *args, **kwargs):
        cls._refuse()

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        return cls._refuse


def refusing(package, sentence, error=RuntimeError):
    """The `__getattr__` of a package that stands for what vivace does not do: its functions and classes exist, and
    refuse when they are called."""

    def refuse(*args, **kwargs):
        raise error(sentence)

    def __getattr__(name):
        public = package.replace("vivace", "torch", 1)
        if name.startswith("__"):
            raise AttributeError(f"vivace does not have {public}.{name}")
        if not name[0].isupper():
            return refuse
        absent = _Absent(name, (), {"__module__": public, "_refuse": staticmethod(refuse)})
        setattr(sys.modules[package], name, absent)
        return absent

    return __getattr__


NAME_THE_EXTENSION = ("vivace.overrides", "vivace._library.keys", "vivace._library.introspection", "vivace._backend")
"""Modules that put names into `_C` when they load."""


def add_late_names(extension):
    """Lets `_C` find the names that these modules put there, before they have loaded."""

    def __getattr__(name):
        if not name.startswith("__"):
            for module in NAME_THE_EXTENSION:
                _ = importlib.import_module(module).__name__  # reading loads it
                if name in vars(extension):
                    return vars(extension)[name]
        raise AttributeError(f"module 'torch._C' has no attribute '{name}'")

    extension.__getattr__ = __getattr__
