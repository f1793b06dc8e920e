"""What every entry must have, checked without a compiler."""

from __future__ import annotations

import pytest

from catalogue.kinds import Entry, discover
from tests.recorded import recorded

ENTRIES = [e for e in discover() if e.namespace != "private"]
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)


@every_entry
def test_entry_is_complete(entry: Entry) -> None:
    """Documentation, samples, and something to compare with."""
    first_of_name = next(e for e in ENTRIES if e.name == entry.name)
    assert first_of_name.doc, f"{entry.where}: {entry.id} has no doc"
    assert entry.samples, f"{entry.where}: {entry.id} has no samples"
    assert entry.ref or recorded(entry), f"{entry.where}: {entry.id} has neither ref nor recorded values"
