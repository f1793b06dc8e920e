"""No derivative of a pointwise operator loses its fused kernel by accident."""

from __future__ import annotations

from catalogue.kinds import discover
from codegen.generate import plan_pointwise


def test_every_pointwise_derivative_is_fused() -> None:
    """One that cannot be, because it is not pointwise, belongs into a list here."""
    assert plan_pointwise(discover()).unfused() == []
