"""Registrations: which kernel a call gets, and that taking them back leaves nothing behind."""

from __future__ import annotations

import gc
import re

import pytest

import vivace as torch
from vivace import _C
from vivace._library import registry, schema
from vivace.library import Library, _scoped_library


@pytest.fixture
def library(request):
    made = Library("t_" + request.node.name.partition("[")[0], "FRAGMENT")
    yield made
    made._destroy()


def packet(library, name):
    return getattr(getattr(torch.ops, library.ns), name)


def test_alias_keys_stand_behind_exact_ones(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
    call = packet(library, "f")
    assert call(torch.zeros(1)).item() == 1
    library.impl("f", lambda x: x + 2, "CompositeExplicitAutograd")
    assert call(torch.zeros(1)).item() == 2
    library.impl("f", lambda x: x + 3, "CPU")
    assert call(torch.zeros(1)).item() == 3
    assert call(torch.zeros(1, device="meta")).shape == (1,)


def test_kernels_go_with_their_library():
    fragment = Library("gone", "FRAGMENT")
    fragment.define("f(Tensor x) -> Tensor")
    other = Library("gone", "IMPL")
    other.impl("f", lambda x: x * 2, "CPU")
    call = torch.ops.gone.f
    assert call(torch.ones(1)).item() == 2
    del other
    gc.collect()
    with pytest.raises(NotImplementedError, match="no kernel"):
        call(torch.ones(1))
    del fragment
    gc.collect()
    with pytest.raises(AttributeError):
        _ = torch.ops.gone.f


def test_kernels_may_come_before_the_definition():
    with _scoped_library("later", "IMPL") as kernels, _scoped_library("later", "DEF") as definitions:
        kernels.impl("f", lambda x: x * 3, "CPU")
        definitions.define("f(Tensor x) -> Tensor")
        assert torch.ops.later.f(torch.ones(1)).item() == 3


def test_one_owner_of_a_namespace():
    with _scoped_library("owned", "DEF"):
        with pytest.raises(RuntimeError, match="Only a single"):
            Library("owned", "DEF")
        Library("owned", "FRAGMENT")._destroy()
    Library("owned", "DEF")._destroy()


def test_override_is_seen_by_every_caller_and_taken_back():
    x = torch.tensor([2.0])
    with _scoped_library("aten", "IMPL") as overrides:
        overrides.impl("mul.Tensor", lambda a, b: torch.full_like(a, 7.0), "CPU")
        assert [(x * x).item(), torch.mul(x, x).item(), x.mul(x).item()] == [7, 7, 7]
        assert torch.ops.aten.mul.Tensor(x, x).item() == 7
        assert torch.ops.aten.mul(x, x).item() == 7
    assert (x * x).item() == 4


@pytest.mark.parametrize("alias", ["CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_aliases_stand_behind_kernels_of_a_key(alias):
    x = torch.tensor([2.0])
    with _scoped_library("aten", "IMPL") as overrides:
        overrides.impl("mul.Tensor", lambda a, b: torch.full_like(a, 7.0), alias)
        overrides.impl("reshape", lambda a, shape: torch.full_like(a, 7.0), "CompositeImplicitAutograd")
        assert (x * x).item() == 4  # mul has a kernel for the CPU
        assert x.reshape(1, 1).item() == torch.ops.aten.reshape(x, [1]).item() == 7  # reshape was a composite itself
    assert x.reshape(1, 1).shape == (1, 1)


@pytest.mark.parametrize("result", [3.0, None, "text", [torch.ones(1)], (torch.ones(1), torch.ones(1))])
def test_results_that_callers_in_cpp_could_not_take_are_refused(result):
    with _scoped_library("aten", "IMPL") as overrides:
        overrides.impl("exp", lambda x: result, "CPU")
        with pytest.raises(RuntimeError, match="not what the schema says"):
            torch.exp(torch.ones(1))


def test_several_results_of_an_override():
    with _scoped_library("aten", "IMPL") as overrides:
        overrides.impl("max.dim", lambda x, dim, keepdim=False: [x[0], torch.zeros((), dtype=torch.int64)], "CPU")
        values, indices = torch.max(torch.tensor([5.0, 9.0]), 0)
        assert (values.item(), indices.item()) == (5, 0)
        overrides.impl("max.dim", lambda x, dim, keepdim=False: (x[0],), "CPU")
        with pytest.raises(RuntimeError, match="not what the schema says"):
            torch.max(torch.tensor([5.0, 9.0]), 0)


def test_fallback_serves_operators_without_a_kernel(library):
    library.define("f(Tensor x, int n=2, *, str s='a') -> Tensor")
    seen = []

    def fallback(op, *args, **kwargs):
        seen.append((str(op), len(args), kwargs))
        return args[0].clone()

    with _scoped_library("_", "IMPL") as everything:
        everything.fallback(fallback, "CPU")
        packet(library, "f")(torch.ones(2), 3, s="b")
        torch.exp(torch.ones(1))  # has its own
    assert seen == [(f"{library.ns}.f.default", 2, {"s": "b"})]
    with pytest.raises(NotImplementedError):
        packet(library, "f")(torch.ones(2))


def test_fallthrough(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x.clone(), "CPU")
    library.impl("f", lambda x: pytest.fail("is fallen through"), "Autograd")
    library.impl("f", torch.library.fallthrough_kernel, "Autograd")
    assert packet(library, "f")(torch.ones(1, requires_grad=True)).requires_grad  # the kernel's own operators record


def test_kernels_get_what_was_given(library):
    library.define(
        "f(Tensor x, int[2] k=1, float[] w=[], bool b=False, Scalar s=1, str? t=None, "
        "ScalarType? d=None, Device? e=None, Tensor?[] l=[], bool[] m=[True]) -> ()"
    )
    seen = []
    library.impl("f", lambda *args: seen.append(args), "CPU")
    x = torch.ones(1)
    call = packet(library, "f")
    call(x)
    call(x, 3, [0.5], True, 2.5, "word", torch.int32, "meta", [None, x], [False, True])
    call(x, e=torch.device("cpu"))
    assert len(seen[0]) == 1  # defaults are the kernel's own affair
    assert seen[1][1:6] == ([3, 3], [0.5], True, 2.5, "word")
    assert seen[1][6] is torch.int32 and seen[1][7] == torch.device("meta")
    assert seen[1][8][0] is None and seen[1][8][1] is x and seen[1][9] == [False, True]
    assert seen[2][1:] == ([1, 1], [], False, 1, None, None, torch.device("cpu"))


def test_tensor_functions_of_subclasses_get_the_overload(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x.clone(), "CPU")
    seen = []

    class Spy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return "taken"

    spy = torch.ones(1).as_subclass(Spy)
    assert packet(library, "f").default(spy) == "taken"
    assert seen == [packet(library, "f").default]


def test_writes_count_for_autograd(library):
    library.define("fill(Tensor(a!) x, Tensor(b!)[] more) -> ()")

    def fill(x, more):
        for t in (x, *more):
            t.detach().numpy()[:] = 5

    library.impl("fill", fill, "CPU")
    x, more = torch.zeros(2), [torch.zeros(1), torch.zeros(3)]
    call = packet(library, "fill")
    call(x, more)
    assert [t._version for t in (x, *more)] == [1, 1, 1] and x.tolist() == [5, 5]
    saved = torch.zeros(2)
    loss = (torch.ones(2, requires_grad=True) * saved).sum()
    call(saved, [])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_stale_views_are_seen(library):
    """A view of what became part of a graph requires grad, here as anywhere."""
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x.detach() * 2, "CPU")
    torch.library.register_autograd(f"{library.ns}::twice", lambda ctx, g: g * 2, lib=library)
    w = torch.ones(2, requires_grad=True)
    base = torch.zeros(2, 2)
    row = base[0]
    base[0].add_(w)
    packet(library, "twice")(row).sum().backward()
    assert w.grad.tolist() == [2, 2]


def test_autocast(library):
    library.define("dtype_of(Tensor x) -> Tensor")
    library.impl("dtype_of", lambda x: x.clone(), "CompositeImplicitAutograd")
    torch.library.register_autocast(f"{library.ns}::dtype_of", "cpu", torch.bfloat16, lib=library)
    call = packet(library, "dtype_of")
    assert call(torch.ones(1)).dtype is torch.float32
    with torch.autocast("cpu"):
        assert call(torch.ones(1)).dtype is torch.bfloat16
        assert call(torch.ones(1, dtype=torch.int64)).dtype is torch.int64


def test_kernels_that_are_kept(library):
    library.define("f(Tensor x, *, int n=1) -> Tensor")
    call = packet(library, "f").default
    with pytest.raises(RuntimeError, match="no kernel for CPU"):
        torch.library.get_kernel(call, "CPU")
    library.impl("f", lambda x, *, n=1: x + n, "CompositeExplicitAutograd")
    first = torch.library.get_kernel(call, "CPU")
    library.impl("f", lambda keys, x, *, n=1: first.call_boxed(keys, x, n=n) * 10, "CPU", with_keyset=True)
    assert call(torch.ones(1), n=2).item() == 30
    keys = _C.DispatchKeySet(_C.DispatchKey.CPU)
    assert torch.library.get_kernel(call, _C.DispatchKey.CPU).call_boxed(keys, torch.ones(1)).item() == 20
    with pytest.raises(RuntimeError, match="several keys"):
        torch.library.get_kernel(call, "CompositeImplicitAutograd")
    with pytest.raises(TypeError, match="missing"):
        call._redispatch()


def test_sets_of_keys():
    key = _C.DispatchKey
    both = _C.DispatchKeySet(key.CPU, key.ADInplaceOrView)
    assert both == _C.DispatchKeySet(key.CPU).add(key.ADInplaceOrView) and hash(both) == hash(both.add(key.CPU))
    assert both.native == 1 and both.remove(key.CPU).native == 0
    assert repr(both) == "DispatchKeySet(CPU, ADInplaceOrView)"
    x = torch.ones(1, requires_grad=True)
    with _C._AutoDispatchBelowAutograd():
        assert not (x * 2).requires_grad
        with _C._ExcludeDispatchKeyGuard(both - _C.DispatchKeySet(key.CPU)):
            assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_vmap_works_without_a_rule(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x * 2, "CPU")
    with pytest.warns(UserWarning, match="performance drop"):
        assert torch.vmap(packet(library, "f"))(torch.ones(3, 2)).tolist() == [[2, 2]] * 3


def test_rule_for_vmap(library):
    library.define("f(Tensor x, Tensor y, int n=1) -> (Tensor, Tensor)")
    library.impl("f", lambda x, y, n=1: (x * n, x + y), "CPU")
    seen = []

    @torch.library.register_vmap(f"{library.ns}::f")
    def rule(info, in_dims, x, y, n=1):
        seen.append((info.batch_size, info.randomness, in_dims))
        return (x * n, x + y), (0, 0)

    x, y = torch.arange(6.0).view(3, 2), torch.ones(2)
    product, total = torch.vmap(lambda x: packet(library, "f")(x, y, 3))(x)
    assert torch.equal(product, x * 3) and torch.equal(total, x + 1)
    assert seen == [(3, "error", (0, None, None))]


@pytest.mark.parametrize("key", ["ADInplaceOrView", "BackendSelect", "FuncTorchBatched"])
def test_keys_that_do_not_exist_are_refused(library, key):
    library.define("f(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match=f"no kernels for {key}"):
        library.impl("f", lambda x: x, key)
    with pytest.raises(RuntimeError, match="could not parse dispatch key"):
        library.impl("f", lambda x: x, "Nonsense")


@pytest.mark.parametrize(
    "text",
    ["f(Tensor x)", "f Tensor x -> Tensor", "f(Tensr x) -> Tensor", "f(Tensor x=) -> Tensor", "f(int n=two) -> Tensor"],
)
def test_schemas_that_can_not_be_read(library, text):
    with pytest.raises(RuntimeError):
        library.define(text)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("f(float a=0.1,float z=-3.0) -> ()", "f(float a=0.10000000000000001, float z=-3.) -> ()"),
        ("f(int[2] k=1, str s='x') -> Tensor?", 'f(int[2] k=[1, 1], str s="x") -> Tensor?'),
        ("a::f.b(Tensor(a!)  x,*, Scalar y=2)->(Tensor(a!), Tensor[] l)",) * 2,
        ("f(Tensor(a!)[] x) -> (Tensor)", "f(Tensor(a!)[] x) -> Tensor"),
    ],
)
def test_schemas_as_pytorch_writes_them(given, written):
    spaced = re.sub(r",\s*", ", ", " ".join(written.split())).replace(")->(", ") -> (")
    assert str(schema.parse(given)) == spaced


def test_every_operator_has_a_schema_and_can_be_found():
    count = 0
    for name, overloads in registry.catalogue().items():
        for overload in overloads:
            found = getattr(getattr(torch.ops.aten, name), overload or "default")
            parsed = found._schema
            assert parsed.name == f"aten::{name}" and parsed.overload_name == overload
            count += 1
    assert count == len(_C._catalogue_operators())


def test_nothing_registered_leaves_the_tables_alone():
    before = [_C._has_kernel("aten::exp", key) for key in range(13)]
    with _scoped_library("aten", "IMPL") as overrides:
        overrides.impl("exp", lambda x: x.clone(), "CPU")
        overrides.impl("exp", lambda x: x.clone(), "Autograd")
        assert torch.exp(torch.zeros(1)).item() == 0
    assert [_C._has_kernel("aten::exp", key) for key in range(13)] == before
    x = torch.zeros(1, requires_grad=True)
    torch.exp(x).backward()
    assert x.grad.item() == 1


def test_fallbacks_get_the_set_of_keys_and_other_keys_may_have_kernels():
    calls = []

    def below_autocast(keys, op, *args, **kwargs):
        calls.append((keys.has(torch._C.DispatchKey.AutocastCPU), str(op)))
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)):
            return op(*args, **kwargs)

    with _scoped_library("_", "IMPL") as everything:
        everything.fallback(below_autocast, "AutocastCPU", with_keyset=True)
        x = torch.zeros(2)
        with torch.autocast("cpu"):
            assert torch.sin(x).tolist() == [0, 0]
        assert torch._C._dispatch_has_backend_fallback("AutocastCPU")
    assert calls == [(True, "aten.sin.default")] and not torch._C._dispatch_has_backend_fallback("AutocastCPU")


def test_autograd_kernels_of_one_device(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CompositeExplicitAutograd")
    library.impl("f", lambda x: x + 10, "AutogradCPU")
    f = packet(library, "f")
    assert f(torch.zeros(1)).item() == 10 and f(torch.zeros(1, device="meta")).is_meta
    library.impl("f", torch.library.fallthrough_kernel, "AutogradCPU")
    assert f(torch.zeros(1)).item() == 1
    library.impl("f", lambda x: x * 0 + 7, "Autograd")
    assert f(torch.zeros(1)).item() == 1 and f(torch.zeros(1, device="meta")).is_meta


def test_questions_to_the_dispatcher(library):
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x, "CompositeImplicitAutograd")
    c = torch._C
    assert repr(c._dispatch_keys(torch.ones(1))) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    assert repr(c._dispatch_keys(torch.ones(1, device="meta"))) == "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)"
    has, computed = c._dispatch_has_kernel_for_dispatch_key, c._dispatch_has_computed_kernel_for_dispatch_key
    assert has("aten::add.Tensor", "CPU") and has("aten::add.Tensor", c.DispatchKey.Meta)
    assert (
        not has("aten::flatten.using_ints", "CPU")
        and computed("aten::flatten.using_ints", "CPU")
        and computed("aten::flatten.using_ints", "PrivateUse1")
    )
    assert not has("aten::add.Tensor", "PrivateUse1") and not computed("aten::add.Tensor", "PrivateUse1")
    name = f"{library.ns}::f"
    assert not has(name, "CPU") and computed(name, "CPU") and c._dispatch_has_kernel(name)
    with pytest.raises(RuntimeError, match="Alias keys do not have runtime kernel registrations"):
        has(name, "CompositeImplicitAutograd")
    assert not c._dispatch_has_kernel("aten::no_such_thing")
    assert c._dispatch_is_alias_key("Autograd") and not c._dispatch_is_alias_key(c.DispatchKey.CPU)
    assert c._dispatch_is_included_in_alias(c.DispatchKey.CPU, c.DispatchKey.CompositeImplicitAutograd)
    assert c._dispatch_key_parse("CPU") is c.DispatchKey.CPU and c._dispatch_key_name(c.DispatchKey.CPU) == "CPU"
    assert name in c._dispatch_get_all_op_names() and "aten::relu" in c._dispatch_get_registrations_for_dispatch_key(
        "CPU"
    )
    assert f"schema: {library.ns}::f(Tensor x) -> Tensor" in c._dispatch_dump(name)
    assert not c._dispatch_tls_is_dispatch_key_excluded(c.DispatchKey.CPU)
    with c._ExcludeDispatchKeyGuard(c.DispatchKeySet(c.DispatchKey.AutocastCPU)):
        assert c._dispatch_tls_local_exclude_set().has(c.DispatchKey.AutocastCPU)


def test_a_kernel_for_what_python_sees(library):
    from vivace.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CPU")
    library.impl("f", lambda x: x + 100, "Python")
    f = packet(library, "f")
    x = torch.zeros(1)
    with Mode():
        assert f(x)[0] == 100
    assert f(x)[0] == 1


def test_operators_say_whether_they_give_views():
    aten = torch.ops.aten
    assert aten.view.default.is_view and aten.split.Tensor.is_view and aten.detach.default.is_view
    assert not (aten.add.Tensor.is_view or aten.add_.Tensor.is_view or aten.add.out.is_view)
