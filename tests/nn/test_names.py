"""The tables by which layers load when first named list what the files define."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def folder(module: Any) -> Path:
    if module.__name__ != "vivace":
        pytest.skip("about vivace's own tables")
    return Path(module.nn.__file__).parent


def test_families(module: Any, folder: Path) -> None:
    families = module.nn.modules.FAMILIES
    files = {path.stem for path in (folder / "modules").glob("[a-z]*.py")} - {"lazy", "utils"}
    assert set(families) == files
    for family, names in families.items():
        home = importlib.import_module(f"vivace.nn.modules.{family}")
        layers = {
            name
            for name, value in vars(home).items()
            if isinstance(value, type) and value.__module__ == home.__name__ and issubclass(value, module.nn.Module)
        }
        public = {name for name in layers if not name.startswith("_")}
        assert public - {"RNNCellBase", "NonDynamicallyQuantizableLinear"} <= set(names.split()) <= public


def test_every_name_loads(module: Any, folder: Path) -> None:
    for package in (module.nn, module.nn.modules, module.optim):
        for name in package.__all__:
            assert isinstance(getattr(package, name), type)


def test_star_import(module: Any, folder: Path) -> None:
    names: dict[str, Any] = {}
    exec("from vivace.nn import *", names)
    assert names["Linear"] is module.nn.Linear
    assert names["Parameter"] is module.nn.Parameter


def test_unknown_names(module: Any, folder: Path) -> None:
    with pytest.raises(AttributeError, match=r"vivace does not have torch\.nn\.NoSuchLayer"):
        module.nn.NoSuchLayer  # noqa: B018
    with pytest.raises(AttributeError, match=r"vivace does not have torch\.optim\.NoSuch"):
        module.optim.NoSuch  # noqa: B018


def test_classes_stand_where_pickles_look(module: Any, folder: Path) -> None:
    homes = {
        "activation": "MultiheadAttention ReLU Softmax",
        "channelshuffle": "ChannelShuffle",
        "fold": "Fold Unfold",
        "linear": "Linear NonDynamicallyQuantizableLinear",
        "pixelshuffle": "PixelShuffle PixelUnshuffle",
        "sparse": "Embedding EmbeddingBag",
        "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    }
    for home, names in homes.items():
        for name in names.split():
            layer = getattr(importlib.import_module(f"vivace.nn.modules.{home}"), name)
            assert layer.__module__ == f"vivace.nn.modules.{home}"
    assert importlib.import_module("vivace.autograd.variable").Variable is module.autograd.Variable
