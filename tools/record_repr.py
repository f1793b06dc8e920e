"""Records how PyTorch prints the tensors of tests/api: python tools/record_repr.py, where torch is PyTorch."""

import gzip
import json
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.api.repr_cases import OPTIONS, texts  # noqa: E402

TARGET = ROOT / "tests" / "data" / "repr.json.gz"


def main() -> None:
    recorded = {options: texts(torch, options) for options in OPTIONS}
    TARGET.write_bytes(gzip.compress(json.dumps(recorded).encode(), 9, mtime=0))
    print(f"{TARGET}: {sum(map(len, recorded.values()))} texts with torch {torch.__version__}")


if __name__ == "__main__":
    main()
