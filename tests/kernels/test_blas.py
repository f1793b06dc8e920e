"""How OpenBLAS is found and opened."""

import os
import subprocess
import sys

import pytest

FIRST_USES = {
    "conv2d": "F.conv2d(torch.randn(8, 16, 32, 32), torch.randn(16, 16, 3, 3))",
    "attention": "F.scaled_dot_product_attention(*torch.randn(3, 4, 8, 256, 64))",
    "mm": "torch.randn(256, 256) @ torch.randn(256, 256)",
}


@pytest.mark.parametrize("name", FIRST_USES)
def test_first_use_may_be_in_an_operator_that_splits_its_work(name):
    code = f"import vivace as torch, vivace.nn.functional as F; torch.set_num_threads(2); {FIRST_USES[name]}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, timeout=60)
    assert run.returncode == 0, run.stderr
