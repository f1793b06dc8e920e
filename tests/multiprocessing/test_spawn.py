"""spawn and start_processes: results, failures, and what happens to the other processes then."""

import os
import pickle
import signal
import sys
import time

import pytest

import vivace as torch
import vivace.multiprocessing as mp


def write(index, tensor):
    tensor[index] = index + 1


def test_all_are_run():
    results = torch.zeros(3).share_memory_()
    assert mp.spawn(write, args=(results,), nprocs=3) is None
    assert results.tolist() == [1, 2, 3]


def wait_or_fail(index):
    if index == 1:
        raise ValueError("the second")
    time.sleep(60)


def test_an_exception_ends_the_others():
    start = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException) as caught:
        mp.start_processes(wait_or_fail, nprocs=2, start_method="fork")
    assert time.monotonic() - start < 20
    error = caught.value
    assert "-- Process 1 terminated with the following error:\nTraceback" in str(error) and "the second" in str(error)
    assert error.error_index == 1 and error.error_pid > 0
    assert pickle.loads(pickle.dumps(error)).error_index == 1


def end(index, how):
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(how)


def test_other_ways_to_end():
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 3") as caught:
        mp.start_processes(end, args=(3,), start_method="fork")
    assert caught.value.exit_code == 3
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL") as caught:
        mp.start_processes(end, args=("kill",), start_method="fork")
    assert caught.value.signal_name == "SIGKILL"


def test_without_joining():
    context = mp.start_processes(end, args=(0,), nprocs=2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join(timeout=10):
        pass
    assert context.join()


def test_spawn_knows_one_way():
    with pytest.warns(FutureWarning, match="start_processes"):
        mp.spawn(end, args=(0,), start_method="fork")
