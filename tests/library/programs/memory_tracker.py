"""A mode that follows the memory of tensors: who allocates, how much is alive, the most that there was."""

import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


class MemoryTracker(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.alive, self.peak, self.by_operator = 0, 0, {}
        self.users = {}  # address of a storage -> how many tensors use it

    def _forget(self, address, size):
        self.users[address] -= 1
        if self.users[address] == 0:
            del self.users[address]
            self.alive -= size

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        outside = {
            t.untyped_storage().data_ptr()
            for t in tree_iter((args, kwargs))
            if isinstance(t, torch.Tensor) and t.untyped_storage().data_ptr() not in self.users
        }
        out = func(*args, **kwargs)
        for t in tree_iter(out):
            if not isinstance(t, torch.Tensor):
                continue
            address, size = t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()
            if address in outside:
                continue
            if address not in self.users:
                self.users[address] = 0
                self.alive += size
                self.peak = max(self.peak, self.alive)
                self.by_operator[func.__name__] = self.by_operator.get(func.__name__, 0) + size
            self.users[address] += 1
            weakref.finalize(t, self._forget, address, size)
        return out


x = torch.ones(256, 256)
with MemoryTracker() as tracker:
    y = x + 1
    z = y * 2
    v = z.view(-1)[10:20]
    print("alive", tracker.alive)
    del y
    print("without y", tracker.alive)
    del z
    print("a view keeps its memory", tracker.alive)
    del v
    print("none", tracker.alive)
    x.add_(1)
    w = torch.stack([x, x, x]).sum(0).to(torch.float64)
print("peak", tracker.peak, "alive", tracker.alive)
for name, size in sorted(tracker.by_operator.items()):
    print(name, size)
del w
print("in the end", tracker.alive)


def chain(n):
    """A new matrix for each step; the one before it goes."""
    h = x
    for _ in range(n):
        h = torch.relu(h - 0.5)
    return h


for n in (1, 2, 8):
    with MemoryTracker() as tracker:
        h = chain(n)
    print(
        n,
        "steps: peak in matrices",
        tracker.peak // x.nbytes,
        "allocated",
        sum(tracker.by_operator.values()) // x.nbytes,
    )
