"""Module: registration, attributes, traversal, conversion, copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest


@pytest.fixture
def net(module: Any) -> Any:
    nn = module.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 2, bias=False))
            self.register_buffer("mean", module.ones(2))
            self.register_buffer("scratch", module.zeros(1), persistent=False)
            self.scale = nn.Parameter(module.ones(1))
            self.register_parameter("absent", None)

        def forward(self, x: Any, factor: int = 1) -> Any:
            return self.rest(self.first(x)) * self.scale * factor

    return Net()


def test_names(net: Any) -> None:
    assert [n for n, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "rest.1.weight"]
    assert [n for n, _ in net.named_buffers()] == ["mean", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [n for n, _ in net.named_children()] == ["first", "rest"]
    assert list(net.state_dict()) == ["scale", "mean", "first.weight", "first.bias", "rest.1.weight"]


def test_shared_members_are_listed_once(module: Any) -> None:
    layer = module.nn.Linear(2, 2)
    tied = module.nn.Sequential(layer, layer)
    assert len(list(tied.parameters())) == 2
    assert len(list(tied.named_parameters(remove_duplicate=False))) == 4
    assert [n for n, _ in tied.named_modules(remove_duplicate=False)] == ["", "0", "1"]


def test_modules_with_repeats(module: Any) -> None:
    layer = module.nn.Linear(1, 1)
    twice = module.nn.Sequential(layer, layer)
    assert list(twice.modules()) == [twice, layer]
    assert list(twice.modules(remove_duplicate=False)) == [twice, layer, layer]


def test_attributes_follow_the_dicts(module: Any, net: Any) -> None:
    nn = module.nn
    weight = nn.Parameter(module.ones(3))
    net._parameters["late"] = weight
    assert net.late is weight
    del net._parameters["late"]
    assert not hasattr(net, "late")
    net._buffers.update(late=module.zeros(1))
    assert net.late is net._buffers["late"]
    net._modules["act"] = nn.Tanh()
    assert net.act is net.get_submodule("act")
    net._modules.pop("act")
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'act'"):
        net.act  # noqa: B018
    net.scale = nn.Parameter(module.zeros(1))
    assert net._parameters["scale"] is net.scale
    net.scale = None
    assert net.scale is None
    assert "scale" in net._parameters
    del net.scale
    assert "scale" not in net._parameters
    net._parameters = {"other": weight}
    assert net.other is weight


def test_a_name_moves_between_kinds(module: Any, net: Any) -> None:
    nn = module.nn
    net.mean = nn.Parameter(module.ones(2))
    assert "mean" not in net._buffers
    assert "mean" in net._parameters
    net.plain = 5
    net.plain = nn.ReLU()
    assert list(net._modules) == ["first", "rest", "plain"]
    net.first = None
    assert net.first is None
    net.first = nn.Linear(1, 1)
    assert list(net._modules) == ["first", "rest", "plain"]


def test_class_attributes_win_over_nothing(module: Any) -> None:
    class WithProperty(module.nn.Module):
        @property
        def fixed(self) -> int:
            return 5

    layer = WithProperty()
    with pytest.raises(KeyError, match="attribute 'fixed' already exists"):
        layer.fixed = module.nn.Parameter(module.ones(1))
    assert layer.fixed == 5


def test_super_getattr(module: Any) -> None:
    class Wrapper(module.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    wrapper = Wrapper(module.nn.Linear(2, 3))
    assert wrapper.in_features == 2
    assert wrapper.inner is wrapper._modules["inner"]
    with pytest.raises(AttributeError):
        wrapper.nothing  # noqa: B018


def test_getattr_called_by_name(module: Any, net: Any) -> None:
    assert net.__getattr__("scale") is net.scale and net.__getattr__("first") is net.first
    assert net.__getattr__("mean") is net.mean
    for read in (net.__getattr__, lambda name: getattr(net, name)):
        with pytest.raises(AttributeError, match="'Net' object has no attribute 'training_'"):
            read("training_")


def test_own_getattr_sees_every_member(module: Any) -> None:
    class Watched(module.nn.Linear):
        def __getattr__(self, name: str) -> Any:
            seen.append(name)
            return super().__getattr__(name)

    seen: list[str] = []
    layer = Watched(2, 2)
    seen.clear()
    assert layer(module.ones(2)).shape == (2,) and sorted(set(seen) & {"weight", "bias"}) == ["bias", "weight"]
    layer.weight = None
    assert layer.weight is None and layer.bias is layer._parameters["bias"]
    assert pickle.loads(pickle.dumps(module.nn.Linear(2, 2))).bias is not None


def test_getattr_given_later(module: Any) -> None:
    class Late(module.nn.Module):
        pass

    layer = Late()
    with pytest.raises(AttributeError):
        layer.nothing  # noqa: B018
    Late.__getattr__ = lambda self, name: name
    assert layer.nothing == "nothing"


def test_members_in_a_plain_dict(module: Any) -> None:
    class Swapped(module.nn.Linear):
        """As libraries write it that give a module's function other parameters."""

        def __init__(self) -> None:
            super().__init__(2, 2)
            del self.weight, self.bias
            self._parameters = {"weight": None, "bias": None}

        def __setattr__(self, name: str, value: Any) -> None:
            if name in self.__dict__.get("_parameters", ()):
                self._parameters[name] = value
            else:
                object.__setattr__(self, name, value)

    layer = Swapped()
    assert layer.weight is None
    layer.weight = 2 * module.eye(2)
    assert layer(module.ones(2)).tolist() == [2, 2]
    with pytest.raises(AttributeError, match="'Swapped' object has no attribute 'gone'"):
        layer.gone  # noqa: B018


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda t, n: setattr(n, "scale", 1), TypeError, "cannot assign 'int' as parameter 'scale'"),
        (lambda t, n: setattr(n, "first", 1), TypeError, "cannot assign 'int' as child module 'first'"),
        (lambda t, n: setattr(n, "mean", 1), TypeError, "cannot assign 'int' as buffer 'mean'"),
        (lambda t, n: n.register_parameter("a.b", None), KeyError, 'parameter name can\'t contain "."'),
        (lambda t, n: n.register_parameter("", None), KeyError, "can't be empty string"),
        (lambda t, n: n.register_parameter("mean", None), KeyError, "attribute 'mean' already exists"),
        (lambda t, n: n.register_parameter("p", t.ones(1)), TypeError, "torch.nn.Parameter or None required"),
        (lambda t, n: n.register_buffer("b", 3), TypeError, "torch Tensor or None required"),
        (lambda t, n: n.add_module("m", 3), TypeError, "int is not a Module subclass"),
        (lambda t, n: n.train(3), ValueError, "training mode is expected to be boolean"),
        (lambda t, n: n.to(t.int32), TypeError, "floating point or complex"),
        (lambda t, n: n.get_submodule("first.nope"), AttributeError, "Linear has no attribute `nope`"),
        (lambda t, n: n.get_parameter("first"), AttributeError, "`first` is not an nn.Parameter"),
    ],
)
def test_errors(module: Any, net: Any, change: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        change(module, net)
    assert text in str(caught.value.args[0])


def test_use_before_init(module: Any) -> None:
    class NoInit(module.nn.Module):
        def __init__(self) -> None:
            self.number = 1

    layer = NoInit()
    assert layer.number == 1
    with pytest.raises(AttributeError, match="cannot assign module before Module"):
        layer.child = module.nn.ReLU()
    with pytest.raises(AttributeError, match="cannot assign parameters before Module"):
        layer.weight = module.nn.Parameter(module.ones(1))


def test_missing_forward(module: Any) -> None:
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        module.nn.Module()(1)


def test_calls_pass_every_argument(module: Any) -> None:
    class Echo(module.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return args, kwargs

    echo = Echo()
    assert echo() == ((), {})
    assert echo(1) == ((1,), {})
    assert echo(None, input=2) == ((None,), {"input": 2})
    assert echo(1, 2, x=3) == ((1, 2), {"x": 3})
    echo.forward = lambda x: x + 1
    assert echo(1) == 2


def test_modes_and_conversion(module: Any, net: Any) -> None:
    assert all(not m.training for m in net.eval().modules())
    assert net.train() is net
    scale = net.scale
    net.double()
    assert net.scale is scale
    assert scale.dtype == module.float64
    assert net.mean.dtype == module.float64
    net.to(module.float32)
    assert net.first.weight.dtype == module.float32
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    seen: list[str] = []
    net.apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_zero_grad(module: Any, net: Any) -> None:
    net(module.ones(1, 2)).sum().backward()
    assert net.scale.grad is not None
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.item() == 0
    net.zero_grad()
    assert net.scale.grad is None


def test_copies(module: Any, net: Any) -> None:
    twin = copy.deepcopy(net)
    assert twin.scale is twin._parameters["scale"]
    assert twin.scale is not net.scale
    twin.scale = module.nn.Parameter(module.zeros(1))
    assert net.scale.item() == 1
    assert copy.copy(net).first is net.first
    layer = pickle.loads(pickle.dumps(module.nn.Sequential(module.nn.Linear(2, 2))))
    assert layer[0].weight is layer[0]._parameters["weight"]
    layer[0]._parameters["bias"] = None
    assert layer[0].bias is None


def test_buffer_objects(module: Any) -> None:
    class Holder(module.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = module.nn.Buffer(module.ones(2))
            self.passing = module.nn.Buffer(module.ones(1), persistent=False)

    holder = Holder()
    assert list(holder._buffers) == ["kept", "passing"]
    assert list(holder.state_dict()) == ["kept"]
    assert isinstance(holder.kept, module.nn.Buffer)
    assert not isinstance(module.ones(1), module.nn.Buffer)


def test_repr(module: Any, net: Any) -> None:
    assert repr(net) == (
        "Net(\n  (first): Linear(in_features=2, out_features=3, bias=True)\n  (rest): Sequential(\n    (0): ReLU()\n"
        "    (1): Linear(in_features=3, out_features=2, bias=False)\n  )\n)"
    )
