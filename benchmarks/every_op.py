"""Every entry of the catalogue on its first sample, vivace beside PyTorch: nanoseconds a call, forward, no grad.

python -m benchmarks.every_op [REGEX] [--worst N]      # needs the test dependencies, no torch
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.common import OURS, best_alternating, frameworks, load, print_table
from catalogue.kinds import Entry
from tests import support


def bound_call(module: Any, entry: Entry) -> Callable[[], object]:
    """The first sample as a call without arguments."""
    call = support.make(module, entry, 0)
    function, args, kwargs = support.resolve(module, entry), call.args, call.kwargs
    return (lambda: function(*args, **kwargs)) if kwargs else (lambda: function(*args))


def measure(modules: dict[str, Any], entry: Entry) -> dict[str, float]:
    """Nanoseconds by framework; those without the operator are left out."""
    calls = {}
    for name, module in modules.items():
        try:
            calls[name] = bound_call(module, entry)
            calls[name]()
        except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            print(f"  {entry.id}: {name}: {type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
            calls.pop(name, None)
    return best_alternating(calls, rounds=2, budget=0.01)


def main() -> None:
    """Prints all rows, slowest ratio first, and the geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--worst", type=int, default=10**6, help="print so many rows")
    args = parser.parse_args()
    modules = {name: load(name) for name in frameworks()}
    rows = {e.id: measure(modules, e) for e in support.entries() if re.search(args.pattern, e.id)}
    ratios = {name: row["torch"] / row[OURS] for name, row in rows.items() if len(row) == 2}
    ordered = sorted(rows, key=lambda name: ratios.get(name, math.inf))
    print_table("First sample of every entry, no grad", "ns", {name: rows[name] for name in ordered[: args.worst]})
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        print(f"{len(ratios)} operators, geometric mean {mean:.2f}, least {min(ratios.values()):.2f}")


if __name__ == "__main__":
    main()
