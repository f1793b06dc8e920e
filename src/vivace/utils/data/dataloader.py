"""DataLoader: batches of a dataset, in the order that PyTorch's loader gives under the same seed. Everything happens in
this process; asking for worker processes says so once and changes nothing else.
"""

import itertools
import warnings

from vivace.utils.data._collate import default_collate, default_convert
from vivace.utils.data.dataset import IterableDataset
from vivace.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

_warned = False


class _Endless(Sampler):
    """Stands in for the sampler of a stream."""

    def __iter__(self):
        return itertools.repeat(None)


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
            raise ValueError("prefetch_factor option could only be specified in multiprocessing: num_workers > 0")
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
        self._default_collate = collate_fn is None
        self.collate_fn = collate_fn or (default_collate if self._batched else default_convert)
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        if num_workers > 0:
            _warn_about_workers(num_workers)

    def __iter__(self):
        draw_seed(self.generator)  # PyTorch draws one for the workers, even if there are none
        return self._iterate()

    def _iterate(self):
        if self._stream:
            return self._iterate_stream()
        if not self._batched:
            return (self.collate_fn(self.dataset[i]) for i in self.sampler)
        return map(self._fetch, self.batch_sampler)

    def _fetch(self, indices):
        fetch = getattr(self.dataset, "_fetch", None) if self._default_collate else None
        if fetch and set(map(type, indices)) == {int}:
            return fetch(indices)
        fetch = getattr(self.dataset, "__getitems__", None)
        samples = fetch(indices) if callable(fetch) else [self.dataset[i] for i in indices]
        return self.collate_fn(samples)

    def _iterate_stream(self):
        samples = iter(self.dataset)
        if not self._batched:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(itertools.islice(samples, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield self.collate_fn(batch)

    def __len__(self):
        if not self._stream:
            return len(self.batch_sampler if self._batched else self.sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def get_worker_info():
    """None: this is the main process."""
    return None


def _warn_about_workers(number):
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"DataLoader: num_workers={number} has no effect yet; vivace loads in the main process", stacklevel=3
        )
