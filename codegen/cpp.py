"""How schema types and values are spelled in C++."""

from __future__ import annotations

import math

from codegen.model import Argument, Return, Symbol, Type

DROPPED = frozenset({"layout", "pin_memory", "requires_grad"})
"""Arguments that are parsed but not passed to kernels: checked, without meaning here, or handled by the wrapper."""

_CPP = {
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": "DType",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
    "Layout": "int64_t",
    "needs": "Needs",
}
_LISTS = {
    "int": "IntList",
    "float": "std::span<const double>",
    "Scalar": "std::span<const Scalar>",
    "bool": "IntList",
    "Tensor": "TensorList",
}
_KINDS = {
    "Tensor": "Tensor",
    "Scalar": "Scalar",
    "int": "Int",
    "float": "Float",
    "bool": "Bool",
    "str": "String",
    "ScalarType": "DType",
    "Device": "Device",
    "Layout": "Layout",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
    "Object": "Object",
}
_LIST_KINDS = {
    "int": "IntList",
    "bool": "IntList",
    "float": "FloatList",
    "Scalar": "ScalarList",
    "Tensor": "TensorList",
}
_KEYWORD_TEXT = """
    and auto bool break case catch char class const continue default delete do double else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new not operator or private protected public
    register return short signed sizeof static struct switch template this throw true try typedef typename union
    unsigned using virtual void volatile while xor
"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())
DTYPES = {
    "float": "Float32",
    "float32": "Float32",
    "double": "Float64",
    "float64": "Float64",
    "long": "Int64",
    "int64": "Int64",
    "int": "Int32",
    "int32": "Int32",
    "bool": "Bool",
}
_FORMATS = {
    "contiguous_format": "Contiguous",
    "preserve_format": "Preserve",
    "channels_last": "ChannelsLast",
    "channels_last_3d": "ChannelsLast3d",
}
_REDUCTIONS = {"None": 0, "Mean": 1, "Sum": 2}


def identifier(name: str) -> str:
    """A C++ name for an argument or operator; keywords get an underscore."""
    return name + "_" if name in _KEYWORDS else name


def string(text: str) -> str:
    """A C++ string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def type_of(t: Type) -> str:
    """The type of an argument in kernels and call wrappers."""
    if t.is_list:
        name = _LISTS[t.base]
        return f"std::optional<{name}>" if t.optional else name
    if t.base == "Tensor":
        return "Tensor*" if t.optional else "Tensor&"
    if t.base == "Scalar":
        return "const Scalar*" if t.optional else "const Scalar&"
    if t.base in ("Generator", "Object"):
        return "Object*"
    return f"std::optional<{_CPP[t.base]}>" if t.optional else _CPP[t.base]


def result_of(returns: tuple[Return, ...]) -> str:
    """The type that functional kernels and call wrappers return."""
    if not returns:
        return "void"
    if len(returns) > 1:
        return f"std::tuple<{', '.join(result_of((r,)) for r in returns)}>"
    t = returns[0].type
    if t.base == "Tensor":
        return "std::vector<TensorRef>" if t.is_list else "TensorRef"
    if t.base == "Object":
        return "Ref<Object>"
    return "Scalar" if t.base == "Scalar" else _CPP[t.base]


def kind_of(a: Argument) -> str:
    """The enumerator of ArgKind."""
    if a.type.is_list:
        return "IndexList" if a.type.element_optional else _LIST_KINDS[a.type.base]
    return _KINDS[a.type.base]


def passed(arguments: tuple[Argument, ...]) -> list[tuple[int, Argument]]:
    """The arguments that a kernel gets, with their places in the Value array."""
    return [(i, a) for i, a in enumerate(arguments) if a.name not in DROPPED and not a.is_output]


def unboxed(arguments: tuple[Argument, ...], array: str = "a") -> list[str]:
    return [f"unbox<{type_of(a.type)}>({array}[{i}])" for i, a in passed(arguments)]


def parameters(arguments: tuple[Argument, ...], defaults: bool = False) -> str:
    """The parameters of a call wrapper or kernel; `defaults`: as in a header, for the last arguments that have them."""
    given = [a for _, a in passed(arguments)]
    first = len(given)
    while defaults and first > 0 and not given[first - 1].required:
        first -= 1
    parts = []
    for i, a in enumerate(given):
        text = f"{type_of(a.type)} {identifier(a.name)}"
        parts.append(f"{text} = {default_argument(a)}" if i >= first else text)
    return ", ".join(parts)


def number(value: float) -> str:
    """A number as a C++ literal."""
    if isinstance(value, float) and math.isnan(value):
        return '__builtin_nan("")'
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "-__builtin_inf()" if value < 0 else "__builtin_inf()"
    return repr(value)


def scalar(value: bool | int | float | complex) -> str:
    """A Python number as a Scalar."""
    if isinstance(value, bool):
        return f"Scalar({str(value).lower()})"
    if isinstance(value, complex):
        return f"Scalar({number(value.real)}, {number(value.imag)})"
    return f"Scalar({number(value)})"


def default_argument(a: Argument) -> str:
    """A default in a C++ declaration."""
    t, value = a.type, a.default
    if value is None:
        return "{}" if t.optional and not t.is_tensor and t.base not in ("Scalar", "Generator", "Object") else "nullptr"
    if t.is_list:
        values = list_default(a)
        return f"IntList({ints(values)})" if values else "{}"
    if isinstance(value, Symbol):
        return symbol(t, value)
    if isinstance(value, bool):
        return f"Scalar({str(value).lower()})" if t.base == "Scalar" else str(value).lower()
    if isinstance(value, str):
        return string(value)
    if t.base == "Scalar":
        return f"Scalar({number(value)})"
    return number(float(value) if t.base == "float" else value)


def symbol(t: Type, value: Symbol) -> str:
    if t.base == "ScalarType":
        return f"DType::{DTYPES[value.name]}"
    if t.base == "MemoryFormat":
        return f"MemoryFormat::{_FORMATS[value.name]}"
    return str(_REDUCTIONS[value.name])


def list_default(a: Argument) -> tuple[int, ...]:
    """`int[2] stride=1` stands for (1, 1)."""
    if isinstance(a.default, tuple):
        return tuple(int(v) for v in a.default)
    return (int(a.default),) * (a.type.list_size or 1)


def ints(values: tuple[int, ...]) -> str:
    """The constant array that holds a list default."""
    return f"kInts<{', '.join(map(str, values))}>"


def default_value(a: Argument) -> str:
    """A default as a constant-initialised Value."""
    t, value = a.type, a.default
    if value is None or a.required:
        return ""
    if t.is_list:
        values = list_default(a)
        if not values:
            return "{.ints = nullptr, .count = 0, .tag = Tag::IntList}"
        return f"{{.ints = {ints(values)}, .count = {len(values)}, .tag = Tag::IntList}}"
    if isinstance(value, Symbol):
        tag = {"ScalarType": "DType", "MemoryFormat": "MemoryFormat"}.get(t.base, "Int")
        return f"{{.i = int64_t({symbol(t, value)}), .tag = Tag::{tag}}}"
    if isinstance(value, str):
        return f"{{.chars = {string(value)}, .count = {len(value)}, .tag = Tag::String}}"
    if isinstance(value, bool):
        return f"{{.i = {int(value)}, .tag = Tag::Bool}}"
    if isinstance(value, float) or t.base == "float":
        return f"{{.f = {number(float(value))}, .tag = Tag::Float}}"
    return f"{{.i = {value}, .tag = Tag::Int}}"
