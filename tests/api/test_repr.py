"""How tensors print against recorded PyTorch texts (tests/data/repr.json.gz, made by tools/record/repr.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.repr_cases import OPTIONS, texts

PATH = Path(__file__).parents[1] / "data" / "repr.json.gz"


@pytest.mark.parametrize("options", OPTIONS)
def test_same_text_as_pytorch(module: Any, options: str) -> None:
    recorded = json.loads(gzip.decompress(PATH.read_bytes()))[options]
    ours = texts(module, options)
    assert len(ours) == len(recorded)
    for text, expected in zip(ours, recorded, strict=True):
        assert text == expected


def test_options_are_restored(module: Any) -> None:
    tensor_str = module._tensor_str
    before = tensor_str.get_printoptions()
    with tensor_str.printoptions(precision=2, sci_mode=True):
        assert repr(module.tensor([1.5])) == "tensor([1.50e+00])"
    assert tensor_str.get_printoptions() == before


def test_named_results(module: Any) -> None:
    named = module.tensor([3.0, 1.0]).max(0)
    assert repr(named) == "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(0))"


def test_options_and_parts_that_packages_use(module: Any) -> None:
    strings = module._tensor_str
    assert strings._tensor_str(module.tensor([1.5, 2]), indent=0) == "[1.5000, 2.0000]"
    assert strings._add_suffixes("Index([0]", ["dim_size=3", "is_sorted=True"], 6, force_newline=False) == (
        "Index([0], dim_size=3, is_sorted=True)"
    )
    assert strings._add_suffixes("f([0]", ["a", "b"], 2, force_newline=True) == "f([0],\n  a, b)"
    assert strings._str_intern(module.ones(1), tensor_contents="x") == "tensor(x)"
    before = strings.PRINT_OPTS.precision
    try:
        module.set_printoptions(precision=2)
        assert strings.PRINT_OPTS.precision == 2
        strings.PRINT_OPTS.precision = 3
        assert repr(module.tensor(0.5)) == "tensor(0.500)"
    finally:
        module.set_printoptions(precision=before)


def test_no_edge_items(module: Any) -> None:
    with module._tensor_str.printoptions(edgeitems=0, threshold=5):
        assert repr(module.arange(10)) == "tensor([...], size=(10,))"
        assert repr(module.ones(3, 4)) == "tensor([...], size=(3, 4))"
        assert repr(module.tensor(2.5)) == "tensor(2.5000, size=())"
        assert repr(module.tensor([1, 2])) == "tensor([1, 2], size=(2,))"


def test_parameters_of_classes(module: Any) -> None:
    class Marked(module.Tensor):
        pass

    class Weight(module.nn.Parameter):
        pass

    marked = module.nn.Parameter(module.ones(2).as_subclass(Marked))
    assert repr(marked) == "Parameter(Marked([1., 1.], requires_grad=True))"
    assert repr(Weight(module.ones(2))) == "Parameter containing:\nParameter(Weight([1., 1.], requires_grad=True))"
    assert repr(module.nn.Parameter(module.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"


def test_contents_of_the_callers_choice(module: Any) -> None:
    class Secret(module.Tensor):
        def __repr__(self) -> str:
            return super().__repr__(tensor_contents="***")

    assert repr(module.ones(2).as_subclass(Secret)) == "Secret(***)"
    assert module.ones(2).__repr__(tensor_contents="...") == "tensor(...)"
