"""Makes examples/data/digits.gz of the digits that scikit-learn brings: python tools/make_digits.py [scikit_learn.whl]

Without a wheel the installed package is read. The file is a gzip of 1,797 records, each of 64 pixels (0 to 16) and a
label.
"""

import gzip
import importlib.util
import sys
import zipfile
from pathlib import Path
from typing import Any

SOURCE = "sklearn/datasets/data/digits.csv.gz"
TARGET = Path(__file__).resolve().parents[1] / "examples" / "data" / "digits.gz"


def read_source() -> Any:
    if len(sys.argv) > 1:
        with zipfile.ZipFile(sys.argv[1]) as wheel:
            return wheel.read(SOURCE)
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        sys.exit("scikit-learn is not installed: give the path of its wheel")
    return (Path(spec.origin).parents[1] / SOURCE).read_bytes()


def main() -> None:
    lines = gzip.decompress(read_source()).decode().split()
    records = [bytes(int(float(x)) for x in line.split(",")) for line in lines]
    assert {len(r) for r in records} == {65}
    assert max(map(max, records)) == 16
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(gzip.compress(b"".join(records), 9, mtime=0))
    print(f"{TARGET}: {len(records)} digits, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
