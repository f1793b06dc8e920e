"""VIVACE_POISON: fresh memory is NaN, whatever it was before, and stays NaN until somebody writes it."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import vivace as torch

n = int(sys.argv[1])
for _ in range(3):
    torch.ones(n)  # its block is free again
    assert torch.empty(n).isnan().all() == (sys.argv[2] == "poison")
    assert torch.zeros(n).eq(0).all()
x = torch.zeros(n)
x.resize_(3 * n)
assert x[:n].eq(0).all()
assert sys.argv[2] != "poison" or x[n:].isnan().all()
"""


@pytest.mark.parametrize("size", [8, 1000, 100_000])
@pytest.mark.parametrize(("value", "state"), [("1", "poison"), ("0", "none")])
def test_fresh_memory(size, value, state):
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(size), state], check=True, env=os.environ | {"VIVACE_POISON": value}
    )
