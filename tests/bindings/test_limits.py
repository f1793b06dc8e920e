"""finfo and iinfo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_as_numpy(module: Any, name: str) -> None:
    ours, numpys = module.finfo(getattr(module, name)), np.finfo(name)
    assert ours.dtype == name
    assert (ours.bits, ours.max, ours.min, ours.eps) == (numpys.bits, numpys.max, numpys.min, numpys.eps)
    assert ours.tiny == ours.smallest_normal == numpys.tiny
    assert ours.resolution == pytest.approx(float(numpys.resolution), rel=1e-3)


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64", "uint64"])
def test_iinfo_as_numpy(module: Any, name: str) -> None:
    ours, numpys = module.iinfo(getattr(module, name)), np.iinfo(name)
    assert (ours.dtype, ours.bits, ours.min, ours.max) == (name, numpys.bits, numpys.min, numpys.max)


def test_print(module: Any) -> None:
    assert repr(module.iinfo(module.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert repr(module.finfo(module.bfloat16)) == (
        "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=bfloat16)"
    )


def test_defaults_and_equality(module: Any) -> None:
    assert module.finfo() == module.finfo(module.float32)
    assert module.finfo(module.complex128) == module.finfo(module.float64)
    assert module.iinfo(module.int8) != module.iinfo(module.uint8)


def test_refusals(module: Any) -> None:
    with pytest.raises(TypeError, match="requires a floating point"):
        module.finfo(module.int8)
    with pytest.raises(TypeError, match="requires an integer"):
        module.iinfo(module.float32)
    with pytest.raises(TypeError, match="bool is not supported"):
        module.iinfo(module.bool)
    with pytest.raises(TypeError, match=r"must be torch\.dtype, not int"):
        module.finfo(3)
