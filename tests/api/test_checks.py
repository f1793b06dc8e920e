"""torch._assert, torch._check and their kin."""

from __future__ import annotations

from typing import Any

import pytest


def test_what_holds_gives_nothing(module: Any) -> None:
    assert module._assert(module.tensor(1), "no") is None
    assert module._assert_async(module.tensor([2.0])) is None
    assert module._check(True) is None


def test_what_does_not_raises(module: Any) -> None:
    with pytest.raises(AssertionError, match="no"):
        module._assert(module.tensor(0), "no")
    with pytest.raises(RuntimeError, match="but got zero"):
        module._assert_async(module.tensor(0))
    for name, error in {"": RuntimeError, "_index": IndexError, "_value": ValueError, "_type": TypeError}.items():
        with pytest.raises(error, match="no"):
            getattr(module, f"_check{name}")(False, lambda: "no")
    with pytest.raises(TypeError, match="cond must be a bool"):
        module._check(1)
