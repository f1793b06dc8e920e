"""Random calls of an operator: a sample of the catalogue, or arguments made up from the schema, with some of it spoilt.

All of a call follows from its label "ENTRY#NUMBER", so that one can be made again alone.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from catalogue.kinds import Entry, discover
from codegen.model import Argument
from tests import support

DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
EXTENTS = (0, 1, 1, 2, 3, 4, 5, 17)
DIMENSIONS = (0, 1, 1, 2, 2, 3, 4, 5, 7)
SMALL = (0, 1, 1, 2, 2, 3, -1, -2, 5)
INTEGERS = (
    0,
    1,
    -1,
    2,
    3,
    -5,
    7,
    64,
    255,
    2**31,
    -(2**31),
    2**32 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    10**30,
)
NUMBERS = (
    0.0,
    -0.0,
    0.5,
    -2.5,
    1e-45,
    1e30,
    1e308,
    float("inf"),
    float("-inf"),
    float("nan"),
    1 + 2j,
    complex("nan+infj"),
)
STRANGE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "text",
    "\ud800",
    b"b",
    (),
    [],
    {},
    [None],
    [1, "a"],
    [[1], [2]],
)
KEYWORDS = ("dim", "dtype", "out", "keepdim", "input", "self", "other", "nonsense", "device", "generator", "axis")


@functools.cache
def entries() -> dict[str, Entry]:
    """All entries that a user can call, by id."""
    return {e.id: e for e in discover() if e.namespace != "private"}


@dataclass
class Call:
    """A call that can be made once: operators may write into its arguments."""

    name: str
    function: Callable[..., Any]
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    grad: str = ""  # what follows: "", "backward" or "create_graph"
    mode: str = ""  # "", "no_grad" or "inference_mode"

    def __str__(self) -> str:
        parts = [text(a) for a in self.args] + [f"{k}={text(v)}" for k, v in self.kwargs.items()]
        call = f"{self.name}({', '.join(parts)})"
        return " ".join(filter(None, (self.mode, call, self.grad and f"then {self.grad}")))


def text(value: Any) -> str:
    """A tensor's metadata, another value's repr."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(v) for v in value) + "]"
    if not hasattr(value, "stride"):
        return repr(value)
    layout = "" if value.is_contiguous() else f" strides {list(value.stride())}"
    marks = (" meta" if value.is_meta else "") + (" grad" if value.requires_grad else "")
    return f"{support.dtype_name(value.dtype)}{list(value.shape)}{layout}{marks}"


def leaves(value: Any, module: Any) -> list[Any]:
    """The tensors in nested lists and dicts."""
    if isinstance(value, module.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [t for v in value for t in leaves(v, module)]


class Maker:
    """Makes the call of a label."""

    def __init__(self, module: Any, label: str) -> None:
        self.module = module
        self.entry = entries()[label.rpartition("#")[0]]
        self.random = random.Random(label)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def call(self) -> Call:
        ready = sample_calls(self.module, self.entry.id)
        if ready and self.chance(0.85):
            sample = self.random.choice(ready).map(lambda t: t.detach().clone())
            args, kwargs = list(sample.args), dict(sample.kwargs)
        else:
            args, kwargs = self.from_schema()
        self.spoil(args, kwargs)
        call = self.form(args, kwargs)
        call.grad = self.random.choice(("", "backward", "create_graph"))
        call.mode = self.random.choice(("no_grad", "inference_mode")) if self.chance(0.06) else ""
        return call

    # ---- forms

    def form(self, args: list[Any], kwargs: dict[str, Any]) -> Call:
        """Function, method, in place or out=, as far as the entry has them."""
        entry, tensor = self.entry, self.module.Tensor
        forms = [*entry.variants, *["inplace", "out"] * 2]
        form = self.random.choice(sorted(forms))
        if form == "method" or (form == "inplace" and entry.inplace and hasattr(tensor, entry.name + "_")):
            name = entry.name + ("_" if form == "inplace" else "")
            return Call(f"Tensor.{name}", getattr(tensor, name), args, kwargs)
        place = "" if entry.namespace == "torch" else entry.namespace + "."
        if form == "inplace" and entry.inplace:
            return Call(f"{place}{entry.name}_", support.resolve(self.module, entry, entry.name + "_"), args, kwargs)
        if form == "property" or entry.variants == {"property"}:
            return Call(f"Tensor.{entry.name}", getattr(tensor, entry.name).__get__, args, kwargs)
        call = Call(place + entry.name, support.resolve(self.module, entry), args, kwargs)
        if form == "out" and entry.out:
            kwargs["out"] = self.out(call)
        return call

    def out(self, call: Call) -> Any:
        """Where a result might go: of the right metadata or not, apart from the inputs or not."""
        inputs = leaves([call.args, call.kwargs], self.module)
        returns = len(self.entry.schemas[0].returns)
        outs = [self.tensor() for _ in range(returns)]
        if self.chance(0.6):
            try:
                outs = [t.detach().clone() for t in leaves([call.function(*call.args, **call.kwargs)], self.module)]
            except Exception:  # the call proper shows it
                return outs[0] if returns == 1 else tuple(outs)
        outs = [self.spoilt_tensor(t, inputs) if self.chance(0.5) else t for t in outs]
        return outs[0] if len(outs) == 1 else self.random.choice((tuple, list))(outs)

    # ---- arguments

    def from_schema(self) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for argument in self.random.choice(self.entry.schemas).arguments:
            if not argument.required and self.chance(0.6):
                continue
            if argument.keyword_only or kwargs or (not argument.required and self.chance(0.5)):
                kwargs[argument.name] = self.of_type(argument)
            else:
                args.append(self.of_type(argument))
        return args, kwargs

    def of_type(self, argument: Argument) -> Any:
        if argument.type.optional and self.chance(0.3):
            return None
        if argument.type.is_list:
            size = argument.type.list_size or self.random.choice((0, 1, 2, 2, 3, 4))
            return [self.of_base(argument.type.base) for _ in range(size)]
        return self.of_base(argument.type.base)

    def of_base(self, base: str) -> Any:
        choose, module = self.random.choice, self.module
        match base:
            case "Tensor":
                return self.tensor()
            case "int":
                return choose(SMALL)
            case "float" | "Scalar":
                return choose((*SMALL, 0.5, 1.5, -0.25))
            case "bool":
                return self.chance(0.5)
            case "ScalarType":
                return getattr(module, choose(DTYPES))
            case "MemoryFormat":
                return choose((module.contiguous_format, module.preserve_format, module.channels_last))
            case "Layout":
                return module.strided
            case "Device":
                return choose(("cpu", "cpu", "meta", "cuda", "cpu:7"))
            case "Generator":
                return module.default_generator
            case "str":
                return choose(("mean", "sum", "none", "floor", "trunc", "ij", "reflect", "fro", "left"))
        raise AssertionError(f"no values for the type {base}")

    def tensor(self) -> Any:
        shape = [self.random.choice(EXTENTS[:7]) for _ in range(self.random.choice(DIMENSIONS[:7]))]
        dtype = self.random.choice(("float32", "float32", "float64", "int64", "bool", *DTYPES))
        t = self.module.zeros(shape).fill_(self.random.choice((0, 1, 2))).to(getattr(self.module, dtype))
        return t.cumsum(-1).to(t.dtype) if t.dim() and self.chance(0.5) else t

    # ---- what is spoilt

    def spoil(self, args: list[Any], kwargs: dict[str, Any]) -> None:
        """One to four changes, of which those of tensors are most."""
        module = self.module
        if self.chance(0.2):
            self.convert_all(args, kwargs, getattr(module, self.random.choice(DTYPES)))
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3, 4))):
            places: list[tuple[Any, Any]] = [(args, i) for i in range(len(args))] + [(kwargs, k) for k in kwargs]
            kind = self.random.random()
            if kind < 0.06 or not places:
                self.spoil_signature(args, kwargs)
                continue
            holder, key = self.random.choice(places)
            holder[key] = self.spoilt(holder[key], leaves([args, kwargs], module), kind)
        if self.chance(0.5):
            for t in leaves([args, kwargs], module):
                if (t.is_floating_point() or t.is_complex()) and t.is_leaf and self.chance(0.8):
                    t.requires_grad_()
            if args and isinstance(args[0], module.Tensor) and args[0].requires_grad and self.chance(0.6):
                args[0] = args[0].clone()  # no leaf, so that it may be written to
        if self.chance(0.04):
            self.convert_all(args, kwargs, "meta")

    def convert_all(self, args: list[Any], kwargs: dict[str, Any], target: Any) -> None:
        def convert(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)([convert(v) for v in value])
            floats = isinstance(value, self.module.Tensor) and (target == "meta" or value.is_floating_point())
            return value.to(target) if floats else value

        args[:] = [convert(a) for a in args]
        kwargs.update({k: convert(v) for k, v in kwargs.items()})

    def spoil_signature(self, args: list[Any], kwargs: dict[str, Any]) -> None:
        """An argument too few, too many, twice, or of no known name."""
        match self.random.randrange(5):
            case 0 if args:
                del args[self.random.randrange(len(args))]
            case 1 if kwargs:
                del kwargs[self.random.choice(sorted(kwargs))]
            case 2:
                args.insert(self.random.randint(0, len(args)), self.anything())
            case 3 if args:
                kwargs[self.random.choice([a.name for a in self.entry.schemas[0].arguments])] = args[-1]
            case _:
                kwargs[self.random.choice(KEYWORDS)] = self.anything()

    def anything(self) -> Any:
        choices = (
            self.random.choice(STRANGE),
            self.random.choice(INTEGERS),
            self.random.choice(NUMBERS),
            self.tensor(),
        )
        return self.random.choice((*choices, self.module.float64, self.module.Size([2]), ...))

    def spoilt(self, value: Any, others: list[Any], kind: float) -> Any:
        if kind < 0.12:
            return self.anything()
        if isinstance(value, self.module.Tensor):
            return self.spoilt_tensor(value, others)
        if isinstance(value, (list, tuple)):
            return self.spoilt_list(list(value), others, kind)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self.random.choice(INTEGERS if self.chance(0.6) else SMALL)
        if isinstance(value, (float, complex)):
            return self.random.choice(NUMBERS)
        return value

    def spoilt_list(self, items: list[Any], others: list[Any], kind: float) -> Any:
        match self.random.randrange(6):
            case 0:
                items = items[:-1]
            case 1:
                items = items + items[:1]
            case 2:
                items = items * self.random.choice((0, 2, 40))
            case _ if items:
                i = self.random.randrange(len(items))
                items[i] = self.spoilt(items[i], others, kind)
        return self.random.choice((tuple, list))(items)

    def spoilt_tensor(self, t: Any, others: list[Any]) -> Any:
        """Another dtype, shape, layout, device or values, or memory shared with another argument."""
        module, choose = self.module, self.random.choice
        match self.random.randrange(12):
            case 0 | 1:
                return t.to(getattr(module, choose(DTYPES)))
            case 2:
                return self.tensor()
            case 3:
                return t.reshape([t.numel()]) if self.chance(0.5) else t.unsqueeze(self.random.randint(0, t.dim()))
            case 4 if t.dim():
                return t.select(self.random.randrange(t.dim()), 0) if 0 not in t.shape else t.sum(0)
            case 5 if t.dim() and 0 not in t.shape:
                return t.narrow(self.random.randrange(t.dim()), 0, choose((0, 1)))
            case 6 if t.dim() in (4, 5) and self.chance(0.6):
                channels_last = module.channels_last if t.dim() == 4 else module.channels_last_3d
                return t.contiguous(memory_format=channels_last)
            case 6 if t.dim() > 1:
                return t.transpose(*self.random.sample(range(t.dim()), 2)).contiguous().transpose(0, -1)
            case 7 if t.dim() and t.numel():
                return t[:1].expand(t.shape)
            case 8 if t.dim():
                return module.stack([t, t], -1)[..., 0]  # every second element
            case 9 if t.numel():
                flat = t.reshape(-1).clone()
                flat[self.random.randrange(t.numel())] = choose(self.extremes(t))
                return flat.reshape(t.shape)
            case 10 if others:
                other = choose(others)
                return choose(
                    (
                        other,
                        other.detach(),
                        other[1:] if other.dim() else other,
                        other.view(-1)[:0].detach() if other.is_contiguous() else other,
                    )
                )
            case 11 if self.chance(0.3):
                return t.to("meta")
            case _:
                return t.t() if t.dim() == 2 else t.flip(0) if t.dim() else t.expand(choose(EXTENTS))

    def extremes(self, t: Any) -> tuple[Any, ...]:
        if t.dtype.is_floating_point or t.dtype.is_complex:
            return (float("nan"), float("inf"), -float("inf"), -0.0, 1e4, -1e4)
        limits = self.module.iinfo(t.dtype) if t.dtype != self.module.bool else None
        return (limits.min, min(limits.max, 2**63 - 1), 0, 100) if limits else (True, False)


@functools.cache
def sample_calls(module: Any, entry_id: str) -> list[support.Call]:
    """The samples of an entry, with tensors that are not to be written to."""
    entry = entries()[entry_id]
    count = len(support.samples(entry)) if entry.samples is not None else 0
    return [support.make(module, entry, number) for number in range(count)]
