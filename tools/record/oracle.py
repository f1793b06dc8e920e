"""tests/data/oracle/*.json: what PyTorch gives for the samples of the catalogue's entries.

python -m tools.record.oracle [REGEX]     # only entries whose id matches
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from catalogue.kinds import Entry
from catalogue.samples import Spec
from tests import recorded, support
from tools.record.common import write

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


def main(only: str = "") -> None:
    """Replaces the records of the matching entries, drops those of entries that are gone."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    pattern = re.compile(only)
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
        write(path, dict(sorted(records.items())))
    if failed:
        sys.exit(f"{failed} entries failed")


if __name__ == "__main__":
    main(*sys.argv[1:2])
