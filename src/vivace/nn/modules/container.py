"""Containers: Sequential, and lists and dicts of modules and of parameters."""

from collections import OrderedDict
from operator import index as to_index

from ..parameter import Parameter, Tensor
from .module import Module


def _position(index, size):
    """A checked index that may count from the end."""
    index = to_index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return index % size


class Container(Module):
    """Old name of a module with given submodules."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _ModuleSequence(Module):
    """Submodules named "0", "1", ...: what Sequential and ModuleList share."""

    def _modules_now(self):
        return list(self._modules.values())

    def _replace_all(self, modules):
        """Renumbers: the submodules become exactly these."""
        self._modules.clear()
        for position, module in enumerate(modules):
            self.add_module(str(position), module)

    def _get_abs_string_index(self, index):
        return list(self._modules)[_position(index, len(self))]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __setitem__(self, index, module):
        setattr(self, self._get_abs_string_index(index), module)

    def __delitem__(self, index):
        modules = self._modules_now()
        if not isinstance(index, slice):
            index = _position(index, len(modules))
        del modules[index]
        self._replace_all(modules)

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Removes and gives back the module at a position."""
        module = self[key]
        del self[key]
        return module


class Sequential(_ModuleSequence):
    """Calls its modules one after the other."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for position, module in enumerate(args):
                self.add_module(str(position), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._get_abs_string_index(index)]

    def __delitem__(self, index):
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._get_abs_string_index(index)]:
            delattr(self, name)
        self._replace_all(self._modules_now())

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, other):
        self._check_factor(other)
        return Sequential(*(self._modules_now() * other))

    __rmul__ = __mul__

    def __imul__(self, other):
        self._check_factor(other)
        return self.extend(self._modules_now() * (other - 1))

    @staticmethod
    def _check_factor(factor):
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {Sequential}")

    def insert(self, index, module):
        """Puts a module before a position."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = self._modules_now()
        modules.insert(index, module)
        self._replace_all(modules)
        return self

    def extend(self, sequential):
        """Adds several modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self


class ModuleList(_ModuleSequence):
    """A list whose items are submodules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(self._modules_now()[index])
        return self._modules[self._get_abs_string_index(index)]

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList([*self, *other])

    def insert(self, index, module):
        """Puts a module before a position."""
        modules = self._modules_now()
        modules.insert(index, module)
        self._replace_all(modules)

    def extend(self, modules):
        """Adds several modules at the end."""
        _check_iterable("ModuleList.extend", modules)
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self):
        """Runs of equal modules are printed once, with their number."""
        if not len(self):
            return self._get_name() + "()"
        runs = []
        for position, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = position
            else:
                runs.append([position, position, text])
        lines = []
        for first, last, text in runs:
            label = f"({first})" if first == last else f"({first}-{last})"
            count = "" if first == last else f"{last - first + 1} x "
            lines.append(f"{label}: {count}{text}".replace("\n", "\n  "))
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


def _check_iterable(method, items, of=""):
    if not hasattr(items, "__iter__"):
        raise TypeError(f"{method} should be called with an iterable{of}, but got {type(items).__name__}")


def _pairs(what, items):
    """The (key, value) pairs of a mapping, of another container, or of an iterable of pairs."""
    _check_iterable(f"{what}.update", items, " of key/value pairs")
    if hasattr(items, "items"):
        yield from items.items()
        return
    for position, pair in enumerate(items):
        if not hasattr(pair, "__iter__"):
            raise TypeError(f"{what} update sequence element #{position} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{what} update sequence element #{position} has length {len(pair)}; 2 is required")
        yield pair


class ModuleDict(Module):
    """A dict whose values are submodules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules):
        """Adds or replaces submodules from a mapping or from pairs."""
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _describe(value, of_type=False):
    """How a value is listed when its container is printed, with its tensor type or its dtype."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(n) for n in value.size())
    element = value.type() if of_type else value.dtype
    where = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"{kind} containing: [{element} of size {size}{where}]"


class ParameterList(Module):
    """A list whose tensors are parameters; it may hold other objects too."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Adds a value at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values):
        """Adds several values at the end."""
        if not hasattr(values, "__iter__") or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({i}): {_describe(value)}" for i, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict whose tensors are parameters; it may hold other objects too."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        """Attributes have string names; a key of another type would be confused with its text."""
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        name = self._attribute(key)
        self._keys[key] = None
        setattr(self, name, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def values(self):
        return (self[key] for key in self._keys)

    def get(self, key, default=None):
        return self[key] if key in self._keys else default

    def setdefault(self, key, default=None):
        if key not in self._keys:
            self[key] = default
        return self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def copy(self):
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys, default=None):
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters):
        """Adds or replaces values from a mapping or from pairs."""
        for key, value in _pairs("ParameterDict", parameters):
            self[key] = value

    def __or__(self, other):
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other):
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({key}): {_describe(value, of_type=True)}" for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
