"""Fills the frames of codegen/templates/ and writes the files that changed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from string import Template

TEMPLATES = Path(__file__).resolve().parent / "templates"


def render(template: str, **parts: str | Iterable[str]) -> str:
    """`$name` in the frame becomes the part of that name; lists are joined by lines."""
    text = (TEMPLATES / template).read_text()
    filled = {k: v if isinstance(v, str) else "\n".join(v) for k, v in parts.items()}
    return Template(text).substitute(filled)


def wrap(head: str, items: Iterable[str], tail: str, indent: str = "    ", width: int = 120) -> str:
    """`head` items `tail` on one line if they fit, else filled lines."""
    items = list(items)
    line = head + ", ".join(items) + tail
    if len(line) <= width:
        return line
    lines, current = [head.rstrip()], indent
    for i, item in enumerate(items):
        piece = item + (", " if i + 1 < len(items) else tail)
        if len(current) + len(piece.rstrip()) > width:
            lines.append(current.rstrip())
            current = indent
        current += piece
    return "\n".join([*lines, current.rstrip()])


def write_tree(directory: Path, files: dict[str, str]) -> list[Path]:
    """Makes `directory` hold exactly these files; touches only those that differ. Returns what changed."""
    changed = []
    wanted = {directory / name: text for name, text in files.items()}
    if directory.exists():
        for path in directory.rglob("*"):
            if path.is_file() and path not in wanted:
                path.unlink()
                changed.append(path)
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        changed.append(path)
    return changed
