"""Gradients of a deep network with activation checkpointing: the same, while far fewer tensors are kept for backward.

python -m vivace examples/checkpointing.py
"""

import torch
import torch.nn as nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

DEPTH, WIDTH = 24, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def gradients(blocks, x, checkpointed):
    """Gradients of all parameters, and how many bytes the forward pass kept for backward."""
    kept = {}

    def keep(t):
        kept[t.data_ptr()] = t.numel() * t.element_size()
        return t

    y = x
    with saved_tensors_hooks(keep, lambda t: t):
        for block in blocks:
            y = checkpoint(block, y, use_reentrant=False) if checkpointed else block(y)
        loss = y.square().mean()
    blocks.zero_grad()
    loss.backward()
    return [p.grad.clone() for p in blocks.parameters()], sum(kept.values())


def main():
    torch.manual_seed(0)
    blocks = nn.ModuleList([Block() for _ in range(DEPTH)])
    x = torch.randn(32, WIDTH, requires_grad=True)
    plain, all_bytes = gradients(blocks, x, checkpointed=False)
    cheap, few_bytes = gradients(blocks, x, checkpointed=True)
    worst = max((a - b).abs().max().item() for a, b in zip(plain, cheap, strict=True))
    print(f"kept for backward: {all_bytes / 2**20:.1f} MiB, with checkpoints {few_bytes / 2**20:.2f} MiB")
    print(f"gradients differ by at most {worst:.1e}")
    assert worst == 0, "checkpointing changed the gradients"
    assert few_bytes < all_bytes / 10


if __name__ == "__main__":
    main()
