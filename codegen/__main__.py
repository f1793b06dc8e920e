"""Command line: `python -m codegen --out DIR | --check | --list-outputs`."""

from __future__ import annotations

import argparse
import sys

from catalogue.kinds import discover
from codegen.model import CatalogueError


def main() -> int:
    parser = argparse.ArgumentParser(prog="codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="list the entries, or the first error")
    options = parser.parse_args()
    try:
        entries = discover()
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        for entry in entries:
            for schema in entry.schemas:
                print(f"{entry.where}: {entry.kind}: {schema}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
