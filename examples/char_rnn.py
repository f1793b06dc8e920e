"""A character-level LSTM that learns this very file by heart, and recites its beginning.

python -m vivace examples/char_rnn.py
"""

import os
from pathlib import Path

import torch
import torch.nn as nn

LENGTH, BATCH = 64, 16


class CharModel(nn.Module):
    def __init__(self, characters, width=96):
        super().__init__()
        self.embedding = nn.Embedding(characters, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, characters)

    def forward(self, text, state=None):
        hidden, state = self.lstm(self.embedding(text), state)
        return self.out(hidden), state


@torch.no_grad()
def recite(model, start, count):
    """Continues the text `start` by the likeliest characters."""
    text, state = start, None
    result = []
    for _ in range(count):
        scores, state = model(text, state)
        text = scores[:, -1:].argmax(-1)
        result.append(text.item())
    return result


def main():
    torch.manual_seed(0)
    source = Path(__file__).read_text()
    alphabet = sorted(set(source))
    text = torch.tensor([alphabet.index(c) for c in source])
    model = CharModel(len(alphabet))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    steps = 60 if os.environ.get("EXAMPLE_SHORT") else 600
    first = None
    for step in range(steps):
        starts = torch.randint(0, len(text) - LENGTH - 1, (BATCH, 1))
        windows = text[starts + torch.arange(LENGTH + 1)]
        scores, _ = model(windows[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        first = loss.item() if first is None else first
        if (step + 1) % (steps // 6) == 0:
            print(f"step {step + 1:4d}  loss {loss.item():.3f}")
    assert loss.item() < 0.8 * first, "nothing was learned"
    start = text[None, :40]
    print(source[:40] + "".join(alphabet[i] for i in recite(model, start, 200)))


if __name__ == "__main__":
    main()
