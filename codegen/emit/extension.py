"""The headers that C++ extensions call operators by: functions and methods of at::Tensor, in PyTorch's names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen import cpp
from codegen.model import Argument, Return, Symbol
from codegen.plan import OpPlan, Packet, Plan
from codegen.render import render

_PREFIXES = {
    "torch": "",
    "linalg": "linalg_",
    "fft": "fft_",
    "special": "special_",
    "nn.functional": "",
    "private": "",
}
"""Namespaces, and what ATen puts before the names of their functions; the first that has a name keeps it."""

_LETTERS = {
    "Tensor": "T", "Scalar": "s", "Int": "i", "Float": "f", "Bool": "b", "String": "t", "IntList": "I",
    "FloatList": "F", "ScalarList": "S", "TensorList": "L", "IndexList": "X", "DType": "d", "Layout": "l",
    "Device": "D", "MemoryFormat": "m", "Generator": "g", "Object": "o",
}  # fmt: skip
"""As src/vivace/include/vivace/abi.h says, by ArgKind."""

_TYPES = {
    "T": "const Tensor&", "s": "const Scalar&", "i": "int64_t", "f": "double", "b": "bool", "t": "std::string_view",
    "I": "IntArrayRef", "F": "ArrayRef<double>", "S": "ArrayRef<Scalar>", "L": "TensorList", "d": "ScalarType",
    "D": "Device", "m": "MemoryFormat", "g": "const Generator&",
}  # fmt: skip
_GENERATOR = "const std::optional<Generator>&"
_OPTIONS = ("dtype", "layout", "device", "pin_memory", "requires_grad")
_OPTION_VALUES = (
    "vivace::value(options.dtype_opt())",
    "vivace::no_value()",
    "vivace::value(options.device_opt())",
    "vivace::no_value()",
    "vivace::value(options.requires_grad())",
)
_REDUCTIONS = {"none": "None", "mean": "Mean", "sum": "Sum"}


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str
    default: str | None
    values: tuple[str, ...]  # what it is to the operator
    is_output: bool = False

    def declare(self, with_default: bool) -> str:
        return f"{self.type} {self.name}" + (f" = {self.default}" if with_default and self.default is not None else "")


def emit(plan: Plan) -> dict[str, str]:
    functions: dict[tuple[str, tuple[str, ...]], str] = {}
    methods: dict[tuple[str, tuple[str, ...]], str] = {}
    definitions: list[str] = []
    called: dict[str, OpPlan] = {}
    for op, name in _functions(plan):
        for parameters in _forms(op):
            given = _outputs_first([p for p in parameters if p.type])
            key = (name, tuple(p.type for p in given))
            if key not in functions:
                called[op.symbol] = op
                functions[key] = _function(op, name, parameters, given)
    for packet in plan.packets:
        if not (packet.namespace == "Tensor" or _is_hidden_view(packet)) or not _legal(packet.name):
            continue
        for signature in packet.signatures:
            op = signature.op
            if not _callable(op):
                continue
            given = _parameters(op)[1:]
            key = (packet.name, tuple(p.type for p in given))
            if key in methods:
                continue
            called[op.symbol] = op
            shown = ", ".join(p.declare(True) for p in _trailing(given))
            methods[key] = f"  {_result(op)} {packet.name}({shown}) const;"
            definitions.append(_method(op, packet.name, given))
    operators = [
        f'VIVACE_OWN inline Operator {symbol}{{"aten::{op.schema.full_name}", "{letters(op)}"}};'
        for symbol, op in called.items()
    ]
    return {
        "include/vivace/operators/methods.h": render("extension_methods.h.in", methods=methods.values()),
        "include/vivace/operators/functions.h": render(
            "extension_functions.h.in", operators=operators, functions=functions.values(), methods=definitions
        ),
    }


def letters(op: OpPlan) -> str:
    """The operator's signature as the table for extensions has it."""
    arguments = "".join(_letter(a) + ("?" if a.type.optional else "") for a in op.schema.arguments)
    return f"{arguments}>{''.join(_result_letter(r) for r in op.schema.returns)}"


def _letter(a: Argument) -> str:
    return _LETTERS[cpp.kind_of(a)]


def _result_letter(r: Return) -> str:
    if r.type.is_list:
        return "L" if r.type.base == "Tensor" else "o"
    return {"Tensor": "T", "int": "i", "float": "f", "bool": "b", "Scalar": "s"}.get(r.type.base, "o")


def _functions(plan: Plan) -> list[tuple[OpPlan, str]]:
    """The operators that are functions of ATen's, under their names there."""
    taken: dict[str, str] = {}
    found: list[tuple[OpPlan, str]] = []
    for namespace, prefix in _PREFIXES.items():
        for packet in plan.packets:
            name = prefix + packet.name
            if packet.namespace != namespace or packet.form != "function" or not _legal(name):
                continue
            if taken.setdefault(name, namespace) != namespace or (
                namespace == "private" and not _is_hidden_view(packet)
            ):
                continue
            for signature in packet.signatures:
                if _callable(signature.op):
                    found.append((signature.op, name))
                if signature.out is not None and _callable(signature.out):
                    found.append((signature.out, name + "_out"))
    return found


def _is_hidden_view(packet: Packet) -> bool:
    """What Python writes as brackets, and ATen as a function: slice."""
    return packet.namespace == "private" and packet.signatures[0].op.op_class == "View"


def _legal(name: str) -> bool:
    return cpp.identifier(name) == name and not name.startswith("__")


def _callable(op: OpPlan) -> bool:
    """Whether all types of the signature have their like in C++."""
    returns = "".join(_result_letter(r) for r in op.schema.returns)
    has_layout = any(a.name == "layout" for a in op.schema.arguments)
    return (
        "o" not in returns
        and not {_letter(a) for a in op.schema.arguments} & {"X", "o"}
        and (not has_layout or _options_at(op) is not None)
    )


def _options_at(op: OpPlan) -> int | None:
    names = tuple(a.name for a in op.schema.arguments)
    return next((i for i in range(len(names)) if names[i : i + len(_OPTIONS)] == _OPTIONS), None)


def _parameters(op: OpPlan) -> list[Parameter]:
    """In the schema's order; what a factory's tensor is like is one parameter."""
    parameters = []
    at = _options_at(op)
    for i, a in enumerate(op.schema.arguments):
        if at is None or not at <= i < at + len(_OPTIONS):
            parameters.append(_parameter(a))
        elif i == at:
            parameters.append(Parameter("const TensorOptions&", "options", "{}", _OPTION_VALUES))
    return parameters


def _forms(op: OpPlan) -> list[list[Parameter]]:
    """A generator of random numbers may be left away where other arguments follow."""
    whole = _parameters(op)
    if all(p.type != _GENERATOR for p in whole[:-1]):
        return [whole]
    hidden = Parameter("", "", None, ("vivace::no_value()",))
    return [
        [replace(p, default=None) if p.type == _GENERATOR else p for p in whole],
        [hidden if p.type == _GENERATOR else p for p in whole],
    ]


def _outputs_first(parameters: list[Parameter]) -> list[Parameter]:
    return sorted(parameters, key=lambda p: not p.is_output)


def _parameter(a: Argument) -> Parameter:
    letter, name = _letter(a), cpp.identifier(a.name)
    if a.name == "reduction" and letter == "t":
        default = None if a.required else f"Reduction::{_REDUCTIONS[a.default]}"
        return Parameter("int64_t", name, default, (f"vivace::reduction({name})",))
    values = (f"vivace::value({name})",)
    if a.type.mutated and letter == "T":
        return Parameter("Tensor&", name, None, values, a.is_output)
    type_ = _TYPES[letter]
    if a.type.optional:
        bare = type_.removeprefix("const ").removesuffix("&")
        type_ = "OptionalIntArrayRef" if letter == "I" else f"std::optional<{bare}>"
        if letter in "Tsg":
            type_ = f"const {type_}&"
    return Parameter(type_, name, None if a.required else _default(a), values)


def _default(a: Argument) -> str:
    value = a.default
    if value is None:
        return "std::nullopt"
    if a.type.is_list:
        numbers = cpp.list_default(a)
        if not numbers:
            return "{}"
        if len(set(numbers)) == 1 and a.type.list_size == len(numbers):
            return str(numbers[0])  # one number stands for all
        return f"vivace::kInts<{', '.join(map(str, numbers))}>"
    if isinstance(value, Symbol):
        return cpp.symbol(a.type, value).replace("DType::", "ScalarType::")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return cpp.string(value)
    return cpp.number(float(value) if a.type.base == "float" else value)


def _trailing(parameters: list[Parameter]) -> list[Parameter]:
    """Defaults only where all that follow have one."""
    first = len(parameters)
    while first > 0 and parameters[first - 1].default is not None:
        first -= 1
    return [p if i >= first else Parameter(p.type, p.name, None, p.values) for i, p in enumerate(parameters)]


def _result(op: OpPlan) -> str:
    returns = op.schema.returns
    if op.op_class in ("InPlace", "Out") and len(returns) == 1 and returns[0].type.mutated:
        return "Tensor&"
    types = [_result_type(r) for r in returns]
    if len(types) == 1:
        return types[0]
    return f"std::tuple<{', '.join(types)}>" if types else "void"


def _result_type(r: Return) -> str:
    if r.type.is_list:
        return "std::vector<Tensor>"
    return {"Tensor": "Tensor", "int": "int64_t", "float": "double", "bool": "bool", "Scalar": "Scalar"}[r.type.base]


def _body(op: OpPlan, values: list[str], written: str) -> str:
    call = f"vivace::op::{op.symbol}(args, {len(values)})"
    result = _result(op)
    if result == "Tensor&":
        last = f"vivace::result<void>({call});\n  return {written};"
    else:
        last = f"return vivace::result<{result}>({call});"
    array = (
        f"const vivace::Value args[] = {{{', '.join(values)}}};" if values else "const vivace::Value* args = nullptr;"
    )
    return f"{{\n  {array}\n  {last}\n}}"


def _function(op: OpPlan, name: str, parameters: list[Parameter], given: list[Parameter]) -> str:
    shown = ", ".join(p.declare(True) for p in _trailing(given))
    values = [v for p in parameters for v in p.values]
    return f"inline {_result(op)} {name}({shown}) {_body(op, values, given[0].name if given else '')}"


def _method(op: OpPlan, name: str, given: list[Parameter]) -> str:
    values = ["vivace::value(*this)", *[v for p in given for v in p.values]]
    shown = ", ".join(p.declare(False) for p in given)
    return f"inline {_result(op)} Tensor::{name}({shown}) const {_body(op, values, 'const_cast<Tensor&>(*this)')}"
