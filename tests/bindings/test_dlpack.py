"""DLPack both ways, with NumPy as the partner."""

from __future__ import annotations

import gc
import importlib
from typing import Any

import numpy as np
import pytest

NAMES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(module: Any, name: str) -> None:
    array = (np.arange(6) % 2).astype(name).reshape(2, 3)[:, ::2]
    t = module.from_dlpack(array)
    assert t.dtype is getattr(module, name)
    assert t.tolist() == array.tolist()
    assert np.shares_memory(np.from_dlpack(t), array)


def test_from_tensor(module: Any) -> None:
    t = module.tensor([1.0, 2.0], dtype=module.bfloat16)
    other = module.from_dlpack(t)
    other[0] = 5
    assert t.tolist() == [5.0, 2.0]
    assert t.__dlpack_device__() == (1, 0)


def test_memory_lives_as_long_as_its_users(module: Any) -> None:
    array = np.from_dlpack(module.tensor([1.0, 2.0, 3.0])[1:])
    gc.collect()
    assert array.tolist() == [2.0, 3.0]
    t = module.from_dlpack(np.arange(3.0))
    gc.collect()
    assert t.tolist() == [0.0, 1.0, 2.0]


def test_capsules_are_used_once(module: Any) -> None:
    capsule = module.tensor([1.0]).__dlpack__()
    assert module.from_dlpack(capsule).tolist() == [1.0]
    with pytest.raises(RuntimeError, match="only once"):
        module.from_dlpack(capsule)
    del capsule
    module.tensor([1.0]).__dlpack__()  # dropped unused


def test_refusals(module: Any) -> None:
    with pytest.raises(BufferError, match="require gradient"):
        module.tensor([1.0], requires_grad=True).__dlpack__()
    with pytest.raises((TypeError, RuntimeError)):
        module.from_dlpack(3)


def test_older_names(module: Any) -> None:
    dlpack = importlib.import_module(f"{module.__name__}.utils.dlpack")
    t = module.tensor([1.0, 2.0])
    dlpack.from_dlpack(dlpack.to_dlpack(t))[0] = 5
    assert t.tolist() == [5.0, 2.0]
