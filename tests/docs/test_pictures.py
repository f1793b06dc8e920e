"""The pictures of docs/seeing.md are what tools/pictures.py draws."""

from __future__ import annotations

import re

import vivace
from tools import pictures


def without_values(svg: str) -> str:
    """The loss differs in its last digits between processors."""
    return re.sub(r">0\.\d+<", "><", svg)


def test_the_graph_is_up_to_date() -> None:
    drawn = without_values(pictures.without_root(pictures.graph(vivace)))
    assert drawn == without_values((pictures.FOLDER / "graph.svg").read_text()), "run tools/pictures.py"


def test_the_memory_can_be_drawn() -> None:
    drawn, kept = pictures.without_root(pictures.memory(vivace)), (pictures.FOLDER / "memory.svg").read_text()
    for text in ("aten::max_pool2d", "LinearBackward0", "at the peak"):
        assert text in drawn and text in kept
