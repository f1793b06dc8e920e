"""Reads batches of a dataset, in the main process or in a worker."""

import itertools

from vivace.utils.data._collate import default_collate


class MapFetcher:
    """Of a dataset with indices: fetch(indices) gives a batch, or without batches fetch(index) a sample."""

    def __init__(self, dataset, collate, batched, drop_last):
        self.dataset = dataset
        self.collate = collate
        self._fetch_collated = getattr(dataset, "_fetch", None) if collate is default_collate else None
        self._fetch_samples = getattr(dataset, "__getitems__", None)
        self.fetch = self._fetch_batch if batched else self._fetch_one

    def _fetch_one(self, index):
        return self.collate(self.dataset[index])

    def _fetch_batch(self, indices):
        if self._fetch_collated and set(map(type, indices)) == {int}:
            return self._fetch_collated(indices)
        fetch = self._fetch_samples
        return self.collate(fetch(indices) if callable(fetch) else [self.dataset[i] for i in indices])


class StreamFetcher:
    """Of an IterableDataset: fetch(indices) gives as many samples as there are indices; StopIteration at the end."""

    def __init__(self, dataset, collate, batched, drop_last):
        self.samples = iter(dataset)
        self.collate = collate
        self.drop_last = drop_last
        self.fetch = self._fetch_batch if batched else self._fetch_one

    def _fetch_one(self, index):
        return self.collate(next(self.samples))

    def _fetch_batch(self, indices):
        batch = list(itertools.islice(self.samples, len(indices)))
        if not batch or (self.drop_last and len(batch) < len(indices)):
            raise StopIteration
        return self.collate(batch)
