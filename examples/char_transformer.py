"""A small GPT that learns the scripts of this folder character by character, and then writes on.

python -m vivace examples/char_transformer.py
"""

import math
import os
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH, BATCH, WIDTH, HEADS, DEPTH = 64, 16, 64, 4, 2


class Block(nn.Module):
    """Attention to what came before, then a network for each character; both add to their input."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.network = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.merge(seen.transpose(1, 2).reshape(x.shape))
        return x + self.network(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.embedding = nn.Embedding(characters, WIDTH)
        self.position = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(DEPTH)))
        self.norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, characters, bias=False)
        self.out.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, text):
        x = self.embedding(text) + self.position[: text.shape[1]]
        return self.out(self.norm(self.blocks(x)))


@torch.no_grad()
def write_on(model, text, count, temperature=0.8):
    """Draws `count` more characters, each given the last LENGTH before it."""
    for _ in range(count):
        scores = model(text[:, -LENGTH:])[:, -1] / temperature
        text = torch.cat([text, torch.multinomial(scores.softmax(-1), 1)], dim=1)
    return text


def main():
    torch.manual_seed(0)
    source = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))
    alphabet = sorted(set(source))
    number = {c: i for i, c in enumerate(alphabet)}
    text = torch.tensor([number[c] for c in source])
    model = GPT(len(alphabet))
    steps = 150 if os.environ.get("EXAMPLE_SHORT") else 3000
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    losses = []
    for step in range(steps):
        starts = torch.randint(0, len(text) - LENGTH, (BATCH, 1))
        windows = text[starts + torch.arange(LENGTH + 1)]
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % (steps // 5) == 0:
            print(f"step {step + 1:4d}  loss {loss.item():.3f} ({losses[-1] / math.log(2):.2f} bits per character)")
    uniform = math.log(len(alphabet))
    assert sum(losses[-10:]) / 10 < 0.7 * uniform, "it learned no more than which characters there are"
    print("".join(alphabet[i] for i in write_on(model, text[None, :20], 300)[0].tolist()))


if __name__ == "__main__":
    main()
