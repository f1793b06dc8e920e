"""DataLoader: batches of a dataset, in the order that PyTorch's loader gives under the same seed, fetched in this
process or by worker processes (_workers.py)."""

import itertools
import os
import sys
import warnings
from collections.abc import Iterator

from vivace import _C
from vivace.utils.data._collate import default_collate, default_convert
from vivace.utils.data._fetch import MapFetcher, StreamFetcher
from vivace.utils.data.dataset import IterableDataset
from vivace.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed


def _timed(iterator):
    """The same batches; each is a range in profiles."""
    while True:
        token = _C._profiler_enter("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
        try:
            batch = next(iterator)
        except StopIteration:
            return
        finally:
            _C._profiler_exit(token)
        yield batch


class _Endless(Sampler):
    """Stands in for the sampler of a stream."""

    def __iter__(self):
        return itertools.repeat(None)


_BaseDataLoaderIter = Iterator  # what annotations say of those that a loader gives


def __getattr__(name):
    if name != "_MultiProcessingDataLoaderIter":
        raise AttributeError(f"module 'torch.utils.data.dataloader' has no attribute '{name}'")
    from vivace.utils.data._workers import MultiProcessingIterator

    return MultiProcessingIterator


_FIXED = {"batch_size", "batch_sampler", "dataset", "drop_last", "persistent_workers", "sampler"}


class DataLoader:
    """Iterates over batches of a dataset.

    A map-style dataset is read in the order of a sampler (or of `shuffle`); an IterableDataset in its own order. With
    batch_size=None the dataset makes its own batches.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                "multiprocessing, otherwise set prefetch_factor to None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if num_workers == 0 and persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self._stream = isinstance(dataset, IterableDataset)
        if self._stream:
            if shuffle:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified shuffle option, got {shuffle=}"
                )
            if sampler is not None or batch_sampler is not None:
                raise ValueError(
                    "DataLoader with IterableDataset: expected unspecified sampler and batch_sampler options"
                )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._stream:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self._batched = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if self._batched else default_convert)
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._iterator = None  # of persistent workers
        self.check_worker_number_rationality()

    def __setattr__(self, name, value):
        if name in _FIXED and "_iterator" in self.__dict__:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized: samplers were made "
                "from it"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        """How worker processes are started."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            import multiprocessing

            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        "multiprocessing_context option should specify a valid start method in "
                        f"{methods!r}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}"
                )
        self._context = context

    def check_worker_number_rationality(self):
        """Warns if there are more workers than processors."""
        processors = len(os.sched_getaffinity(0))
        if self.num_workers > processors:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {processors}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=3,
            )

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._batched else self.sampler

    def __iter__(self):
        if self.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=2,
            )
        if self._iterator is not None:
            self._iterator.reset(self)
            return self._iterator
        base_seed = draw_seed(self.generator)  # drawn even if there are no workers, as PyTorch does
        if self.num_workers == 0:
            profiled = "vivace.profiler._session" in sys.modules  # else nothing ever was
            return _timed(self._iterate()) if profiled else self._iterate()
        from vivace.utils.data._workers import MultiProcessingIterator

        iterator = MultiProcessingIterator(self, base_seed)
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def _iterate(self):
        if self._stream:
            return self._iterate_stream()
        return map(MapFetcher(self.dataset, self.collate_fn, self._batched, self.drop_last).fetch, self._index_sampler)

    def _iterate_stream(self):
        fetcher = StreamFetcher(self.dataset, self.collate_fn, self._batched, self.drop_last)
        for indices in self._index_sampler:
            try:
                batch = fetcher.fetch(indices)
            except StopIteration:
                return
            yield batch

    def __len__(self):
        if not self._stream:
            return len(self._index_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
