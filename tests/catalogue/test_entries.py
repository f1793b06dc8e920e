"""What every entry must have, checked without a compiler."""

from __future__ import annotations

import pytest

from catalogue.kinds import Entry, discover
from tests.recorded import recorded

ENTRIES = [e for e in discover() if e.namespace != "private" and not e.name.startswith("_")]
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)


@every_entry
def test_entry_is_complete(entry: Entry) -> None:
    """Documentation and samples in at least one overload of the name, and something to compare the samples with."""
    overloads = [e for e in ENTRIES if e.name.rstrip("_") == entry.name.rstrip("_")]
    assert any(e.doc for e in overloads), f"{entry.where}: {entry.id} has no doc"
    if "empty" not in entry.name and not entry.name.endswith("_"):
        assert any(e.samples for e in overloads), f"{entry.where}: {entry.id} has no samples"
    if entry.samples:
        assert entry.ref or recorded(entry), f"{entry.where}: {entry.id} has neither ref nor recorded values"
