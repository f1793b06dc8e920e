"""Draws the pictures of docs/seeing.md: python tools/pictures.py

The memory timeline differs from run to run; it is written if it is not there, or if `--memory` is given.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"


def without_root(picture: Any) -> str:
    """The text of a picture, its files named from the project's root."""
    return str(picture).replace(f"{ROOT}/", "")


def graph(torch: Any) -> Any:
    """The graph of a residual block."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.norm = nn.BatchNorm2d(8)
            self.conv2 = nn.Conv2d(8, 8, 3, padding=1)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.norm(self.conv1(x)))
            return torch.relu(self.conv2(y) + x)

    torch.manual_seed(0)
    block = Block()
    x = torch.randn(2, 8, 16, 16, requires_grad=True)
    return torch.viz.graph({"loss": block(x).mean()}, dict(block.named_parameters()) | {"x": x})


def memory(torch: Any) -> Any:
    """The memory of two training steps."""
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 16 * 16, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters())
    x, target = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

    step()  # allocates what stays
    with torch.profiler.profile(profile_memory=True, with_stack=True) as profiler:
        step()
        step()
    return torch.viz.memory(profiler)


def main() -> None:
    """Writes the files."""
    import vivace

    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "graph.svg").write_text(without_root(graph(vivace)))
    if "--memory" in sys.argv or not (FOLDER / "memory.svg").exists():
        (FOLDER / "memory.svg").write_text(without_root(memory(vivace)))


if __name__ == "__main__":
    main()
