"""Records what PyTorch's loaders give in the cases of tests/utils; run it where torch is PyTorch."""

import json
import sys
from pathlib import Path

import torch
import torch.utils.data

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.utils.data_cases import CASES, outcome  # noqa: E402

TARGET = ROOT / "tests" / "data" / "data.json"


def main() -> None:
    recorded = {name: outcome(torch, name) for name in CASES}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items())
    TARGET.write_text("{\n" + lines + "\n}\n")
    print(f"{TARGET}: {len(recorded)} cases with torch {torch.__version__}")


if __name__ == "__main__":
    main()
