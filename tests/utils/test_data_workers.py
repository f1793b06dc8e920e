"""DataLoader with worker processes. Numbers that depend on seeds are PyTorch's."""

import gc
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import vivace as torch
from vivace.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    """Calls of `action` where it is asked for 5; in a worker."""

    def __init__(self, n=20, action=None):
        self.n = n
        self.action = action

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == 5 and self.action:
            self.action()
        return i


class Seeded(Numbers):
    def __getitem__(self, i):
        info = get_worker_info()
        return i, info.id, info.seed % 1000, random.random(), np.random.rand(), torch.rand(1).item()


class Stream(IterableDataset):
    """0 to n - 1 over all workers; to 8 in the first one, which therefore ends early."""

    def __iter__(self):
        info = get_worker_info()
        yield from range(info.id, 17 if info.id else 9, info.num_workers)


def fail():
    raise KeyError("no five")


def numbers(loader):
    return [batch.tolist() for batch in loader]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    gc.collect()
    family = os.environ.get("VIVACE_SHARED_MEMORY", "vivace-none")
    assert not [name for name in os.listdir("/dev/shm") if name.startswith(family + "-")]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_start_methods(method):
    loader = DataLoader(Numbers(), batch_size=8, num_workers=1, multiprocessing_context=method)
    assert numbers(loader) == [list(range(8)), list(range(8, 16)), list(range(16, 20))]


def test_seeds_and_order_are_pytorchs():
    torch.manual_seed(3)
    loader = DataLoader(Seeded(), batch_size=3, shuffle=True, num_workers=2)
    index, worker, seed, python, numpy, tensor = (column.tolist() for column in next(iter(loader)))
    assert index == [6, 16, 0] and worker == [0, 0, 0] and seed == [96, 96, 96]
    assert python[0] == 0.21793848432592644 and numpy[0] == 0.8794862824005928
    assert tensor[0] == pytest.approx(0.2876076102256775, abs=1e-7)
    later = numbers(DataLoader(Numbers(), 10, True, num_workers=2, generator=torch.Generator().manual_seed(4)))
    assert later == numbers(DataLoader(Numbers(), 10, True, generator=torch.Generator().manual_seed(4)))


def test_batches_come_in_shared_memory_and_can_be_written():
    for batch in DataLoader([torch.full((2,), float(i)) for i in range(4)], batch_size=2, num_workers=1):
        assert batch.is_shared() and batch.dtype is torch.float32
        batch += 1


def test_streams_are_shared_out():
    assert numbers(DataLoader(Stream(), batch_size=3, num_workers=2)) == [
        [0, 2, 4],
        [1, 3, 5],
        [6, 8],
        [7, 9, 11],
        [13, 15],
    ]
    assert numbers(DataLoader(Stream(), 3, num_workers=2, drop_last=True)) == [[0, 2, 4], [1, 3, 5], [7, 9, 11]]
    assert sorted(map(int, DataLoader(Stream(), batch_size=None, num_workers=2))) == sorted([*range(9), 9, 11, 13, 15])


@pytest.mark.parametrize("dataset", [Numbers(7), Stream()])
def test_persistent_workers(dataset):
    loader = DataLoader(dataset, batch_size=2, num_workers=2, persistent_workers=True)
    first = numbers(loader)
    workers = [worker.process.pid for worker in loader._iterator._workers]
    assert numbers(loader) == first
    next(iter(loader))  # an epoch that is given up leaves nothing in the next
    assert numbers(loader) == first
    assert [worker.process.pid for worker in loader._iterator._workers] == workers


def test_prefetching_goes_as_far_as_it_was_told(tmp_path):
    def note(i):
        (tmp_path / str(i)).touch()
        return i

    class Noted(Numbers):
        def __getitem__(self, i):
            return note(i)

    iterator = iter(DataLoader(Noted(), num_workers=1, prefetch_factor=3))
    assert next(iterator).item() == 0
    deadline = time.monotonic() + 5
    while len(list(tmp_path.iterdir())) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(list(tmp_path.iterdir())) == 4


def test_without_order_a_slow_worker_holds_up_nobody():
    class Slow(Numbers):
        def __getitem__(self, i):
            if i == 0:
                time.sleep(0.5)
            return i

    given = numbers(DataLoader(Slow(6), num_workers=2, in_order=False))
    assert sorted(given) == [[i] for i in range(6)] and given[0] != [0]


def test_worker_init_fn_and_info():
    dataset = Numbers(4)

    def begin(number):
        info = get_worker_info()
        assert info.id == number and info.num_workers == 2 and info.dataset is not None
        info.dataset.n = 100 + number

    class Seen(Numbers):
        def __getitem__(self, i):
            return get_worker_info().dataset.n

    assert numbers(DataLoader(Seen(4), num_workers=2, worker_init_fn=begin)) == [[100], [101], [100], [101]]
    assert get_worker_info() is None and dataset.n == 4


def test_exceptions_come_with_the_workers_traceback():
    loader = DataLoader(Numbers(action=fail), num_workers=2)
    with pytest.raises(KeyError) as caught:
        numbers(loader)
    text = str(caught.value)
    assert text.startswith(
        "Caught KeyError in DataLoader worker process 1.\nOriginal Traceback (most recent call last)"
    )
    assert "in fail" in text and "no five" in text
    with pytest.raises(ZeroDivisionError, match="worker process 0"):
        next(iter(DataLoader(Numbers(), num_workers=1, worker_init_fn=lambda n: n / 0)))


def test_an_exception_that_cannot_be_sent():
    class LocalError(Exception):
        pass

    def fail_locally():
        raise LocalError("here")

    with pytest.raises(RuntimeError, match="LocalError: here"):
        numbers(DataLoader(Numbers(action=fail_locally), num_workers=1))


def test_a_batch_that_cannot_be_sent():
    with pytest.raises((AttributeError, TypeError, RuntimeError), match="worker process 0"):
        next(iter(DataLoader([1], num_workers=1, collate_fn=lambda batch: lambda: batch)))


@pytest.mark.parametrize(
    ("action", "text"),
    [(lambda: os.kill(os.getpid(), signal.SIGKILL), "SIGKILL"), (lambda: os._exit(3), "exit code 3")],
)
def test_a_worker_that_dies(action, text):
    loader = DataLoader(Numbers(action=action), num_workers=2, batch_size=2)
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly.*{text}"):
        numbers(loader)


def test_timeout():
    loader = DataLoader(Numbers(action=lambda: time.sleep(3)), batch_size=6, num_workers=1, timeout=0.2)
    with pytest.raises(RuntimeError, match="timed out after 0.2 seconds"):
        numbers(loader)


def test_giving_up_ends_the_workers():
    iterator = iter(DataLoader([torch.ones(100_000)] * 50, num_workers=2, prefetch_factor=10))
    next(iterator)
    processes = [worker.process for worker in iterator._workers]
    del iterator
    assert [process.exitcode for process in processes] == [0, 0]


def test_options():
    with pytest.warns(UserWarning, match="device pinned memory won't be used"):
        numbers(DataLoader(Numbers(2), pin_memory=True))
    with pytest.warns(UserWarning, match="will create 1000 worker processes"):
        loader = DataLoader(Numbers(), num_workers=1000)
    assert loader.prefetch_factor == 2
    for context, error in (("thread", ValueError), (5, TypeError)):
        with pytest.raises(error, match="multiprocessing_context option should"):
            DataLoader(Numbers(), num_workers=1, multiprocessing_context=context)
    with pytest.raises(ValueError, match="only be used with multi-process loading"):
        DataLoader(Numbers(), multiprocessing_context="fork")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DataLoader(Numbers(), num_workers=1)


SCRIPT = """
import torch

class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.tensor(i) ** 2

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(Squares(), num_workers=1, multiprocessing_context=method)
        print([batch.item() for batch in loader])
    iterator = iter(torch.utils.data.DataLoader(Squares(), num_workers=2))
    next(iterator)
"""


def test_a_script_run_by_vivace(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "vivace", "script.py"]
    env = {**os.environ, "PYTHONPATH": str(Path(torch.__file__).parents[1])}
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (run.stdout, run.stderr) == ("[0, 1, 4, 9]\n[0, 1, 4, 9]\n", "")
