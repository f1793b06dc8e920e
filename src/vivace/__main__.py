"""`python -m vivace script.py args...`: runs a program written for torch. What it does: vivace/_runner.py."""

import sys

from vivace._runner import main

main(sys.argv[1:])
