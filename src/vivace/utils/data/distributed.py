"""A sampler that gives each of several processes its share of a dataset."""

import math

import vivace
from vivace.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """Every num_replicas-th index, beginning with rank: all shares have one length, for which some indices come twice,
    or with drop_last are left out. `set_epoch` gives another order to each epoch."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available: give num_replicas and rank")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        count = len(self.dataset)
        if self.shuffle:
            generator = vivace.Generator().manual_seed(self.seed + self.epoch)
            indices = vivace.randperm(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        indices = (indices * math.ceil(self.total_size / max(count, 1)))[: self.total_size]
        return iter(indices[self.rank :: self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Sets what the order depends on beside the seed."""
        self.epoch = epoch
