"""Writes tests/data/oracle/*.json: what PyTorch gives for the samples of the catalogue's entries. Deterministic.

python tools/record_oracle.py [REGEX]     # entries whose id matches; needs torch, not vivace
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from catalogue.kinds import Entry
from catalogue.samples import Spec
from tests import recorded, support

VALUE_LIMIT = 8192  # elements: larger results are not recorded


def pack_all(module: Any, result: Any) -> list[dict[str, Any]]:
    """Every output of a result."""
    packed = []
    for value in support.outputs(module, result):
        values = support.array(value)
        if values.size > VALUE_LIMIT:
            raise ValueError(f"{values.size} elements are too many to record; make the sample smaller")
        packed.append(recorded.pack(values, support.dtype_of(value)))
    return packed


def cotangent(values: np.ndarray[Any, Any], seed: str) -> np.ndarray[Any, Any]:
    """The fixed direction that gradients are taken along."""
    return support.values_of(Spec(values.shape), "complex128" if np.iscomplexobj(values) else "float64", seed)


def record_sample(module: Any, entry: Entry, number: int) -> dict[str, Any]:
    """Result in the sample's own types, and gradients with float32 raised to float64."""
    record: dict[str, Any] = {"out": pack_all(module, support.make(module, entry, number)())}
    call = support.make(module, entry, number, dtype="float64", grad=True)
    if call.leaves:
        try:
            gradients = support.gradients(call)
        except RuntimeError as error:
            if "derivative" not in str(error) or "not implemented" not in str(error):
                raise
            gradients = None
        if gradients is not None:
            record["grad"] = [
                None if g is None else recorded.pack(support.array(g), support.dtype_of(g)) for g in gradients
            ]
    return record


def record(module: Any, entry: Entry) -> dict[str, Any]:
    """All that the tests want to know of an entry."""
    result: dict[str, Any] = {
        "samples": [record_sample(module, entry, n) for n, _ in support.numbered(entry)],
        "dtypes": {},
    }
    if any(isinstance(a, Spec) and a.dtype == "float32" for a in support.specs(entry, 0)):
        for dtype in support.runtime_names(entry):
            try:
                result["dtypes"][dtype] = pack_all(module, support.make(module, entry, 0, dtype=dtype)())
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
                result["dtypes"][dtype] = type(error).__name__
    return result


def main() -> int:
    """Replaces the records of the matching entries, drops those of entries that are gone."""
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    files: dict[Path, dict[str, Any]] = {}
    failed = 0
    for entry in support.entries():
        if entry.name.startswith("_"):  # ours alone
            continue
        records = files.setdefault(recorded.file_of(entry), {})
        if not pattern.search(entry.id):
            old = recorded.recorded(entry)
            if old is not None:
                records[entry.id] = old
            continue
        try:
            records[entry.id] = record(torch, entry)
        except Exception as error:
            failed += 1
            print(f"{entry.where}: {entry.id}: {type(error).__name__}: {error}".splitlines()[0])
    recorded.FOLDER.mkdir(parents=True, exist_ok=True)
    for path in recorded.FOLDER.glob("*.json"):
        if path not in files:
            path.unlink()
    for path, records in files.items():
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(records[name])}" for name in sorted(records))
        path.write_text("{\n" + lines + "\n}\n")
    print(f"{sum(len(r) for r in files.values())} entries in {len(files)} files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
