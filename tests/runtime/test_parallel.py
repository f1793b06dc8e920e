"""Threads: kernels that use several, Python threads that call operators at the same time, fork."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

SIZE = 1 << 19  # enough for several threads


@pytest.fixture(autouse=True)
def two_threads(module: Any) -> Iterator[None]:
    before = module.get_num_threads()
    module.set_num_threads(2)
    yield
    module.set_num_threads(before)


def check_parallel(module: Any, x: Any, expected: np.ndarray) -> None:
    np.testing.assert_array_equal((x * 2 + 1).numpy(), expected)


def test_the_number_of_threads_changes_no_value(module: Any) -> None:
    x = module.arange(SIZE, dtype=module.float64).sin()
    results = []
    for n in (1, 2, 5):
        module.set_num_threads(n)
        assert module.get_num_threads() == n
        results.append([x.exp().tolist()[::1000], x.cumsum(0)[-1].item(), x.view(1024, -1).sum(1).tolist()])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("n", [0, -1])
def test_there_is_at_least_one_thread(module: Any, n: int) -> None:
    with pytest.raises(RuntimeError, match="positive"):
        module.set_num_threads(n)


def test_a_forked_child_has_threads_of_its_own(module: Any) -> None:
    x = module.arange(SIZE, dtype=module.float32)
    expected = x.numpy() * 2 + 1
    for _ in range(100):
        check_parallel(module, x, expected)
        child = os.fork()
        if child == 0:
            try:
                check_parallel(module, x, expected)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0


def test_fork_while_another_thread_computes(module: Any) -> None:
    x = module.arange(SIZE, dtype=module.float32)
    expected = x.numpy() * 2 + 1
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            x.exp()

    other = threading.Thread(target=compute)
    other.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                try:
                    check_parallel(module, x, expected)
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        other.join()


def test_python_threads_run_small_operators_and_backward(module: Any) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            w = module.tensor([1.0, 2.0, 3.0, float(number)], requires_grad=True)
            for i in range(100_000):
                (w * w + i).sum().backward()
                assert w.grad.tolist() == [2.0, 4.0, 6.0, 2.0 * number]
                w.grad = None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_python_threads_share_the_pool(module: Any) -> None:
    x = module.arange(SIZE, dtype=module.float32)
    expected = x.numpy() * 2 + 1
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                check_parallel(module, x, expected)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("n", [1, 2])
def test_other_python_threads_run_during_a_long_kernel(module: Any, n: int) -> None:
    module.set_num_threads(n)
    x = module.ones(1 << 25)
    inside = threading.Event()
    seconds: list[float] = []

    def work() -> None:
        inside.set()
        start = time.perf_counter()
        x.lgamma()
        seconds.append(time.perf_counter() - start)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    steps = 0
    while not seconds:
        time.sleep(0.001)
        steps += 1
    thread.join()
    assert seconds[0] > 0.02, "the kernel is too fast to tell"
    assert steps > 5
