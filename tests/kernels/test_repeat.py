"""torch.equal across dtypes."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (("int64", [1, 2]), ("int32", [1, 2]), True),
        (("int64", [1, 2]), ("float32", [1, 2]), True),
        (("float32", [1.5]), ("int64", [1]), False),
        (("bool", [True]), ("int64", [1]), True),
        (("complex64", [1]), ("float32", [1]), True),
        (("float32", [0.1]), ("float64", [0.1]), False),
        (("int64", [1, 2]), ("float32", [1, 2, 3]), False),
    ],
)
def test_equal_in_the_common_dtype(module: Any, a: Any, b: Any, same: bool) -> None:
    x, y = (module.tensor(values, dtype=getattr(module, dtype)) for dtype, values in (a, b))
    assert module.equal(x, y) is same and y.equal(x) is same
