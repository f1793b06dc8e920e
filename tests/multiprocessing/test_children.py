"""Processes that are spawned by a script that vivace runs know torch as it does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vivace

SCRIPT = """
import multiprocessing

import torch

def work(queue):
    queue.put((torch.__file__, torch.ones(2).tolist()))

if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(queue.get() == (torch.__file__, [1.0, 1.0]))
        process.join()
"""


@pytest.mark.parametrize("command", [["script.py"], ["-m", "script"]], ids=["script", "module"])
def test_plain_multiprocessing(tmp_path, command):
    (tmp_path / "script.py").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(Path(vivace.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-m", "vivace", *command], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    assert (run.stdout, run.stderr) == ("True\nTrue\n", "")
