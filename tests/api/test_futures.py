"""torch.futures: results set by other threads, callbacks, and many together."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import pytest


@pytest.fixture
def futures(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.futures")


def test_result_of_another_thread(module: Any, futures: Any) -> None:
    future = futures.Future()
    assert not future.done()
    with pytest.raises(RuntimeError):
        future.value()
    thread = threading.Thread(target=future.set_result, args=(module.ones(2),))
    thread.start()
    assert future.wait().tolist() == [1, 1] and future.done() and future.value() is future.wait()
    thread.join()
    with pytest.raises(RuntimeError):
        future.set_result(1)


def test_callbacks(futures: Any) -> None:
    future, seen = futures.Future(), []
    future.add_done_callback(lambda f: seen.append(f.value()))
    following = future.then(lambda f: f.wait() + 1).then(lambda f: 10 * f.wait())
    future.set_result(1)
    assert seen == [1] and following.wait() == 20
    assert future.then(lambda f: "at once").wait() == "at once"


def test_exceptions(futures: Any) -> None:
    future = futures.Future()
    following = future.then(lambda f: f.wait())
    future.set_exception(ValueError("no"))
    for failed in (future, following):
        with pytest.raises((ValueError, RuntimeError), match="no"):
            failed.wait()
    with pytest.raises(AssertionError):
        futures.Future().set_exception(3)


def test_many(futures: Any) -> None:
    many = [futures.Future() for _ in range(3)]
    together = futures.collect_all(many)
    for i, future in enumerate(many):
        assert not together.done()
        future.set_result(i)
    assert [f.value() for f in together.wait()] == futures.wait_all(many) == [0, 1, 2]
    assert futures.wait_all([]) == []
