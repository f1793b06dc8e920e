"""Tracing: names, operators, types, lowering."""

import math
from pathlib import Path

import numpy as np
import pytest

from catalogue.pointwise.arith import abs as abs_entry
from catalogue.pointwise.arith import add, mul
from catalogue.pointwise.exp_log import exp, logaddexp, sigmoid
from catalogue.pointwise.select import clamp, where
from codegen import expr as ex
from codegen import primitives as p
from codegen.emit import loops
from codegen.expr import Expr, TraceError, cpp, ops
from codegen.model import Where
from codegen.pointwise_plan import Loop


def test_operators_become_names():
    a, b = ex.param("a"), ex.param("b")
    assert repr(a + b * 2) == "add(a, mul(b, 2))"
    assert repr(1 - a) == "sub(1, a)"
    assert repr(-(a @ b.mT)) == "neg(matmul(a, mT(b)))"
    assert repr(a.transpose(0, 1)) == "transpose(a, 0, 1)"
    assert repr(ops.softmax(a, dim=1)) == "softmax(a, dim=1)"
    assert cpp.f(a).op == "cpp.f"


def test_equal_traces_are_one_object():
    a, b = ex.param("a"), ex.param("b")
    assert (a + b) is (a + b)
    assert (a + 1) is not (a + 1.0)
    assert (a * 0.0) is not (a * -0.0)


def test_no_truth_value():
    a = ex.param("a")
    with pytest.raises(TraceError, match="use where"):
        bool(a > 0)
    with pytest.raises(TraceError, match="iterated"):
        list(a)


def test_entries_trace_by_name():
    a, b = ex.param("a"), ex.param("b")
    assert exp(a).op == "exp"
    assert where(a > 0, a, b).op == "where"
    assert abs(a).op == "abs"


def test_typed_traces_expand_to_primitives():
    x = ex.param("x0", "f32")
    for node in ex.nodes(sigmoid(x)):
        assert node.op in p.PRIMITIVES or node.op in ("param", "const"), node.op


def test_lowering_of_a_derivative():
    g, y = ex.param("g"), ex.param("y")
    typed = ex.lower(g * (1 - y) * y, {"g": ex.param("x0", "f32"), "y": ex.param("x1", "f32")})
    assert typed.type == "f32"
    assert [n.op for n in ex.nodes(typed) if n.op not in ("param", "const")] == ["sub", "mul", "mul"]


def test_what_is_not_pointwise_does_not_lower():
    g = ex.param("g")
    with pytest.raises(TraceError, match="transpose"):
        ex.lower(g.transpose(0, 1), {"g": ex.param("x0", "f32")})


def test_types():
    x, i, m = ex.param("x", "f32"), ex.param("i", "i64"), ex.param("m", "m8")
    assert (x < 1).type == "m32"
    assert (x * 2).type == "f32"
    assert (m + m).op == "bitwise_or"
    with pytest.raises(TraceError, match=r"constant 0\.5"):
        i * 0.5
    with pytest.raises(TraceError, match="not defined for i64"):
        i / i


def test_complex_is_taken_apart():
    z = Expr("complex", (ex.param("re", "f32"), ex.param("im", "f32")), type="c32")
    product = z * z
    assert product.type == "c32"
    assert all(part.type == "f32" for part in product.args)
    with pytest.raises(TraceError, match="not defined for complex"):
        _ = z < z


@pytest.mark.parametrize(
    ("a", "b"), [(1.0, 2.0), (-3.0, 40.0), (math.inf, math.inf), (-math.inf, 1.0), (math.nan, 1.0)]
)
def test_entries_evaluate_numbers(a, b):
    np.testing.assert_allclose(logaddexp(a, b), np.logaddexp(a, b), rtol=1e-15)


def test_evaluation_of_arrays_and_choices():
    x = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(exp(x), np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(clamp(x, min=-1.0), np.maximum(x, -1))
    np.testing.assert_allclose(add(x, x, alpha=2), 3 * x)
    np.testing.assert_allclose(mul(x * 1j, x), x * x * 1j)
    np.testing.assert_allclose(abs_entry(np.array([3 + 4j])), [5.0])


def test_loop_text():
    x, y = ex.param("x0", "f32"), ex.param("x1", "f32")

    text = loops.write_loop(Loop("f", 1, Where(Path("f.py"), 1), "f32", x * y < 0, 2, ()))
    assert "store_mask(out + i" in text
    assert "const f32 t0 = mul(x0, x1);" in text
