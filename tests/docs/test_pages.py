"""The pages under docs/ and the READMEs: links lead somewhere, the generated page is up to date."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tools import gaps

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{page.name} links to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page.name} links to {target}"


def test_names_in_the_walk_exist() -> None:
    """docs/life_of_an_op.md writes [`name`](file): the name occurs in that file."""
    page = ROOT / "docs" / "life_of_an_op.md"
    for names, target in re.findall(r"\[([^\]]*`[^\]]+`[^\]]*)\]\(([^)\s]+)\)", page.read_text()):
        source = (page.parent / target.partition("#")[0]).resolve()
        if source.is_file():
            for name in re.findall(r"`([^`]+)`", names):
                if name not in target:
                    assert name in source.read_text(), f"`{name}` is not in {target}"


def test_gaps_are_up_to_date(module: Any) -> None:
    assert gaps.PAGE.read_text() == gaps.page(module), "run tools/gaps.py"
