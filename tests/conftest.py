"""Settings of all tests: one thread, fixed seeds, and the module under test as the fixture `module`."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests import support

# A busy machine makes a case slow, not wrong.
hypothesis.settings.register_profile("vivace", deadline=None)
hypothesis.settings.load_profile("vivace")

KNOWN_GAPS = Path(__file__).parent / "ops" / "known_gaps.txt"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of operators that are known to fail have to fail."""
    gaps = known_gaps()
    for item in items:
        if item.path.name == "test_every_op.py" and item.name in gaps:
            item.add_marker(pytest.mark.xfail(reason=gaps[item.name], strict=True))


def known_gaps() -> dict[str, str]:
    """Test id to reason."""
    lines = [line for line in KNOWN_GAPS.read_text().splitlines() if line and not line.startswith("#")]
    return {name: reason.strip() for name, _, reason in (line.partition("  ") for line in lines)}


@pytest.fixture(scope="session")
def module() -> Any:
    """The module under test."""
    return support.load_module()


@pytest.fixture(autouse=True)
def _seed(request: pytest.FixtureRequest) -> None:
    """Every test that uses the module starts from the same random state."""
    if "module" in request.fixturenames:
        request.getfixturevalue("module").manual_seed(0)
