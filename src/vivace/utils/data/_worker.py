"""A worker process of a DataLoader: fetches the batches that it is told to, and sends them back.

Messages to a worker: (epoch, number, indices), an epoch to begin again with, None to end. Messages from it: (epoch,
number, batch), where a StreamEnd or an ExceptionWrapper may stand for the batch.
"""

import random
import sys
import traceback
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from multiprocessing.reduction import ForkingPickler
from typing import Any

import vivace
from vivace.utils.data import _info
from vivace.utils.data._fetch import StreamFetcher
from vivace.utils.data._info import WorkerInfo


class StreamEnd:
    """The worker's part of an IterableDataset has no more samples."""


class ExceptionWrapper:
    """The exception that is being handled, for another process."""

    def __init__(self, where):
        kind, *rest = sys.exc_info()
        self.kind = kind
        self.text = "".join(traceback.format_exception(kind, *rest))
        self.where = where

    def reraise(self):
        """Raises an exception of the same class, whose text holds the traceback."""
        text = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        try:
            error = self.kind(_Verbatim(text) if self.kind is KeyError else text)
        except Exception:  # a class that takes other arguments
            raise RuntimeError(text) from None
        raise error


class _Verbatim(str):
    """A text whose repr, which KeyError shows, is itself."""

    def __repr__(self):
        return self


@dataclass
class Job:
    """What a worker is given when it starts."""

    dataset: Any
    make_fetcher: Any  # of the dataset
    worker_init_fn: Any
    base_seed: int
    worker_id: int
    num_workers: int


def _seed(base_seed, worker_id):
    seed = base_seed + worker_id
    random.seed(seed)
    vivace.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        numpy.random.seed(numpy.random.SeedSequence(words).generate_state(4))
    return seed


def run(job, indices, results):
    """The worker's life: `indices` is a queue, `results` a connection that the main process reads."""
    try:
        vivace.set_num_threads(1)
        seed = _seed(job.base_seed, job.worker_id)
        _info.current = WorkerInfo(job.worker_id, job.num_workers, seed, job.dataset)
        _serve(job, indices, results)
    except KeyboardInterrupt:
        pass  # the main process was interrupted too, and says so
    except BrokenPipeError:
        pass  # it reads no more


def _serve(job, indices, results):
    where = f"in DataLoader worker process {job.worker_id}"
    failure, fetcher = None, None
    try:
        if job.worker_init_fn is not None:
            job.worker_init_fn(job.worker_id)
        fetcher = job.make_fetcher(job.dataset)
    except Exception:
        failure = ExceptionWrapper(where)
    ended = False
    main_process = parent_process().sentinel
    while True:
        if main_process in connection.wait([indices._reader, main_process]) and indices.empty():
            return
        message = indices.get()
        if message is None:
            return
        if isinstance(message, int):
            ended, fetcher = False, job.make_fetcher(job.dataset)
            continue
        if ended:
            continue
        epoch, number, index = message
        try:
            data = failure or fetcher.fetch(index)
        except Exception as error:
            ended = isinstance(error, StopIteration) and isinstance(fetcher, StreamFetcher)
            data = StreamEnd() if ended else ExceptionWrapper(where)
        results.send_bytes(_pickled((epoch, number, data), where))
        del data, message, index


def _pickled(message, where):
    try:
        return ForkingPickler.dumps(message)
    except Exception:
        epoch, number, data = message
        if isinstance(data, ExceptionWrapper):
            data.kind = RuntimeError  # the class is one that only the worker knows
        else:
            data = ExceptionWrapper(where)
        return ForkingPickler.dumps((epoch, number, data))
