"""An iterator over the batches of a DataLoader that worker processes fetch.

Each worker has a queue of indices and a pipe for its results, so that a worker that dies is seen at once and can't hold
up the others. Batches are numbered in the order of the sampler, and go to the workers in turn.
"""

import collections
import functools
import multiprocessing
import signal
import time
from multiprocessing import connection, util
from pickle import PicklingError

from vivace import _C
from vivace.multiprocessing import _files
from vivace.utils.data import _worker
from vivace.utils.data._fetch import MapFetcher, StreamFetcher

_PATIENCE = 5  # seconds that workers have to finish what they are doing


class _Worker:
    """A worker process as the main process sees it."""

    def __init__(self, context, job):
        self.indices = context.Queue()
        self.indices.cancel_join_thread()
        self.results, writer = context.Pipe(duplex=False)
        self.process = context.Process(
            target=_worker.run, args=(job, self.indices, writer), name=f"DataLoader worker {job.worker_id}", daemon=True
        )
        self.process.start()
        writer.close()  # now the pipe ends when the worker does
        self.active = True  # its part of the dataset has samples
        self.tasks = 0  # batches that it has been told to fetch

    def stop(self):
        self.indices.put(None)
        self.results.close()

    def wait(self, seconds):
        """Until it has ended, which it is made to when the time is over."""
        self.process.join(seconds)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()
        self.indices.close()
        _files.remove_files_of(self.process.pid)


def _stop(workers):
    for worker in workers:
        worker.stop()
    end = time.monotonic() + _PATIENCE
    for worker in workers:
        worker.wait(max(0, end - time.monotonic()))
    workers.clear()


class MultiProcessingIterator:
    """Iterates over one epoch; a loader with persistent workers uses the same one again after `reset`."""

    def __init__(self, loader, base_seed):
        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        self._limit = loader.prefetch_factor * loader.num_workers
        self._workers = []
        self._epoch = 0
        context = loader.multiprocessing_context or multiprocessing
        fetcher = StreamFetcher if loader._stream else MapFetcher
        make = functools.partial(
            fetcher, collate=loader.collate_fn, batched=loader._batched, drop_last=loader.drop_last
        )
        self._finalizer = util.Finalize(self, _stop, args=(self._workers,), exitpriority=100)  # queues close at 10
        for number in range(loader.num_workers):
            job = _worker.Job(loader.dataset, make, loader.worker_init_fn, base_seed, number, loader.num_workers)
            try:
                self._workers.append(_Worker(context, job))
            except (TypeError, AttributeError, PicklingError) as error:
                error.add_note("DataLoader: what a worker process gets must be picklable, unless it is started by fork")
                raise
        self._begin(loader)

    def reset(self, loader):
        """Begins another epoch."""
        self._epoch += 1
        for worker in self._workers:
            worker.indices.put(self._epoch)
            worker.active, worker.tasks = True, 0
        self._begin(loader)

    def _begin(self, loader):
        self._sampler = enumerate(loader._index_sampler)
        self._turn = 0
        self._order = collections.deque()  # numbers of batches that are to be given
        self._fetching = {}  # number of a batch -> its worker
        self._fetched = {}
        for _ in range(self._limit):
            self._send()

    def __iter__(self):
        return self

    def __next__(self):
        token = _C._profiler_enter("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
        try:
            return self._next()
        finally:
            _C._profiler_exit(token)

    def _next(self):
        while self._fetching or self._fetched:
            number = self._next_number()
            if number is None:
                self._receive()
                continue
            self._order.remove(number)
            self._send()
            data = self._fetched.pop(number)
            if isinstance(data, _worker.ExceptionWrapper):
                data.reraise()
            return data
        if not self._persistent:
            self._finalizer()
        raise StopIteration

    def _next_number(self):
        """The batch to give now, None if it has not come yet."""
        if not self._in_order:
            return next(iter(self._fetched), None)
        while self._order[0] not in self._fetching and self._order[0] not in self._fetched:
            self._order.popleft()  # a stream ended before it
        return self._order[0] if self._order[0] in self._fetched else None

    def _next_worker(self):
        """In turn; without order, one that has less than its share to do. None if all have come to their end."""
        active = sum(worker.active for worker in self._workers)
        for _ in self._workers:
            worker = self._workers[self._turn % len(self._workers)]
            self._turn += 1
            if worker.active and (self._in_order or worker.tasks < self._limit // active):
                return worker
        return None

    def _send(self):
        """Tells the next worker to fetch the next batch, if there is one."""
        number, indices = next(self._sampler, (None, None))
        worker = None if number is None else self._next_worker()
        if worker is None:
            return
        worker.indices.put((self._epoch, number, indices))
        worker.tasks += 1
        self._order.append(number)
        self._fetching[number] = worker

    def _receive(self):
        """Takes in what has come; waits for something if nothing has."""
        results = {worker.results: worker for worker in self._workers}
        ready = connection.wait(results, self._timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        for result in ready:
            try:
                epoch, number, data = result.recv()
            except (EOFError, ConnectionResetError):
                self._refuse_death(results[result].process)
            if epoch == self._epoch:
                self._take(results[result], number, data)

    def _take(self, worker, number, data):
        worker.tasks -= 1
        del self._fetching[number]
        if not isinstance(data, _worker.StreamEnd):
            self._fetched[number] = data
            return
        worker.active = False
        for other in [n for n, w in self._fetching.items() if w is worker]:
            del self._fetching[other]
            self._send()
        self._send()

    def _refuse_death(self, process):
        process.join()
        code = process.exitcode
        how = f"is killed by signal: {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._finalizer()
        raise RuntimeError(f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly: it {how}.")
