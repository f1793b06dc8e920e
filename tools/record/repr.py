"""tests/data/repr.json.gz: how the tensors of tests/api/repr_cases.py print."""

from __future__ import annotations

import gzip
import json

import torch

from tests.api.repr_cases import OPTIONS, texts
from tools.record.common import DATA


def main() -> None:
    recorded = {options: texts(torch, options) for options in OPTIONS}
    (DATA / "repr.json.gz").write_bytes(gzip.compress(json.dumps(recorded).encode(), 9, mtime=0))
    print(f"repr.json.gz: {sum(map(len, recorded.values()))} texts")
