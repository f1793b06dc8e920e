"""torch.__version__ compares by its numbers."""

from __future__ import annotations

import pickle
from typing import Any

import pytest


def test_versions(module: Any) -> None:
    version = module.__version__
    assert version >= "2.6.0" and version > "2.9" and version < "2.14" and version != "2.13.0"
    assert version > (2, 6) and version <= (3,) and not version < (2, 13)
    assert version.startswith("2.13.0") and isinstance(version, str) and version == str(version)
    assert {version: 1}[str(version)] == 1
    assert pickle.loads(pickle.dumps(version)) == version


@pytest.mark.parametrize(
    ("low", "high"), [("1.9.0", "1.10"), ("2.0.0a0", "2.0.0"), ("2.0.dev3", "2.0rc1"), ("2.0", "2.0.0+cpu")]
)
def test_order(module: Any, low: str, high: str) -> None:
    version = module.torch_version.TorchVersion
    assert version(low) < high and version(high) > low and version(low) != high
    assert version("2.0.0") == "2.0" and version("2.0") == (2, 0, 0)
