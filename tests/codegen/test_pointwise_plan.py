"""Tables and loops of pointwise entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalogue import kinds
from catalogue.dtypes import floating, int_to_float, real
from codegen import expr as ex
from codegen import pointwise_plan as kernels
from codegen.emit import pointwise
from codegen.model import CatalogueError, Where
from codegen.pointwise_plan import FusedGrad, plan_kernels


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of a test stay out of the catalogue."""
    monkeypatch.setattr(kinds, "_declared", [])
    monkeypatch.setattr(ex, "operators", dict(ex.operators))


def row(table: kernels.Table, dtype: str) -> kernels.Row:
    return table.rows[kernels.ALL.index(dtype)]


def test_rows_follow_the_result_rule(declared) -> None:
    entry = kinds.unary("toy", result=int_to_float, dtypes=floating, kernel=lambda a: a * a + 1)
    built = plan_kernels([entry])
    table = built.tables["toy"]
    assert row(table, "Int32").compute == kernels.USE_DEFAULT
    assert (row(table, "Float16").compute, row(table, "Float16").result) == ("Float32", "Float16")
    assert row(table, "Complex64").compute == kernels.UNSUPPORTED
    assert row(table, "Float16").loop == row(table, "Float32").loop


def test_small_integers_compute_in_wider_ones(declared) -> None:
    table = plan_kernels([kinds.binary("toy", kernel=lambda a, b: a + b * b)]).tables["toy"]
    assert row(table, "Int8").compute == "Int64"
    assert row(table, "Int8").result == "Int8"
    assert row(table, "UInt8").compute == "UInt8"
    assert row(table, "UInt64").compute == "Int64"  # sums and products need no sign
    compared = plan_kernels([kinds.compare("toy_lt", dtypes=real, kernel=lambda a, b: a < b)]).tables["toy_lt"]
    assert row(compared, "UInt64").compute == "UInt64"
    assert row(compared, "Float32").native == row(compared, "Float32").result == "Bool"


def test_equal_bodies_share_a_loop(declared) -> None:
    first = kinds.binary("toy_one", kernel=lambda a, b: a * b)
    second = kinds.binary("toy_two", kernel=lambda a, b: a * b)
    built = plan_kernels([first, second])
    assert row(built.tables["toy_one"], "Float32").loop == row(built.tables["toy_two"], "Float32").loop


def test_choices_become_variants(declared) -> None:
    entry = kinds.unary(
        "toy",
        args="*, str mode='up'",
        choices={"mode": ("up", "down")},
        dtypes=floating,
        kernel=lambda a, mode: a + 1 if mode == "up" else a - 1,
    )
    built = plan_kernels([entry])
    assert set(built.tables) == {"toy", "toy_1"}
    text = pointwise.emit(built)["pointwise/test_pointwise_plan.cpp"]
    assert "choose_toy" in text
    assert "must be 'up' or 'down'" in text


def test_derivatives_are_fused_or_refused(declared) -> None:
    g, y = ex.param("g"), ex.param("y")
    where = Where(Path("toy.py"), 1)
    good = FusedGrad("ToyBackward_0", where, ("g", "y"), (), g * (1 - y * y))
    bad = FusedGrad("ToyBackward_1", where, ("g",), (), g.transpose(0, 1))
    built = plan_kernels([], [good, bad])
    assert built.info(good) == "ToyBackward_0"
    assert built.info(bad) is None


def test_mistakes_name_the_line(declared) -> None:
    entry = kinds.unary("toy", dtypes=floating, kernel=lambda a: ex.ops.no_such_function(a))
    with pytest.raises(CatalogueError, match=r"_plan\.py:\d+: error: toy for Float16: 'no_such_function'"):
        plan_kernels([entry])


def test_mistakes_in_derivatives_name_the_line(declared) -> None:
    """They are no reason to do without the fused kernel."""
    g = ex.param("g")
    wrong = FusedGrad("ToyBackward_0", Where(Path("toy.py"), 1), ("g",), (), g & g)
    with pytest.raises(CatalogueError, match=r"toy\.py:1: error: ToyBackward_0 for Float16: "):
        plan_kernels([], [wrong])
