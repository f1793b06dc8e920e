"""Containers do all that lists and dicts do."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest


def names(modules: Any) -> list[str]:
    return [type(m).__name__ for m in modules]


def test_sequential(module: Any) -> None:
    nn = module.nn
    s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    assert names(s[0:2]) == ["Linear", "ReLU"]
    assert type(s[-1]).__name__ == "Linear"
    s.append(nn.Tanh())
    s.insert(0, nn.Identity())
    assert names(s) == ["Identity", "Linear", "ReLU", "Linear", "Tanh"]
    assert list(s._modules) == ["0", "1", "2", "3", "4"]
    del s[1:3]
    assert names(s) == ["Identity", "Linear", "Tanh"]
    assert type(s.pop(1)).__name__ == "Linear"
    assert names(s + nn.Sequential(nn.ELU())) == ["Identity", "Tanh", "ELU"]
    assert names(2 * s) == ["Identity", "Tanh", "Identity", "Tanh"]
    s *= 2
    s[0] = nn.ELU()
    s.extend([nn.ReLU()])
    assert names(s) == ["ELU", "Tanh", "Identity", "Tanh", "ReLU"]
    with pytest.raises(IndexError):
        s[9]
    with pytest.raises(ValueError, match="Non-positive multiplication factor"):
        s * 0
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert named.b is named[1]


def test_module_list(module: Any) -> None:
    nn = module.nn
    items = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)] + [nn.ReLU()])
    assert repr(items) == (
        "ModuleList(\n  (0-2): 3 x Linear(in_features=1, out_features=1, bias=True)\n  (3): ReLU()\n)"
    )
    items += [nn.Tanh()]
    items.insert(1, nn.ELU())
    del items[0]
    items[0] = nn.GELU()
    assert names(items) == ["GELU", "Linear", "Linear", "ReLU", "Tanh"]
    assert list(items._modules) == ["0", "1", "2", "3", "4"]
    assert isinstance(items[1:3], nn.ModuleList)
    assert names(items + nn.ModuleList([nn.ReLU()]))[-1] == "ReLU"
    with pytest.raises(NotImplementedError):
        items(1)
    with pytest.raises(TypeError, match="should be called with an iterable"):
        items.extend(3)


def test_module_dict(module: Any) -> None:
    nn = module.nn
    d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    d["c"] = nn.ELU()
    del d["a"]
    assert list(d) == ["b", "c"]
    assert "b" in d
    assert names(d.values()) == ["Tanh", "ELU"]
    assert type(d.pop("b")).__name__ == "Tanh"
    d.update([("z", nn.ReLU())])
    assert list(d.keys()) == ["c", "z"]
    with pytest.raises(KeyError):
        d["missing"]
    d.clear()
    assert len(d) == 0


def test_parameter_list(module: Any) -> None:
    items = module.nn.ParameterList([module.ones(2), module.nn.Parameter(module.ones(3, 4)), "text"])
    assert [type(v).__name__ for v in items] == ["Parameter", "Parameter", "str"]
    assert list(items.state_dict()) == ["0", "1"]
    items.append(module.zeros(1))
    items[0] = module.ones(7)
    assert items[0].shape == (7,)
    assert len(items[1:3]) == 2
    assert "Parameter containing: [torch.float32 of size 3x4]" in repr(items)
    with pytest.raises(IndexError):
        items[9]


def test_parameter_dict(module: Any) -> None:
    d = module.nn.ParameterDict({"a": module.ones(2), "b": module.nn.Parameter(module.ones(1))})
    assert list(d.state_dict()) == ["a", "b"]
    assert d.pop("a").shape == (2,)
    d.update({"n": module.ones(5)})
    assert list((d | {"u": module.ones(1)}).keys()) == ["b", "n", "u"]
    assert d.get("missing") is None
    assert list(reversed(d)) == ["n", "b"]
    assert d.popitem()[0] == "n"


def test_lists_of_packages_count_from_the_end(module: Any) -> None:
    class Named(module.nn.ModuleList):
        def __getitem__(self, index: int) -> Any:
            return self._modules[self._get_abs_string_index(index)]

    layers = Named([module.nn.ReLU(), module.nn.Tanh()])
    assert layers[-1] is layers[1] and layers._get_abs_string_index(-1) == "1"
    with pytest.raises(IndexError, match="index 2 is out of range"):
        layers[2]
