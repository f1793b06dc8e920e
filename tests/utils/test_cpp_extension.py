"""torch.utils.cpp_extension: what C++ calls, registers and refuses, in one extension; how it is built and loaded."""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.util
import re
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
_kept: list[Any] = []


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all workers of the test run: the first builds, the others wait."""
    base = tmp_path_factory.getbasetemp()
    made = (base.parent if base.name.startswith("popen") else base) / "cpp_extension"
    made.mkdir(exist_ok=True)
    return made


@pytest.fixture(scope="session")
def extension(module: Any, folder: Path) -> Any:
    return module.utils.cpp_extension.load("cpp_extension_tests", HERE / "cpp_extension.cpp", build_directory=folder)


# ---- operators and elements


def test_operators_on_tensors(module: Any, extension: Any) -> None:
    x = module.linspace(-2, 2, 5, requires_grad=True)
    extension.gate(x, alpha=2.0).sum().backward()
    values = x.detach().numpy().astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-values))
    expected = (1 - sigmoid) * (values < 1) + 2 / (values + 3)
    assert np.allclose(extension.gate(x).detach().numpy(), expected)
    assert np.allclose(x.grad.numpy(), -sigmoid * (1 - sigmoid) * (values < 1) - 2 / (values + 3) ** 2, atol=1e-6)


def test_functions_and_methods(module: Any, extension: Any) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) - 4
    found = extension.pieces(module.from_numpy(a), module.from_numpy(b))
    both = np.concatenate([a, b], 1)
    expected = both[:, 1:3], a @ b.T, both.max(1), both.sum(0, keepdims=True)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.allclose(ours.numpy(), theirs)


def test_parts_are_written(module: Any, extension: Any) -> None:
    x = module.zeros(3, 2)
    assert extension.set_parts(x).tolist() == [[6], [8], [8]]
    assert x.tolist() == [[6, 6], [8, 1], [8, 1]]


def test_tensors_without_memory(module: Any, extension: Any) -> None:
    assert extension.twice(module.ones(0, 2)).shape == (0, 2)
    with pytest.raises(RuntimeError, match="Cannot access data pointer of Tensor .* on the device 'meta'"):
        extension.twice(module.ones(2, 2, device="meta"))


def test_tensors_of_values_and_over_memory(extension: Any) -> None:
    assert extension.of_values().tolist() == [2.5, 4.5]
    assert extension.borrowed_memory()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "float16", "bfloat16"])
def test_elements_of_each_type(module: Any, extension: Any, dtype: str) -> None:
    x = module.arange(6).reshape(2, 3).to(getattr(module, dtype))
    assert extension.twice(x.t()).tolist() == (x * 2).t().tolist()
    assert extension.twice(x).dtype is x.dtype


# ---- arguments


def test_arguments_and_results(module: Any, extension: Any) -> None:
    assert extension.takes() == ("01Floatcpu", 2.5)
    text, total = extension.takes(
        module.ones(2),
        (2, 3),
        module.float64,
        "cpu",
        text="x",
        flag=True,
        pair=[7, 0.25],
        named={"ab": module.ones(1)},
    )
    assert (text, total) == ("x17Doublecpu", 10.25)
    assert (extension.which(module.ones(1)), extension.which(2), extension.nothing()) == (1, 2, None)
    assert extension.gate.__doc__.startswith("gate(x: torch.Tensor, alpha: Number) -> torch.Tensor\n\na gate")
    assert extension.__doc__ == "Functions of tests." and extension.gate.__module__ == "cpp_extension_tests"


def test_wrong_arguments_are_named(module: Any, extension: Any) -> None:
    x = module.ones(1)
    for call, text in [
        (lambda: extension.gate(3), r"gate\(\).*argument 'x' \(position 1\) is a int"),
        (lambda: extension.gate(None), "argument 'x' .* is a NoneType"),
        (lambda: extension.gate(x, "a"), "argument 'alpha' .* is a str"),
        (lambda: extension.gate(), "argument 'x' is missing"),
        (lambda: extension.gate(x, beta=1), "unexpected keyword argument 'beta'"),
        (lambda: extension.gate(x, x=x), "multiple values for argument 'x'"),
        (lambda: extension.gate(x, 1, 2), "takes 2 positional arguments, but 3 were given"),
        (lambda: extension.takes(sizes=[1.5]), "argument 'sizes' .* is a list"),
        (lambda: extension.fail(2**70), "argument 'arg0' .* is a int"),
        (lambda: extension.which("x"), r"which\(arg0: torch.Tensor\) -> int: .*\n.*which\(arg0: float\) -> int"),
    ]:
        with pytest.raises(TypeError, match=f"(?s){text}"):
            call()


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        (0, RuntimeError, "^kind is 0$"),
        (1, ValueError, "^invalid$"),
        (2, IndexError, "^out of range$"),
        (3, ValueError, "^a value$"),
        (4, RuntimeError, "argument 'self' is an undefined tensor"),
        (5, RuntimeError, "an undefined tensor has no sizes"),
        (6, IndexError, "Dimension out of range"),
        (7, RuntimeError, "expected scalar type Double but found Float"),
        (8, RuntimeError, "a tensor of argument 'tensors' is undefined"),
        (9, NotImplementedError, "^\"fail\" not implemented for 'Int'$"),
        (10, RuntimeError, "^in a part$"),
        (11, RuntimeError, "unknown exception"),
    ],
)
def test_errors(extension: Any, kind: int, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        extension.fail(kind)


def test_errors_of_operators_are_caught_in_cpp(extension: Any) -> None:
    assert "must match the size of tensor b (3)" in extension.catches()


def test_without_the_lock(module: Any, extension: Any) -> None:
    """Tensors take the lock again; other threads run meanwhile."""
    results: list[float] = []
    threads = [
        threading.Thread(target=lambda: results.append(extension.without_lock(module.ones(2)).sum().item()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [202.0] * 4
    assert extension.multiply(module.ones(1), 3).item() == 3


# ---- autograd


def test_function_with_a_formula(module: Any, extension: Any) -> None:
    x = module.randn(3, dtype=module.float64, requires_grad=True)
    y = extension.scaled(x, 3.0)
    assert type(y.grad_fn).__name__ == "ScaledBackward"
    assert module.autograd.gradcheck(lambda t: extension.scaled(t, 3.0), (x,))
    assert not extension.scaled(x.detach(), 3.0).requires_grad


def test_gradients_are_asked_for(module: Any, extension: Any) -> None:
    x = module.tensor([1.0, 2.0], requires_grad=True)
    assert [g.tolist() for g in extension.gradient(x)] == [[2, 4], [2, 4]]


# ---- operators of its own


def test_operator_and_its_formula(module: Any, extension: Any) -> None:
    op = module.ops.vivace_test.muladd
    a, b = module.randn(2, 3), module.randn(3, 2).t()
    assert module.allclose(op(a, b, 2.5), a * b + 2.5)
    assert module.allclose(extension.call_muladd(a, b), a * b + 3)
    assert op(a.to("meta"), b.to("meta"), 1.0).shape == (2, 3)
    with module.library._scoped_library("vivace_test", "FRAGMENT") as library:
        module.library.register_autograd(
            "vivace_test::muladd",
            lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[0], None),
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2]),
            lib=library,
        )
        a.requires_grad_()
        extension.call_muladd(a, b).sum().backward()  # calls from C++ go through autograd
        assert module.equal(a.grad, b)
        module.library.opcheck(op.default, (a, b, 1.0))
    with pytest.raises(RuntimeError, match=r"^a is \[2, 3\], b is \[1\]$"):
        op(a.detach(), b[0, :1], 1.0)
    with pytest.raises(RuntimeError, match="Expected a.dtype.* to be true, but got false"):
        op(a.detach().double(), b, 1.0)
    with pytest.raises(TypeError, match="argument 'b' .* must be Tensor, not NoneType"):
        op(a, None, 1.0)


def test_kinds_of_operators(module: Any, extension: Any) -> None:
    ops = module.ops.vivace_test
    x = module.zeros(2)
    version = x._version
    assert ops.fill(x, 7) is None and x.tolist() == [7, 7] and x._version > version
    made, listed = ops.many([x, x], [0, 1, 2], "abcd", dtype=module.int64)
    assert made.tolist() == [7, 7] and made.dtype is module.int64 and listed[0] is x
    assert ops.many([x], dtype=module.float32)[0].tolist() == [0, 0]
    assert str(ops.inferred.default._schema) == "vivace_test::inferred(Tensor _0, int _1) -> Tensor"
    assert ops.inferred(x, 3).tolist() == [21, 21]
    kernel = module.library.get_kernel("vivace_test::muladd", "CPU")
    assert kernel.call_boxed(module._C.DispatchKeySet(), x, x, c=1.0).tolist() == [50, 50]


def test_names_of_the_stable_part(module: Any, folder: Path) -> None:
    source = """
    #include <torch/csrc/stable/library.h>
    #include <torch/csrc/stable/ops.h>
    #include <torch/csrc/stable/tensor.h>
    #include <torch/headeronly/core/ScalarType.h>
    torch::stable::Tensor negated(const torch::stable::Tensor& x) {
      STD_TORCH_CHECK(x.scalar_type() == torch::headeronly::ScalarType::Float);
      torch::stable::Tensor from = torch::stable::contiguous(x), result = torch::stable::empty_like(from);
      const float* in = from.const_data_ptr<float>();
      float* out = result.mutable_data_ptr<float>();
      for (int64_t i = 0; i < x.numel(); ++i) out[i] = -in[i];
      return result;
    }
    STABLE_TORCH_LIBRARY(vivace_test_stable, m) { m.def("negated(Tensor x) -> Tensor"); }
    STABLE_TORCH_LIBRARY_IMPL(vivace_test_stable, CPU, m) { m.impl("negated", TORCH_BOX(&negated)); }
    """
    module.utils.cpp_extension.load_inline(
        "stable_tests", source, build_directory=folder, is_python_module=False, no_implicit_headers=True
    )
    assert module.ops.vivace_test_stable.negated(module.ones(2)).tolist() == [-1, -1]


def test_kernels_for_autograd_and_autocast(module: Any, extension: Any) -> None:
    x = module.tensor([3.0], requires_grad=True)
    y = module.ops.vivace_test.square(x)
    y.backward()
    assert type(y.grad_fn).__name__ == "SquareBackward" and x.grad.item() == 6
    assert module.ops.vivace_test.square(x.detach()).item() == 9
    assert module.ops.vivace_test.older(x).item() == 4
    with module.autocast("cpu"):
        assert module.ops.vivace_test.square(x).dtype is module.bfloat16
    assert module.ops.vivace_test.square(x).dtype is module.float32


def test_headers_name_operators_that_exist(module: Any, extension: Any) -> None:
    importlib.import_module("vivace._dispatch")  # defines operators that modes see, under names of the catalogue's
    """Names and signatures in the generated header are the runtime's."""
    header = Path(module.utils.cpp_extension.include_paths()[0], "vivace", "operators", "functions.h").read_text()
    named = re.findall(r'Operator \w+\{"([^"]+)", "([^"]+)"\}', header)
    assert len(named) > 1000
    for qualname, signature in named:
        extension.find(qualname, signature)
    with pytest.raises(RuntimeError, match="aten::nonsense, which an extension calls, does not exist"):
        extension.find("aten::nonsense", ">T")
    with pytest.raises(
        RuntimeError, match=r"calls it as \(Tensor, int\) -> Tensor, but it is \(Tensor\) -> Tensor here"
    ):
        extension.find("aten::exp", "Ti>T")


def test_kernel_has_to_fit_the_schema(module: Any, extension: Any, folder: Path) -> None:
    source = """
    TORCH_LIBRARY(vivace_test_misfit, m) { m.def("f(Tensor x, int n) -> Tensor"); }
    at::Tensor f(const at::Tensor& x, double n) { return x * n; }
    TORCH_LIBRARY_IMPL(vivace_test_misfit, CPU, m) { m.impl("f", &f); }
    """
    load_inline = module.utils.cpp_extension.load_inline
    text = r"C\+\+ is \(Tensor, float\) -> Tensor, but the schema says \(Tensor, int\)"
    with pytest.raises(RuntimeError, match=text):
        load_inline("misfit", source, is_python_module=False, build_directory=folder)


def test_layers_see_what_cpp_calls(module: Any, extension: Any) -> None:
    x = module.randn(3, 2, 2)
    assert module.allclose(module.vmap(extension.gate)(x), extension.gate(x))
    with pytest.raises(RuntimeError, match="Cannot access data pointer"):
        module.vmap(extension.twice)(x)
    _, tangent = module.func.jvp(extension.gate, (x,), (module.ones_like(x),))
    x.requires_grad_()
    extension.gate(x).sum().backward()
    assert module.allclose(tangent, x.grad)
    seen: list[str] = []

    dispatch = importlib.import_module(f"{module.__name__}.utils._python_dispatch")

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    with Mode():
        extension.pieces(module.ones(1, 2), module.ones(1, 2))
        module.ops.vivace_test.muladd(module.ones(1), module.ones(1), 1.0)
    assert {"aten.cat.default", "aten.addmm.default", "vivace_test.muladd.default"} <= set(seen)


# ---- building and loading


def test_second_load_does_not_compile(module: Any, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def load(name: str = "inline_tests", text: str = "int64_t one() { return 1; }", **kwargs: Any) -> Any:
        return module.utils.cpp_extension.load_inline(
            name, text, functions=["one"], build_directory=folder, verbose=True, **kwargs
        )

    first = load()
    capfd.readouterr()
    start = time.perf_counter()
    assert load() is first and first.one() == 1
    assert capfd.readouterr().out == "" and time.perf_counter() - start < 1
    assert load(text="int64_t one() { return 2; }").one() == 2 and first.one() == 1
    with pytest.raises(RuntimeError, match="(?s)Error building extension 'inline_tests'.*error: .*nonsense"):
        load(text="int64_t one() { return nonsense; }")


def test_included_files_are_followed(module: Any, tmp_path: Path) -> None:
    (tmp_path / "part.h").write_text("#define RESULT 1\n")
    (tmp_path / "main.cpp").write_text(
        '#include "part.h"\n#include <torch/extension.h>\nint64_t f();\n'
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }\n'
    )
    (tmp_path / "other.cpp").write_text('#include "part.h"\n#include <cstdint>\nint64_t f() { return RESULT; }\n')
    load = module.utils.cpp_extension.load
    sources = [tmp_path / "main.cpp", tmp_path / "other.cpp"]
    assert load("parts_tests", sources, build_directory=tmp_path, extra_cflags="-std=c++17").f() == 1
    (tmp_path / "part.h").write_text("#define RESULT 2\n")
    assert load("parts_tests", sources, build_directory=tmp_path, extra_cflags="-std=c++17").f() == 2


def test_classes_by_pybind11(module: Any, folder: Path) -> None:
    pybind11 = pytest.importorskip("pybind11")
    source = """
    #include <pybind11/pybind11.h>
    #include <torch/extension.h>
    struct Counter {
      torch::Tensor total;
      void add(const std::vector<torch::Tensor>& list) {
        py::gil_scoped_release released;
        for (const auto& t : list) total = total + t;
      }
    };
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
      py::class_<Counter>(m, "Counter")
          .def(py::init<torch::Tensor>(), py::arg("start"))
          .def("add", &Counter::add)
          .def("fail", [](Counter& c) { c.total.select(9, 0); })
          .def_readonly("total", &Counter::total);
    }
    """
    load_inline = module.utils.cpp_extension.load_inline
    include = [pybind11.get_include()]
    built = load_inline(
        "classes_tests", source, build_directory=folder, extra_include_paths=include, no_implicit_headers=True
    )
    counter = built.Counter(start=module.zeros(2))
    counter.add([module.ones(2)] * 3)
    assert counter.total.tolist() == [3, 3]
    with pytest.raises(IndexError, match="Dimension out of range"):
        counter.fail()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        counter.add(1)


def test_what_is_not_there(module: Any) -> None:
    cpp_extension = module.utils.cpp_extension
    for call in (
        lambda: cpp_extension.CUDAExtension("x", ["x.cu"]),
        lambda: cpp_extension.load("x", ["x.cu"]),
        lambda: cpp_extension.load_inline("x", "", cuda_sources="x"),
        lambda: cpp_extension.load("x", ["x.cpp"], with_cuda=True),
    ):
        with pytest.raises(RuntimeError, match="vivace has no CUDA"):
            call()
    with pytest.raises(FileNotFoundError, match="no source /nowhere.cpp"):
        cpp_extension.load("x", ["/nowhere.cpp"])
    with pytest.raises(NotImplementedError, match="standalone"):
        cpp_extension.load("x", ["x.cpp"], is_standalone=True)


# ---- the table


def _table(module: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get(module._C._extension_api, b"vivace._C._extension_api")
    return ctypes.string_at(address, ctypes.c_uint32.from_address(address + 4).value)


@pytest.mark.parametrize(
    ("version", "size", "refusal"),
    [
        (0, 64, None),  # a table that has grown since
        (0, -8, "was built with a newer vivace"),
        (1, 0, "was built with an older vivace"),
        (-1, 0, "was built with a newer vivace"),
    ],
)
def test_versions_of_the_table(
    module: Any,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: int,
    size: int,
    refusal: str | None,
) -> None:
    built = module.utils.cpp_extension.load_inline(
        "table_tests", "at::Tensor f() { return at::ones({2}); }", functions="f", build_directory=folder
    )
    table = ctypes.create_string_buffer(_table(module) + bytes(64))
    fields = (ctypes.c_uint32 * 2).from_buffer(table)
    fields[0] += version
    fields[1] += size
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = make(ctypes.addressof(table), b"vivace._C._extension_api", None)
    monkeypatch.setattr(module._C, "_extension_api", capsule)
    copy = tmp_path / "table_tests.so"  # which has not looked for the table yet
    shutil.copy(built.__file__, copy)
    loader = importlib.machinery.ExtensionFileLoader("table_tests", str(copy))
    spec = importlib.util.spec_from_loader("table_tests", loader)
    assert spec is not None
    if refusal is None:
        assert importlib.util.module_from_spec(spec).f().tolist() == [1, 1]
    else:
        with pytest.raises(ImportError, match=refusal):
            importlib.util.module_from_spec(spec)
    _kept.append(table)  # the copy has its address
