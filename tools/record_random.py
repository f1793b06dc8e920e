"""Records what PyTorch draws in the cases of tests/random: python tools/record_random.py, where torch is PyTorch."""

import json
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

TARGET = ROOT / "tests" / "data" / "random.json"


def main() -> None:
    if not TARGET.exists():
        TARGET.write_text("{}")  # the test module reads it
    from tests.random.cases import CASES, SEEDS
    from tests.random.test_stream import digest

    recorded = {name: {str(seed): digest(torch, name, seed) for seed in SEEDS} for name in CASES}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items())
    TARGET.write_text("{\n" + lines + "\n}\n")
    print(f"{TARGET}: {len(recorded)} cases with torch {torch.__version__}")


if __name__ == "__main__":
    main()
