"""Writes PyTorch's results of the cases in tests/nn and tests/optim to tests/data/nn. Needs PyTorch."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def write(name: str, cases: Iterable[str], run: Callable[[str], Any]) -> None:
    """One line a case, so that a change of one case is a change of one line."""
    rows = [f"{json.dumps(case)}: {json.dumps(run(case))}" for case in cases]
    (ROOT / "tests" / "data" / "nn" / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


def main() -> None:
    import torch

    from tests.nn import cases as layers
    from tests.optim import cases as optim

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    write("layers", layers.LAYERS, lambda case: layers.run(torch, case))
    write("optimizers", optim.OPTIMIZERS, lambda case: optim.train(torch, optim.OPTIMIZERS[case]))
    write("schedules", optim.SCHEDULES, lambda case: optim.schedule(torch, case))


if __name__ == "__main__":
    main()
