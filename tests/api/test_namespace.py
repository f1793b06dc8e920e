"""The namespace: what it holds, what loading it costs, and small functions of it."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def test_version(module: Any) -> None:
    assert module.__version__.startswith("2.13.0")


def test_import_brings_little_with_it() -> None:
    import vivace

    source = str(Path(vivace.__file__).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        "import vivace, vivace.nn, vivace.optim\n"
        "vivace.nn.Linear(2, 2)(vivace.ones(1, 2)).sum().item()\n"
        "print([m for m in ('numpy', 'importlib.metadata', 'scipy_openblas32', 'inspect') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("path", ["cuda", "backends.cudnn", "backends.mps", "version", "types", "testing", "special"])
def test_submodules_load_when_named(module: Any, path: str) -> None:
    for part in path.split("."):
        module = getattr(module, part)


def test_no_cuda(module: Any) -> None:
    assert not module.cuda.is_available()
    assert module.cuda.device_count() == 0
    module.cuda.manual_seed_all(0)
    with pytest.raises((RuntimeError, AssertionError)):
        module.cuda.synchronize()


def test_rng_state(module: Any) -> None:
    state = module.get_rng_state()
    first = module.rand(3).tolist()
    module.set_rng_state(state)
    assert module.rand(3).tolist() == first
    with module.random.fork_rng():
        module.rand(5)
    second = module.rand(3).tolist()
    module.set_rng_state(state)
    assert [module.rand(3).tolist(), module.rand(3).tolist()] == [first, second]


def test_generator(module: Any) -> None:
    g = module.Generator()
    assert g.manual_seed(5) is g
    assert g.initial_seed() == 5
    before = module.rand(2, generator=g).tolist()
    assert module.rand(2, generator=module.Generator().manual_seed(5)).tolist() == before
    copied = g.clone_state()
    assert module.rand(1, generator=copied).item() == module.rand(1, generator=g).item()
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    with pytest.raises((RuntimeError, TypeError)):
        g.set_state(module.zeros(5, dtype=module.uint8))


def test_deepcopy_keeps_sharing(module: Any) -> None:
    x = module.rand(4)
    a, b = copy.deepcopy([x, x.view(2, 2)])
    a[0] = 9
    assert b[0, 0].item() == 9
    assert x[0].item() != 9
    p = copy.deepcopy(module.nn.Parameter(module.ones(2)))
    assert isinstance(p, module.nn.Parameter)
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(p * 2)


def test_pickle(module: Any) -> None:
    x = module.rand(3, 2).t()
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()


def test_typed_classes(module: Any) -> None:
    assert module.LongTensor([1, 2]).dtype == module.int64
    assert module.FloatTensor(2, 3).shape == (2, 3)
    assert isinstance(module.ones(1), module.FloatTensor)
    assert module.ones(1).type() == "torch.FloatTensor"
    assert module.ones(1).type(module.int64).dtype == module.int64


def test_assert_close(module: Any) -> None:
    assert_close = module.testing.assert_close
    assert_close(module.ones(2), module.ones(2) + 1e-7)
    assert_close({"a": [1, 2.0]}, {"a": [1, 2.0]})
    with pytest.raises(AssertionError, match=r"Mismatched elements: 1 / 2 \(50.0%\)"):
        assert_close(module.ones(2), module.tensor([1.0, 2.0]))
    with pytest.raises(AssertionError, match="shape"):
        assert_close(module.ones(2), module.ones(3))
    with pytest.raises(AssertionError, match="dtype"):
        assert_close(module.ones(2), module.ones(2).double())
    with pytest.raises(AssertionError, match="Scalars are not close"):
        assert_close(1.0, 1.1)
    assert_close(np.ones(2), np.ones(2))
    for actual, expected in ((module.ones(1), np.ones(1)), (1.0, module.tensor(1.0)), ("a", "a")):
        with pytest.raises(TypeError, match="No comparison pair was able to handle"):
            assert_close(actual, expected)


def test_threads(module: Any) -> None:
    n = module.get_num_threads()
    module.set_num_threads(2)
    assert module.get_num_threads() == 2
    module.set_num_threads(n)
    with pytest.raises(RuntimeError):
        module.set_num_threads(0)


def test_the_module_holds_itself(module: Any) -> None:
    assert module.torch is module


def test_a_number_may_come_first(module: Any) -> None:
    x = module.tensor([1, 2], dtype=module.int16)
    assert module.add(2, x, alpha=3).tolist() == [5, 8]
    assert module.mul(2, x).dtype == module.int16
    assert module.mul(2.5, x).tolist() == [2.5, 5.0]
    w = module.ones(2, requires_grad=True)
    module.multiply(3, w).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_a_singular_matrix_has_two_names(module: Any) -> None:
    with pytest.raises(module.linalg.LinAlgError) as caught:
        module.linalg.inv(module.zeros(2, 2))
    assert caught.type is module._C._LinAlgError


def test_every_lazy_module_loads() -> None:
    code = """
import sys, vivace
for name, module in sorted(sys.modules.items()):
    if name.startswith("vivace."):
        assert module.__file__, name
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", ["distributions", "optim", "optim.lr_scheduler", "nn.modules"])
def test_dictionaries_of_packages_hold_all_names(path: str) -> None:
    code = (
        f"import vivace; package = vivace.{path}; print(set(package.__all__) <= set(vars(package)), len(dir(package)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("True")


def test_functions_say_what_they_do_and_helpers_are_private() -> None:
    import vivace

    helpers = {"add_late_names", "add_lazy_modules", "lazy_function", "LEGACY_CLASSES"}
    assert not helpers & set(dir(vivace))
    for space in (vivace, vivace.nn.functional):
        public = {name: value for name, value in vars(space).items() if name[0] != "_" and callable(value)}
        assert [name for name, value in public.items() if not value.__doc__] == []


def test_names_that_load_late_are_listed() -> None:
    code = (
        "import inspect, importlib\n"
        "for path in ('nn', 'nn.utils', 'optim', 'utils', 'distributions', 'autograd', 'backends', 'fx'):\n"
        "    package = importlib.import_module('vivace.' + path)\n"
        "    print(*(f'{path}.{name}' for name in dir(package)))\n"
        "    inspect.getmembers(package)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wanted = {"nn.Conv2d", "nn.utils.prune", "optim.Adam", "utils.data", "distributions.Normal", "backends.mps"}
    assert wanted <= set(result.stdout.split())


def test_code_of_modules_runs_once() -> None:
    code = """
import importlib, importlib._bootstrap_external as external, sys
runs, run = [], external._LoaderBasics.exec_module
external._LoaderBasics.exec_module = lambda self, module: (runs.append(module.__name__), run(self, module))
import vivace
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    assert module is sys.modules[name] and module.__spec__.name == name
    assert importlib.reload(module) is module
    runs.remove(name)
assert len(runs) == len(set(runs)), [name for name in runs if runs.count(name) > 1]
"""
    names = ("nn.functional", "nn.parameter", "amp.grad_scaler", "autograd.variable", "multiprocessing.reductions")
    command = [sys.executable, "-c", code, *(f"vivace.{name}" for name in names)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
