"""Every entry of the catalogue in vmap, against a loop over the samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalogue.kinds import Entry
from tests import support
from tests.func.vmap_cases import verdict

WITHOUT_RULE = dict(
    line.split()
    for line in Path(__file__).with_name("without_rule.txt").read_text().splitlines()
    if not line.startswith("#")
)


@pytest.mark.parametrize("entry", support.entries(), ids=lambda e: e.id)
def test_vmap(entry: Entry) -> None:
    """Values and dtypes as the loop's; by a rule, but for those that without_rule.txt names."""
    found = verdict(entry)
    if found not in ("random", "no tensors"):
        assert found == WITHOUT_RULE.get(entry.id, "rule")
