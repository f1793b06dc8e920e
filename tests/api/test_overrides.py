"""__torch_function__: subclasses, objects that are no tensors, modes."""

import copy
import pickle
import pydoc

import pytest

import vivace as torch
from vivace import overrides


class Logged(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func)
        return super().__torch_function__(func, types, args, kwargs)


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs


@pytest.fixture
def logged():
    Logged.calls.clear()
    return torch.ones(2, 3).as_subclass(Logged)


@pytest.mark.parametrize(
    ("use", "func"),
    [
        (lambda x: x + 1, torch.Tensor.add),
        (lambda x: 1 + x, torch.Tensor.add),
        (lambda x: torch.ones(3) * x, torch.Tensor.mul),
        (lambda x: 1 - x, torch.Tensor.__rsub__),
        (lambda x: x == 1, torch.Tensor.__eq__),
        (lambda x: -x, torch.Tensor.neg),
        (lambda x: torch.add(x, 1), torch.add),
        (lambda x: torch.cat([torch.ones(1, 3), x]), torch.cat),
        (lambda x: x.sum(), torch.Tensor.sum),
        (lambda x: x.exp(), torch.Tensor.exp),
        (lambda x: x[0], torch.Tensor.__getitem__),
        (lambda x: x.T, torch.Tensor.T.__get__),
        (lambda x: x.data, torch.Tensor.data.__get__),
        (lambda x: torch.einsum("ij->ji", x), torch.einsum),
        (lambda x: torch.nn.functional.relu(x), torch.nn.functional.relu),
        (lambda x: torch.nn.functional.softmax(x, 1), torch.nn.functional.softmax),
    ],
)
def test_results_are_of_the_subclass(logged, use, func):
    assert type(use(logged)) is Logged
    assert Logged.calls == [func]


@pytest.mark.parametrize(
    ("use", "func"),
    [
        (lambda x: x.shape, torch.Tensor.shape.__get__),
        (lambda x: x.size(), torch.Tensor.size),
        (lambda x: len(x), torch.Tensor.__len__),
        (lambda x: bool(x[0, 0]), torch.Tensor.__bool__),
        (lambda x: 2 in x, torch.Tensor.__contains__),
        (lambda x: x.tolist(), torch.Tensor.tolist),
        (lambda x: torch.numel(x), torch.numel),
        (lambda x: repr(x), torch.Tensor.__repr__),
        (lambda x: x.__setitem__(0, 1), torch.Tensor.__setitem__),
        (lambda x: setattr(x, "grad", None), torch.Tensor.grad.__set__),
    ],
)
def test_what_gives_no_tensor_is_overridden_too(logged, use, func):
    use(logged)
    assert Logged.calls[-1] == func


def test_iteration_and_tuples_give_the_subclass(logged):
    assert {type(row) for row in logged} == {Logged}
    assert type(logged.max(1).values) is Logged


def test_objects_that_are_no_tensors(logged):
    duck = Duck()
    assert torch.add(duck, 1) == (torch.add, (Duck,), (duck, 1), {})
    assert torch.sum(duck, dim=1) == (torch.sum, (Duck,), (duck,), {"dim": 1})
    assert torch.cat([torch.ones(1), duck])[0] is torch.cat
    assert (torch.ones(2) + duck)[0] is torch.Tensor.add
    assert torch.nn.functional.linear(duck, duck)[0] is torch.nn.functional.linear
    assert torch.unique(duck)[0] is torch.unique
    assert overrides.is_tensor_like(duck) and not overrides.is_tensor_like(3)


def test_subclasses_go_before_their_bases():
    class A(torch.Tensor):
        pass

    class B(A):
        pass

    class C(torch.Tensor):
        pass

    a, b, c = (torch.ones(2).as_subclass(kind) for kind in (A, B, C))
    assert type(a + b) is type(b + a) is type(torch.stack([a, b])) is B
    assert type(torch.nn.Parameter(torch.ones(2)) + a) is A
    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        torch.add(a, c)


def test_history_goes_through_subclasses():
    class A(torch.Tensor):
        pass

    leaf = torch.ones(2, requires_grad=True)
    a = leaf.as_subclass(A)
    assert type(a) is A and a.requires_grad and not a.is_leaf
    (a * 3).sum().backward()
    assert leaf.grad.tolist() == [3, 3] and type(leaf.grad) is torch.Tensor
    own = A([1.0, 2.0]).requires_grad_()
    (own * own).sum().backward()
    assert own.grad.tolist() == [2, 4]


def test_classes_may_switch_it_off():
    class Plain(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    class Weight(torch.nn.Parameter):
        pass

    assert type(torch.ones(2).as_subclass(Plain) + 1) is torch.Tensor
    assert type(Weight(torch.ones(2)) + 1) is torch.Tensor
    x = torch.ones(2).as_subclass(Logged)
    Logged.calls.clear()
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
    assert Logged.calls == []


class Doubling(overrides.TorchFunctionMode):
    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append(func)
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is torch.add else result


def test_modes_see_every_function():
    x, w = torch.ones(2), torch.nn.Parameter(torch.ones(2))
    with Doubling() as mode:
        x + 1
        x.exp()
        x * w
        x[0]
        torch.zeros(2)
        torch.tensor([1.0])
        torch.nn.functional.relu(x)
        x[0] = 1
    expected = [
        torch.Tensor.add,
        torch.Tensor.exp,
        torch.Tensor.mul,
        torch.Tensor.__getitem__,
        torch.zeros,
        torch.tensor,
        torch.nn.functional.relu,
        torch.Tensor.__setitem__,
    ]
    assert mode.calls == expected
    x + 1
    assert mode.calls == expected
    with Doubling(), Doubling():
        assert torch.add(x, 1).tolist() == [8, 8]
    with Doubling() as mode, torch._C.DisableTorchFunction():
        assert torch.add(x, 1).tolist() == [2, 2]
    assert mode.calls == []


def test_a_mode_is_left_when_its_handler_raises():
    class Refusing(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise KeyError("no")

    with Refusing():
        for _ in range(2):
            with pytest.raises(KeyError):
                torch.ones(2)
    assert torch.ones(2).tolist() == [1, 1]


def test_what_can_be_overridden():
    functions = overrides.get_overridable_functions()
    assert torch.add in functions[torch] and torch.Tensor.add in functions[torch.Tensor]
    assert torch.nn.functional.relu in functions[torch.nn.functional]
    assert torch.tensor in overrides.get_ignored_functions()
    assert overrides.resolve_name(torch.add) == "torch.add"
    assert overrides.resolve_name(torch.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert not overrides.is_tensor_method_or_property(torch.add)
    assert overrides.get_testing_overrides()[torch.add](1, 2) == -1


def test_functions_of_your_own_can_be_overridden():
    @overrides.wrap_torch_function(lambda a, b: (a, b))
    def combine(a, b):
        return a + b

    assert combine(1, 2) == 3
    assert combine(Duck(), 2)[0] is combine


def test_python_functions_keep_their_names():
    assert torch.einsum.__name__ == "einsum" and torch.einsum.__doc__
    assert pickle.loads(pickle.dumps(torch.einsum)) is torch.einsum
    assert copy.deepcopy(torch.nn.functional.relu) is torch.nn.functional.relu


@pytest.mark.parametrize(
    "name",
    ["add", "save", "vmap", "einsum", "nn.functional.relu", "nn.functional.linear", "nn.init.uniform_", "linalg.norm"],
)
def test_functions_can_be_pickled(name):
    found = torch
    for part in name.split("."):
        found = getattr(found, part)
    assert found.__module__.partition(".")[0] == "vivace"
    assert pickle.loads(pickle.dumps(found)) is found


def test_modes_see_initialisations():
    class Skip(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return kwargs["tensor"] if func in skipped else func(*args, **(kwargs or {}))

    init = torch.nn.init
    skipped = {init.uniform_, init.normal_, init.constant_, init.kaiming_uniform_}
    t = torch.full((2, 2), 7.0)
    with Skip():
        for call in (init.uniform_, init.normal_, init.kaiming_uniform_, init.xavier_normal_, init.ones_):
            assert call(t) is t
    assert t.eq(7).all()


def test_help_shows_what_functions_do():
    for function in (torch.einsum, torch.nn.functional.relu, torch.nn.functional.max_pool2d):
        assert function.__doc__ and function.__doc__ in pydoc.plain(pydoc.render_doc(function))
