"""What a worker process of a DataLoader knows of itself."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """Number, seed and copy of the dataset of a worker process."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


current = None


def get_worker_info():
    """In a worker process of a DataLoader its WorkerInfo, elsewhere None."""
    return current
