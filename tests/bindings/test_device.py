"""torch.device, and the layouts and memory formats."""

from __future__ import annotations

import pickle
from typing import Any

import pytest


def test_forms(module: Any) -> None:
    device = module.device
    assert repr(device("cpu")) == "device(type='cpu')"
    assert repr(device("cpu", 0)) == repr(device("cpu:0")) == repr(device(type="cpu", index=0))
    assert str(device("cuda:1")) == "cuda:1"
    assert (device("cuda:1").type, device("cuda:1").index) == ("cuda", 1)
    assert device("meta").index is None
    assert device(device("cpu")) == device("cpu")


def test_equality(module: Any) -> None:
    device = module.device
    assert device("cpu") == device("cpu")
    assert device("cpu") != device("cpu:0")
    assert device("cpu") != "cpu"
    assert len({device("cpu"), device("cpu"), device("meta")}) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("",), "Device string must not be empty"),
        (("abacus",), "Expected one of cpu"),
        (("cpu:x",), "Invalid device string: 'cpu:x'"),
        (("cpu:01",), "Invalid device string: 'cpu:01'"),
        (("cpu:0", 1), "must not include an index"),
        (("cpu", -1), "must not be negative"),
    ],
)
def test_bad_forms(module: Any, arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        module.device(*arguments)


def test_wrong_types(module: Any) -> None:
    for arguments in ((), (2.5,), ("cpu", "0")):
        with pytest.raises(TypeError):
            module.device(*arguments)


def test_of_tensors(module: Any) -> None:
    assert module.tensor(1.0).device == module.device("cpu")
    assert module.tensor(1.0, device="cpu:0").device == module.device("cpu")
    assert module.tensor([1.0], device="meta").device == module.device("meta")


def test_other_devices_refuse(module: Any) -> None:
    with pytest.raises((RuntimeError, AssertionError), match="not compiled with CUDA"):
        module.tensor(1.0, device="cuda")


def test_pickle(module: Any) -> None:
    for text in ("cpu", "cpu:1", "meta"):
        assert pickle.loads(pickle.dumps(module.device(text))) == module.device(text)


def test_layouts_and_formats(module: Any) -> None:
    assert repr(module.strided) == "torch.strided"
    assert isinstance(module.strided, module.layout)
    assert repr(module.channels_last) == "torch.channels_last"
    assert isinstance(module.preserve_format, module.memory_format)
