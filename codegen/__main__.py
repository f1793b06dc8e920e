"""Command line: `python -m codegen --out DIR` writes everything, `--check` only reads the catalogue and lists it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from catalogue.kinds import discover
from codegen.generate import generate, plan_pointwise
from codegen.model import CatalogueError
from codegen.render import write_tree


def main() -> int:
    parser = argparse.ArgumentParser(prog="codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="list the entries, or the first error")
    parser.add_argument("--out", type=Path, metavar="DIR", help="make DIR hold exactly the generated files")
    options = parser.parse_args()
    try:
        entries = discover()
        if options.check:
            for entry in entries:
                for schema in entry.schemas:
                    print(f"{entry.where}: {entry.kind}: {schema}")
            for name in plan_pointwise(entries).unfused():
                print(f"{name}: no fused kernel, its operators run one by one")
        if options.out:
            write_tree(options.out, generate(entries))
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
