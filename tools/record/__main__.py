"""Records PyTorch's values that the tests compare with: python -m tools.record [NAME ...], where torch is PyTorch.

The names are those of the modules beside this one; without any, all are recorded. Deterministic.
"""

from __future__ import annotations

import importlib
import sys

NAMES = ("checkpoint", "data", "names", "nn", "oracle", "random", "repr")


def main(names: list[str]) -> None:
    if unknown := sorted(set(names) - set(NAMES)):
        sys.exit(f"no recorder {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in names or NAMES:
        importlib.import_module(f"tools.record.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
