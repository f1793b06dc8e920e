"""Every entry of the catalogue in vmap, against a loop over the samples."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from catalogue.kinds import Entry
from tests import support
from tests.func.vmap_cases import check_gradients, verdict

WITHOUT_RULE = dict(
    line.split()
    for line in Path(__file__).with_name("without_rule.txt").read_text().splitlines()
    if not line.startswith("#")
)
REFUSED = {name for name, found in WITHOUT_RULE.items() if found == "refused"}


@pytest.mark.parametrize("entry", support.entries(), ids=lambda e: e.id)
def test_vmap(entry: Entry) -> None:
    """Values and dtypes as the loop's; by a rule, but for those that without_rule.txt names."""
    found = verdict(entry)
    if found not in ("random", "no tensors"):
        assert found == WITHOUT_RULE.get(entry.id, "rule")


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("entry", [e for e in support.entries() if e.id not in REFUSED], ids=lambda e: e.id)
def test_gradients(entry: Entry) -> None:
    """Derivatives of all samples at once, and along several vectors at once, as one by one."""
    if support.draws_numbers(support.make(support.load_module(), entry, 0)):
        pytest.skip("each call draws others")
    for number, what in itertools.islice(support.numbered(entry), 4):
        try:
            check_gradients(entry, number, what)
        except RuntimeError as error:
            if "randomness error mode" not in str(error):
                raise
