"""Settings of all tests: one thread, fixed seeds, and the module under test as the fixture `torch`."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from typing import Any

import pytest

from tests import support


@pytest.fixture(scope="session")
def module() -> Any:
    """The module under test."""
    return support.load_module()


@pytest.fixture(autouse=True)
def _seed(request: pytest.FixtureRequest) -> None:
    """Every test that uses the module starts from the same random state."""
    if "module" in request.fixturenames:
        request.getfixturevalue("module").manual_seed(0)
