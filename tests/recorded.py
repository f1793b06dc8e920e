"""What PyTorch gave for the catalogue's samples: tests/data/oracle/*.json, written by tools/record/oracle.py.

One file per catalogue file; per entry: `samples` (result and gradients of each sample, in the order of the samples) and
`dtypes` (result of the first sample with its float32 tensors in another type, or the error's type).
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from catalogue.kinds import Entry
from codegen.model import ROOT

# Significant digits that are kept: enough for the tests' tolerances.
DIGITS = {"float64": 12, "complex128": 12, "float16": 5, "bfloat16": 4}
FOLDER = ROOT / "tests" / "data" / "oracle"


def file_of(entry: Entry) -> Path:
    """Where the entry's values stand: pointwise_arith.json for catalogue/pointwise/arith.py."""
    return FOLDER / ("_".join(entry.where.file.relative_to(ROOT / "catalogue").with_suffix("").parts) + ".json")


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def recorded(entry: Entry) -> dict[str, Any] | None:
    """The entry's record, or None."""
    return _read(file_of(entry)).get(entry.id)


def pack(values: np.ndarray[Any, Any], dtype: str) -> dict[str, Any]:
    """A tensor as JSON: complex numbers as pairs, floats as text to keep their digits, inf and nan."""
    flat = values.reshape(-1)
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    if flat.dtype.kind == "f":
        digits = DIGITS.get(dtype, 9)
        data: Any = " ".join(format(v, f".{digits}g") for v in flat.tolist())
    else:
        data = flat.astype(np.int64).tolist() if dtype != "uint64" else flat.tolist()
    return {"dtype": dtype, "shape": list(values.shape), "data": data}


def unpack(record: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The array that `pack` was given."""
    data, dtype, shape = record["data"], record["dtype"], record["shape"]
    if isinstance(data, str):
        flat = np.array([float(v) for v in data.split()])
        return (flat[0::2] + 1j * flat[1::2] if dtype.startswith("complex") else flat).reshape(shape)
    return np.array(data, dtype="bool" if dtype == "bool" else None).reshape(shape)
