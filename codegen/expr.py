"""Traced expressions: what a lambda of the catalogue becomes when it is called with `Expr` arguments.

An untyped trace (derivatives, composites) is a graph of names, lowered by whoever reads it. A typed trace (kernels)
knows the element type of every node: names of catalogue operators are expanded on the spot through their own kernels
until only the primitives of codegen/primitives.py remain. Equal nodes are the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

PROPERTIES = frozenset({"T", "H", "mT", "mH", "real", "imag"})


class TraceError(Exception):
    """A lambda did something that cannot be traced."""


class NotPointwise(TraceError):
    """A derivative is not a function of single elements: no loop can compute it, its operators can."""


def _binary(name: str) -> Callable[[Expr, Any], Expr]:
    return lambda self, other: call(name, self, _leaf(other))


def _reflected(name: str) -> Callable[[Expr, Any], Expr]:
    return lambda self, other: call(name, _leaf(other), self)


def _leaf(value: Any) -> Any:
    """Python numbers that stand as operands become constants (typed ones take their type from the other operand)."""
    return Expr("const", (value,)) if isinstance(value, (bool, int, float, complex)) else value


class Expr:
    """A node: `op` names a primitive, an operator, "cpp.NAME", or a leaf: "param" (name,), "const" (value,)."""

    __slots__ = ("args", "kwargs", "op", "type")
    op: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    type: str | None

    def __new__(
        cls, op: str, args: Iterable[Any] = (), kwargs: Iterable[tuple[str, Any]] = (), type: str | None = None
    ) -> Expr:
        args, kwargs = tuple(args), tuple(kwargs)
        key = (op, tuple(map(_key, args)), tuple((k, _key(v)) for k, v in kwargs), type)
        node = _interned.get(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.args, node.kwargs, node.type = op, args, kwargs, type
            _interned[key] = node
        return node

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        if self.op in ("param", "const"):
            return str(self.args[0])
        parts = [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in self.kwargs]
        return f"{self.op}({', '.join(parts)})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "dtype":
            raise AttributeError(name)
        if name in PROPERTIES:
            return call(name, self)
        return lambda *args, **kwargs: call(name, self, *args, **kwargs)

    def __bool__(self) -> bool:
        raise TraceError("the value of a tensor is not known when its lambda is traced; use where(condition, a, b)")

    def __iter__(self) -> Any:
        raise TraceError("a traced value cannot be iterated; index it")

    def __getitem__(self, index: Any) -> Expr:
        return call("getitem", self, index)

    def __neg__(self) -> Expr:
        return call("neg", self)

    def __invert__(self) -> Expr:
        return call("bitwise_not", self)

    def __abs__(self) -> Expr:
        return call("abs", self)

    __add__ = _binary("add")
    __radd__ = _reflected("add")
    __sub__ = _binary("sub")
    __rsub__ = _reflected("sub")
    __mul__ = _binary("mul")
    __rmul__ = _reflected("mul")
    __truediv__ = _binary("div")
    __rtruediv__ = _reflected("div")
    __floordiv__ = _binary("floor_divide")
    __rfloordiv__ = _reflected("floor_divide")
    __mod__ = _binary("remainder")
    __rmod__ = _reflected("remainder")
    __pow__ = _binary("pow")
    __rpow__ = _reflected("pow")
    __matmul__ = _binary("matmul")
    __rmatmul__ = _reflected("matmul")
    __and__ = _binary("bitwise_and")
    __rand__ = _reflected("bitwise_and")
    __or__ = _binary("bitwise_or")
    __ror__ = _reflected("bitwise_or")
    __xor__ = _binary("bitwise_xor")
    __rxor__ = _reflected("bitwise_xor")
    __lshift__ = _binary("bitwise_left_shift")
    __rlshift__ = _reflected("bitwise_left_shift")
    __rshift__ = _binary("bitwise_right_shift")
    __rrshift__ = _reflected("bitwise_right_shift")
    __lt__ = _binary("lt")
    __le__ = _binary("le")
    __gt__ = _binary("gt")
    __ge__ = _binary("ge")
    __eq__ = _binary("eq")  # type: ignore[assignment]
    __ne__ = _binary("ne")  # type: ignore[assignment]


_interned: dict[Any, Expr] = {}


def _key(value: Any) -> Any:
    """Tells 1, 1.0, True and -0.0 apart."""
    if isinstance(value, Expr):
        return id(value)
    if isinstance(value, (list, tuple)):
        return (type(value), tuple(map(_key, value)))
    return (type(value), repr(value))


class Namespace:
    """`cpp.f(x)` is a call of "cpp.f"; `ops.softmax(x, 1)` one of "softmax", without importing its entry."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: call(self._prefix + name, *args, **kwargs)


cpp = Namespace("cpp.")
ops = Namespace("")

operators: dict[str, Any] = {}
"""The pointwise entries by name; typed traces expand names through them."""


def param(name: str, type: str | None = None) -> Expr:
    return Expr("param", (name,), type=type)


def _exprs(values: Iterable[Any]) -> Iterable[Expr]:
    for value in values:
        if isinstance(value, Expr):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _exprs(value)


def call(name: str, *args: Any, **kwargs: Any) -> Expr:
    """The result of operator or primitive `name`; in a typed trace it is expanded at once."""
    if any(e.type is not None for e in _exprs((*args, *kwargs.values()))):
        return typed_call(name, args, kwargs)
    return Expr(name, args, kwargs.items())


def apply(entry: Any, *args: Any, **kwargs: Any) -> Any:
    """An entry of the catalogue was called: traced by name, or evaluated if all arguments are numbers or arrays."""
    if any(True for _ in _exprs((*args, *kwargs.values()))):
        operators.setdefault(entry.name, entry)
        return call(entry.name, *args, **kwargs)
    from codegen.evaluate import evaluate_entry

    return evaluate_entry(entry, args, kwargs)


def typed_call(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Expr:
    from codegen import complex_expr, primitives

    if any(e.type in primitives.COMPLEX for e in _exprs((*args, *kwargs.values()))):
        rule = complex_expr.RULES.get(name)
        if rule is not None:
            return rule(*args, **kwargs)
    elif name in primitives.PRIMITIVES and not kwargs:
        return primitives.PRIMITIVES[name](*args)
    entry = operators.get(name)
    if entry is None or not hasattr(entry, "operands"):
        raise NotPointwise(f"{name!r} is neither a primitive nor a pointwise operator of the catalogue")
    return expand(entry, args, kwargs)


def kernel_for(entry: Any, type: str) -> Callable[..., Expr]:
    """The lambda of an entry for an element type."""
    special: dict[str, Any] = {"c": entry.complex, "i": entry.integer, "u": entry.integer, "m": entry.boolean}
    chosen: Callable[..., Expr] = special.get(type[0]) or entry.kernel
    return chosen


def expand(entry: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Expr:
    """Traces an entry's kernel on typed arguments, in its schema's order; missing ones take their defaults."""
    from codegen import primitives

    schema = entry.schemas[0]
    names = [a.name for a in schema.inputs]
    values = dict(zip(names, args, strict=False)) | dict(kwargs)
    type = primitives.common_type(
        v for k, v in values.items() if k in entry.promoting and isinstance(v, Expr)
    ) or primitives.common_type(v for v in values.values() if isinstance(v, Expr))
    chosen = []
    for argument in schema.inputs:
        value = values.get(argument.name, argument.default)
        is_number = isinstance(value, (int, float, complex)) and argument.name not in entry.choices
        if is_number or (isinstance(value, Expr) and value.op == "const" and value.type is None):
            value = primitives.constant(value.args[0] if isinstance(value, Expr) else value, type)
        elif isinstance(value, Expr) and argument.name in entry.promoting:
            value = primitives.convert(value, type)
        chosen.append(value)
    return kernel_for(entry, type or "")(*chosen)


def lower(node: Expr, leaves: Mapping[str, Expr]) -> Expr:
    """Turns an untyped trace into a typed one: `leaves` gives its parameters. TraceError if it is not pointwise."""
    memo: dict[Expr, Expr] = {}

    def visit(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            raise NotPointwise("lists have no place in a pointwise kernel")
        if not isinstance(value, Expr):
            return value
        if value not in memo:
            if value.op == "param":
                if value.args[0] not in leaves:
                    raise NotPointwise(f"{value.args[0]!r} is not elementwise")
                memo[value] = leaves[value.args[0]]
            elif value.op == "const":
                memo[value] = value
            else:
                args = [visit(a) for a in value.args]
                memo[value] = call(value.op, *args, **{k: visit(v) for k, v in value.kwargs})
        return memo[value]

    result: Expr = visit(node)
    return result


def nodes(root: Expr) -> list[Expr]:
    """All nodes below and including root, operands before users."""
    order: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if node in order:
            continue
        if ready:
            order[node] = None
            continue
        stack.append((node, True))
        stack.extend((a, False) for a in reversed(list(_exprs(node.args))))
    return list(order)
