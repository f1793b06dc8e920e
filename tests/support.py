"""Makes tensors from the catalogue's samples and calls entries, in vivace or any module with PyTorch's API.

The module under test is vivace; VIVACE_TEST_MODULE=torch runs the same tests on PyTorch, which shows that they ask for
the right thing. Values follow from the entry's name and the sample's number alone, so that recorded results stay valid.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from catalogue.kinds import Entry, Pointwise, discover
from catalogue.samples import Sample, Sampler, Spec

MODULE = os.environ.get("VIVACE_TEST_MODULE", "vivace")
# Relative and absolute tolerance of values, by dtype.
TOLERANCE = {
    "float16": (1e-2, 1e-3),
    "bfloat16": (5e-2, 1e-2),
    "float32": (1.3e-5, 1e-5),
    "float64": (1e-9, 1e-9),
    "complex64": (1.3e-5, 1e-5),
    "complex128": (1e-9, 1e-9),
}


def run_script(script: Path, folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that imports torch, with the module under test in its place: the one that was imported here, which
    need not be src/. `options` are the interpreter's."""
    runner = ["-m", "vivace"] if MODULE == "vivace" else []
    if runner:
        environment["PYTHONPATH"] = str(Path(importlib.import_module(MODULE).__file__ or "").parents[1])
    command = [sys.executable, *options, *runner, str(script)]
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)


@functools.cache
def entries() -> tuple[Entry, ...]:
    """All entries that a user can call."""
    return tuple(e for e in discover() if e.namespace != "private" and e.samples is not None)


def samples(entry: Entry) -> list[Sample]:
    """The entry's own, then one of its edge values: all of them, for two operands all pairs."""
    assert entry.samples is not None
    s = Sampler()
    found = entry.samples(s)
    operands = len(entry.operands) if isinstance(entry, Pointwise) and entry.edges else 0
    if operands in (1, 2):
        columns = zip(*itertools.product(entry.edges, repeat=operands), strict=True)
        edges = [replace(s.values(*column), requires_grad=False) for column in columns]
        found = [*found, Sample((*edges, *found[0].args[operands:]), found[0].kwargs)]
    return found


def load_module() -> Any:
    module = importlib.import_module(MODULE)
    importlib.import_module(f"{MODULE}.nn.functional")
    return module


def dtype_name(dtype: Any) -> str:
    """ "float32" for torch.float32."""
    return str(dtype).rpartition(".")[2]


def runtime_names(entry: Entry) -> list[str]:
    """The entry's dtypes by their public names, in a fixed order."""
    return sorted(name.lower() for name in entry.dtypes)


# ---- values


def values_of(spec: Spec, dtype: str, seed: str) -> np.ndarray[Any, Any]:
    """The numbers of a tensor, float64, complex128, int64 or bool."""
    if spec.values is not None:
        flat = np.array(spec.values)
        return flat.reshape(spec.shape)
    draw = np.random.RandomState(zlib.crc32(seed.encode()))
    uniform = draw.random_sample(spec.shape) * (spec.high - spec.low) + spec.low
    if dtype.startswith("complex"):
        return uniform + 1j * (draw.random_sample(spec.shape) * (spec.high - spec.low) + spec.low)
    if dtype == "bool":
        return np.floor(uniform) % 2 == 1 if spec.dtype == "bool" else uniform > 0
    if dtype.startswith(("int", "uint")):
        whole = np.floor(uniform).astype(np.int64)
        return np.abs(whole) if dtype.startswith("u") else whole
    return uniform


def tensor(module: Any, values: np.ndarray[Any, Any], dtype: str) -> Any:
    """A tensor of the module; NumPy has no bfloat16, so values go through a type that it has."""
    through = {"bfloat16": np.float32, "bool": np.bool_}.get(dtype) or np.dtype(dtype)
    return module.from_numpy(np.array(values, dtype=through)).to(getattr(module, dtype))


@dataclass(frozen=True)
class Call:
    """An entry's sample made concrete: arguments of one module, and the tensors among them."""

    module: Any
    entry: Entry
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def tensors(self) -> list[Any]:
        """All tensor arguments, lists opened, in order."""
        found = []
        for value in (*self.args, *self.kwargs.values()):
            found += [v for v in (value if isinstance(value, (list, tuple)) else [value]) if is_tensor(self.module, v)]
        return found

    @property
    def leaves(self) -> list[Any]:
        return [t for t in self.tensors if t.requires_grad]

    def map(self, change: Callable[[Any], Any]) -> Call:
        """The same call with every tensor changed."""

        def one(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)(one(v) for v in value)
            return change(value) if is_tensor(self.module, value) else value

        return replace(self, args=tuple(one(a) for a in self.args), kwargs={k: one(v) for k, v in self.kwargs.items()})

    def __call__(self, **more: Any) -> Any:
        """The result; random operators draw the same numbers in every call, and what is written in place is a copy."""
        self.module.manual_seed(0)
        args = self.args
        if self.entry.name.endswith("_"):
            args = (args[0].clone(), *args[1:])
        return resolve(self.module, self.entry)(*args, **self.kwargs, **more)


def draws_numbers(call: Call) -> bool:
    """Whether the entry is random: a second call without a new seed gives something else."""
    first = outputs(call.module, call())
    second = outputs(call.module, resolve(call.module, call.entry)(*call.args, **call.kwargs))
    return not all(np.array_equal(array(a), array(b), equal_nan=True) for a, b in zip(first, second, strict=True))


def is_tensor(module: Any, value: Any) -> bool:
    return isinstance(value, module.Tensor)


def resolve(module: Any, entry: Entry, name: str = "", method: bool = False) -> Callable[..., Any]:
    """What a user would call: the function, else the method (first the method if asked for)."""
    name = name or entry.name
    if "function" in entry.variants and not method:
        place = module
        for part in () if entry.namespace == "torch" else entry.namespace.split("."):
            place = getattr(place, part)
        return getattr(place, name)  # type: ignore[no-any-return]
    if "property" in entry.variants:
        return lambda t: getattr(t, name)
    return getattr(module.Tensor, name)  # type: ignore[no-any-return]


def make(module: Any, entry: Entry, number: int, dtype: str | None = None, grad: bool = False) -> Call:
    """Sample `number` of an entry. `dtype` replaces float32; `grad` makes leaves of the tensors that may require it."""
    sample = samples(entry)[number]
    arguments = entry.schemas[0].arguments
    count = 0

    def convert(value: Any, kind: str) -> Any:
        nonlocal count
        if isinstance(value, Spec):
            count += 1
            return from_spec(value, f"{entry.id}/{number}/{count}")
        if isinstance(value, (list, tuple)):
            return type(value)(convert(v, kind) for v in value)
        if isinstance(value, str) and kind in ("ScalarType", "MemoryFormat", "Layout"):
            return getattr(module, value)
        return value

    def from_spec(spec: Spec, seed: str) -> Any:
        name = dtype if dtype and spec.dtype == "float32" else spec.dtype
        values = values_of(spec, name, seed)
        if spec.permuted:
            reverse = tuple(reversed(range(values.ndim)))
            t = tensor(module, np.ascontiguousarray(values.transpose(reverse)), name).permute(reverse)
        else:
            t = tensor(module, values, name)
        wants = grad and spec.requires_grad and name.startswith(("float", "bfloat", "complex"))
        return t.requires_grad_() if wants else t

    kinds = {a.name: a.type.base for a in arguments} | {a.keyword: a.type.base for a in arguments}
    positional = [a.type.base for a in arguments] + [""] * len(sample.args)
    args = tuple(convert(v, k) for v, k in zip(sample.args, positional, strict=False))
    kwargs = {k: convert(v, kinds.get(k, "")) for k, v in sample.kwargs}
    return Call(module, entry, args, kwargs)


# ---- results


def outputs(module: Any, result: Any) -> list[Any]:
    """The tensors (or numbers) of a result, as a list."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def array(value: Any) -> Any:
    """A NumPy array of a tensor's elements; half types as float32."""
    if not hasattr(value, "detach"):
        return np.asarray(value)
    name = dtype_name(value.dtype)
    value = value.detach().clone()
    if name in ("bfloat16", "float16"):
        value = value.float()
    return (value.resolve_conj() if hasattr(value, "resolve_conj") else value).numpy()


def dtype_of(value: Any) -> str:
    return dtype_name(value.dtype) if hasattr(value, "dtype") else type(value).__name__


def assert_close(got: Any, want: Any, dtype: str, what: str, factor: float = 1.0) -> None:
    """Values within the tolerance of the dtype, NaN equal to NaN; shapes equal."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    relative, absolute = TOLERANCE.get(dtype, (0.0, 0.0))
    np.testing.assert_allclose(got, want, relative * factor, absolute * factor, equal_nan=True, err_msg=what)


def numbered(entry: Entry) -> Iterator[tuple[int, str]]:
    """Each sample's number, and how failures name it."""
    for number, sample in enumerate(samples(entry)):
        yield number, f"{entry.id}{sample}"


def specs(entry: Entry, number: int) -> list[Spec]:
    """The tensors that a sample asks for, lists opened."""
    sample = samples(entry)[number]
    found: list[Spec] = []
    for value in (*sample.args, *(v for _, v in sample.kwargs)):
        found += [v for v in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(v, Spec)]
    return found


# ---- gradients


def cotangents(call: Call, result: Any) -> list[tuple[Any, Any]]:
    """Each differentiable output with the fixed direction that gradients are taken along."""
    pairs = []
    for i, out in enumerate(outputs(call.module, result)):
        if is_tensor(call.module, out) and out.requires_grad:
            name = dtype_name(out.dtype)
            values = values_of(Spec(tuple(out.shape), low=-1.0, high=1.0), name, f"{call.entry.id}/cotangent/{i}")
            pairs.append((out, tensor(call.module, values, name)))
    return pairs


def gradients(call: Call, create_graph: bool = False) -> list[Any] | None:
    """Gradients of all leaves (None for those not reached); None if no output requires grad."""
    pairs = cotangents(call, call())
    if not pairs:
        return None
    outs, directions = zip(*pairs, strict=True)
    return list(call.module.autograd.grad(outs, call.leaves, directions, create_graph=create_graph, allow_unused=True))


def directions(module: Any, like: list[Any], seed: str) -> list[Any]:
    """Fixed tensors of the sizes and dtypes of others."""
    names = [dtype_name(t.dtype) for t in like]
    return [
        tensor(module, values_of(Spec(tuple(t.shape), low=-1.0, high=1.0), name, f"{seed}/{i}"), name)
        for i, (t, name) in enumerate(zip(like, names, strict=True))
    ]


def directional(call: Call, f: Callable[[Call], float], seed: str, step: float) -> tuple[float, list[Any]]:
    """(f(x + step d) - f(x - step d)) / (2 step) along a fixed direction d of all leaves, and d."""
    moves = directions(call.module, call.leaves, seed)
    by_id = {id(t): d for t, d in zip(call.leaves, moves, strict=True)}

    def moved(sign: float) -> float:
        with call.module.no_grad():
            points = {i: t.detach() + (sign * step) * by_id[i] for i, t in ((id(t), t) for t in call.leaves)}
        return f(call.map(lambda t: points[id(t)].requires_grad_() if id(t) in points else t))

    return (moved(1.0) - moved(-1.0)) / (2 * step), moves


def inner(module: Any, left: list[Any], right: list[Any]) -> float:
    """Real part of the sum of conj(left) * right over lists of tensors; None counts as zero."""
    return float(
        sum(
            np.sum(np.conj(array(a)) * array(b)).real
            for a, b in zip(left, right, strict=True)
            if a is not None and b is not None
        )
    )
