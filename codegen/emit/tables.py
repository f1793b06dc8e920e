"""Op objects, their argument tables and kernels, call wrappers (tables/*.cpp), and the list of all (all_ops.cpp)."""

from __future__ import annotations

from collections.abc import Callable

from catalogue.kinds import Composite, Entry, Op, Pointwise
from codegen import cpp
from codegen.derivatives import NodePlan
from codegen.emit.composites import Bodies
from codegen.model import Argument
from codegen.plan import OpPlan, Plan, kernel_functions
from codegen.render import render, wrap

NodeOf = Callable[[OpPlan], NodePlan | None]
"""What autograd records for an operator, or None."""
InfoOf = Callable[[Entry], str]
"""The PointwiseInfo symbol of an entry."""
ARITY = {1: "unary", 2: "binary"}


def emit(plan: Plan, node_of: NodeOf, info_of: InfoOf) -> dict[str, str]:
    files = {f"tables/{name}.cpp": _file(plan, entries, node_of, info_of) for name, entries in plan.files().items()}
    files["all_ops.cpp"] = render(
        "all_ops.cpp.in",
        declarations=[f"extern Op {op.symbol};" for op in plan.ops],
        ops=[f"    &op::{op.symbol}," for op in plan.ops],
    )
    return files


def _file(plan: Plan, entries: list[Entry], node_of: NodeOf, info_of: InfoOf) -> str:
    ops = [op for entry in entries for op in plan.ops_of(entry)]
    # Declared here rather than included: an edit of another entry must not compile this file again.
    lines = []
    functions = kernel_functions(ops)
    for space in ("meta", "kernels", "composite"):
        lines += _namespace(space, [f.declaration for f in functions if f.namespace == space])
    infos = [info_of(entry) for entry in entries if isinstance(entry, Pointwise)]
    lines += _namespace("tables", [f"extern const PointwiseInfo {i};" for i in infos])
    nodes = dict.fromkeys(node.symbol for op in ops if (node := node_of(op)))
    lines += _namespace("nodes", [f"extern const NodeInfo {n};" for n in nodes])
    lines += _namespace("op", [f"extern Op {op.symbol};" for op in ops])
    bodies = Bodies(plan)
    definitions: list[str] = []
    for entry in entries:
        for op in plan.ops_of(entry):
            definitions.append(f"\n// {op.schema}\n// {entry.where.mark}")
            if op.functional is None and isinstance(entry, Composite) and entry.body is not None:
                definitions += bodies.function(op)
            definitions += _kernels(op)
            definitions += _arguments(op)
    wrappers = [_wrapper(op) for op in ops if op.op_class != "Out"]
    return render(
        "tables.cpp.in",
        source=entries[0].where.path,
        declarations=[*lines, *bodies.declarations()],
        definitions=definitions,
        ops=[_op(op, node_of, info_of) for op in ops],
        wrappers=wrappers,
    )


def _namespace(name: str, lines: list[str]) -> list[str]:
    return [f"namespace {name} {{", *lines, f"}}  // namespace {name}"] if lines else []


def _arguments(op: OpPlan) -> list[str]:
    if not op.schema.arguments:
        return []
    lines = [f"constexpr ArgSpec args_{op.symbol}[] = {{"]
    lines += [wrap(*_spec(a), "},", indent="     ") for a in op.schema.arguments]
    return [*lines, "};"]


def _spec(a: Argument) -> tuple[str, list[str]]:
    """The beginning of an ArgSpec, and its other fields."""
    parts = [f".kind = ArgKind::{cpp.kind_of(a)}"]
    flags = {
        "optional": a.type.optional,
        "keyword_only": a.keyword_only,
        "has_default": not a.required,
        "is_output": a.is_output,
        "is_mutated": a.type.mutated,
    }
    parts += [f".{name} = true" for name, value in flags.items() if value]
    if a.type.list_size:
        parts.append(f".list_size = {a.type.list_size}")
    if fallback := cpp.default_value(a):
        parts.append(f".fallback = {fallback}")
    return f"    {{.name = {cpp.string(a.name)}, ", parts


def _kernels(op: OpPlan) -> list[str]:
    """The functions between the boxed convention and what the entry names."""
    entry, schema, symbol = op.entry, op.schema, op.symbol
    if op.functional is not None or isinstance(entry, Pointwise):
        return []
    arguments = ", ".join(cpp.unboxed(schema.arguments))
    if isinstance(entry, Op) and op.op_class == "InPlace":
        call = f"kernels::{entry.kernel}({arguments})"
        return [
            f"Object* kernel_{symbol}(const Op&, KeySet, Value* a) {{",
            f"  {call};",
            "  bump_version(*a[0].tensor);",
            "  return Py_NewRef(a[0].tensor);",
            "}",
        ]
    if isinstance(entry, Op) and entry.structured:
        n = len(schema.returns)
        meta = f"meta::{entry.kernel}({arguments})"
        target = "out[0]" if n == 1 else f"std::tie({', '.join(f'out[{i}]' for i in range(n))})"
        outputs = [f"*out[{i}]" for i in range(n)]
        fill = f"kernels::{entry.kernel}({', '.join(filter(None, [arguments, *outputs]))})"
        safe = str(entry.alias_safe).lower()
        return [
            f"void meta_{symbol}(Value* a, TensorRef* out) {{ {target} = {meta}; }}",
            f"void fill_{symbol}(Value* a, Tensor* const* out) {{ {fill}; }}",
            f"constexpr StructuredInfo structured_{symbol} = {{{n}, {safe}, meta_{symbol}, fill_{symbol}}};",
        ]
    if isinstance(entry, Composite):
        call = f"composite::{entry.kernel}({arguments})" if entry.kernel else f"body_{symbol}({arguments})"
    else:
        call = f"kernels::{getattr(entry, 'kernel', symbol)}({arguments})"
    grad_flag = next((i for i, a in enumerate(schema.arguments) if a.name == "requires_grad"), None)
    if grad_flag is not None:
        call = f"with_requires_grad({call}, unbox<bool>(a[{grad_flag}]))"
    head = f"Object* kernel_{symbol}(const Op&, KeySet, Value* a) {{"
    if not schema.returns:
        return [head, f"  {call};", "  return Py_NewRef(Py_None);", "}"]
    return [head, f"  return box({call});", "}"]


def _table(op: OpPlan, node_of: NodeOf, recorded: bool) -> list[tuple[str, str]]:
    """Dispatch key and kernel, lowest key first."""
    entry, node = op.entry, node_of(op)
    refuses_grad = isinstance(entry, Composite) or node_of(op.base) is not None  # for an out= form
    if isinstance(entry, Pointwise):
        cpu, meta = _pointwise_kernel(op, entry), "pointwise_meta"
    elif op.functional is not None and isinstance(entry, Op) and entry.structured:
        cpu = "structured_inplace" if op.op_class == "InPlace" else "structured_out"
        meta = cpu
    elif op.functional is not None:
        if op.op_class == "InPlace":
            cpu = "composite_inplace" if isinstance(entry, Composite) else "inplace_by_copy"
        else:
            cpu = "out_by_copy"
        meta = cpu
    elif isinstance(entry, Op) and entry.structured and op.op_class != "InPlace":
        cpu, meta = "structured_kernel", "structured_meta"
    else:
        cpu = f"kernel_{op.symbol}"
        on_meta = isinstance(entry, Composite) or (isinstance(entry, Op) and (entry.device_neutral or entry.on_meta))
        meta = cpu if on_meta else "missing_kernel"
    table = [("CPU", cpu), ("Meta", meta)]
    if isinstance(entry, Op) and entry.device_neutral and op.functional is None:
        table.append(("PrivateUse", cpu))
    if _writes(op):
        table.append(("Watched", "watched_kernel"))
    if recorded:
        record = {"InPlace": "record_in_place", "Out": "record_out"}.get(op.op_class) or _record_call(op, node)
        if op.op_class != "Out" or refuses_grad:
            table.append(("Autograd", record))
        table += [("View", "view_kernel"), ("SavedHooks", "saved_hooks_kernel")]
    if recorded or not isinstance(entry, Composite):
        table.append(("Inference", "inference_kernel"))
    if entry.autocast and op.functional is None:
        table.append(("Autocast", f"autocast_{entry.autocast}"))
    if recorded:
        table.append(("ForwardAD", "forward_kernel"))
    return table


def _writes(op: OpPlan) -> bool:
    return any(a.type.mutated for a in op.schema.arguments)


def _pointwise_kernel(op: OpPlan, entry: Pointwise) -> str:
    """The driver, or its short way in where the operands are the leading arguments, tensors all."""
    leading = op.schema.inputs[: len(entry.operands)]
    plain = op.op_class != "Out" and not (entry.choices or entry.special or entry.masks)
    tensors = all(a.type.is_tensor and not a.type.optional and a.name in entry.promoting for a in leading)
    params = [i for i, a in enumerate(op.schema.inputs) if a.name not in entry.operands]
    in_a_row = params == list(range(params[0], params[0] + len(params))) if params else True
    if plain and in_a_row and tensors and [a.name for a in leading] == list(entry.operands) and len(leading) in ARITY:
        return f"pointwise_{ARITY[len(leading)]}{'_in_place' if op.op_class == 'InPlace' else ''}_fast"
    return "pointwise_kernel"


def _record_call(op: OpPlan, node: NodePlan | None) -> str:
    """What records a call, or its short way in where the edges are the leading arguments and there is one output."""
    inputs = op.schema.inputs
    tensors = [i for i, a in enumerate(inputs) if a.type.is_tensor or a.type.is_tensor_list]
    plain = all(inputs[i].type.is_tensor and not inputs[i].type.optional for i in tensors)
    one = len(op.schema.returns) == 1 and op.schema.returns[0].type.is_tensor
    if node and plain and one and tensors == list(node.edges) == list(range(len(tensors))) and len(tensors) in ARITY:
        return f"record_{ARITY[len(tensors)]}"
    return "record_call"


def is_recorded(op: OpPlan, node: NodePlan | None) -> bool:
    """Whether autograd has to see the call."""
    if isinstance(op.entry, Composite):
        return op.op_class == "Out"
    return node is not None or op.op_class != "Plain"


def _op(op: OpPlan, node_of: NodeOf, info_of: InfoOf) -> str:
    entry, schema = op.entry, op.schema
    node = node_of(op)
    recorded = is_recorded(op, node)
    tensor_mask = sum(1 << i for i, a in enumerate(schema.arguments) if a.type.is_tensor)
    list_mask = sum(1 << i for i, a in enumerate(schema.arguments) if a.type.is_tensor_list)
    nreturns = len(schema.returns) if all(r.type.is_tensor for r in schema.returns) else 0
    fields = [
        f".name = {cpp.string(schema.name)}",
        f".overload = {cpp.string(schema.overload)}",
        f".args = args_{op.symbol}" if schema.arguments else "",
        f".nargs = {len(schema.arguments)}",
        f".op_class = OpClass::{op.op_class}",
        f".nreturns = {nreturns}",
        f".writes = {' | '.join(f'kWrites{w.capitalize()}' for w in entry.writes)}"
        if op.functional and entry.writes
        else "",
        f".tensor_args = {tensor_mask:#x}" if tensor_mask else "",
        f".list_args = {list_mask:#x}" if list_mask else "",
        f".node = &nodes::{node.symbol}" if node else "",
    ]
    if isinstance(entry, Pointwise):
        fields.append(f".data = &tables::{info_of(entry)}")
    elif isinstance(entry, Op) and entry.structured and op.op_class == "Plain":
        fields.append(f".data = &structured_{op.symbol}")
    if op.functional is not None:
        fields.append(f".functional = &{op.functional.symbol}")
    fields += [
        f".schema = {cpp.string(str(schema))}",
    ]
    kernels = [f"{{Key::{key}, {kernel}}}" for key, kernel in _table(op, node_of, recorded)]
    head = wrap(f"constinit Op {op.symbol} = {{", [f for f in fields if f], ",")
    return head + "\n" + wrap("    .table = {", kernels, "}};", indent="              ")


def _wrapper(op: OpPlan) -> str:
    schema = op.schema
    head = f"{op.returned} {op.symbol}({cpp.parameters(schema.arguments)}) {{"
    values = []
    for a in schema.arguments:
        if a.name in cpp.DROPPED:
            values.append(cpp.default_value(a) or "Value::none()")
        else:
            values.append(f"to_value({cpp.identifier(a.name)})")
    array = wrap("  Value a[] = {", values, "};", indent="      ") if values else "  Value* const a = nullptr;"
    call = f"dispatch(op::{op.symbol}, gather_keys(op::{op.symbol}, a), a)"
    if op.op_class == "InPlace":
        return "\n".join(
            [head, array, f"  Py_DECREF({call});", f"  return {cpp.identifier(schema.arguments[0].name)};", "}"]
        )
    result = cpp.result_of(schema.returns)
    return "\n".join([head, array, f"  return unbox_result<{result}>({call});", "}"])
