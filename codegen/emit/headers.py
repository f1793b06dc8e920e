"""What hand-written C++ includes, by catalogue file: call wrappers (ops/*.h), the kernels expected (kernels/*.h)."""

from __future__ import annotations

from codegen import cpp
from codegen.plan import OpPlan, Plan, kernel_functions
from codegen.render import render


def emit(plan: Plan) -> dict[str, str]:
    kernel_functions(plan.ops)  # raises where two entries disagree
    files = {}
    for name, entries in plan.files().items():
        ops = [op for entry in entries for op in plan.ops_of(entry)]
        source = entries[0].where.path
        called = [op for op in ops if op.op_class != "Out"]
        files[f"ops/{name}.h"] = render("ops.h.in", source=source, declarations=map(_declare, called))
        functions = kernel_functions(ops)
        if functions:
            spaces = {
                space: [f.declaration for f in functions if f.namespace == space]
                for space in ("meta", "kernels", "composite")
            }
            files[f"kernels/{name}.h"] = render("kernels.h.in", source=source, **spaces)
    return files


def _declare(op: OpPlan) -> str:
    return f"{op.returned} {op.symbol}({cpp.parameters(op.schema.arguments, defaults=True)});"
