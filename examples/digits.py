"""Trains a small convolutional network on handwritten digits, and draws how it went. A plain torch script:

    python -m vivace examples/digits.py        on vivace
    python examples/digits.py                  on PyTorch

It learns from 797 digits, each moved, turned and scaled a little every time that it is seen, and is tested on the other
1,000. With --pytorch PYTHON, an interpreter that has PyTorch, it runs itself there too, and compares times and losses.
"""

import argparse
import gzip
import itertools
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from support.picture import Picture
from torch.utils.data import DataLoader, TensorDataset, random_split

HERE = Path(__file__).resolve().parent
HELD_OUT = 1000


def load_digits():
    raw = torch.frombuffer(bytearray(gzip.decompress((HERE / "data" / "digits.gz").read_bytes())), dtype=torch.uint8)
    records = raw.view(-1, 65)
    return records[:, :64].float().view(-1, 1, 8, 8) / 16, records[:, 64].long()


def make_distortions():
    """Linear maps of the 64 pixels that move, turn and scale an image, with bilinear interpolation: [n, 64, 64]."""
    moves = (-0.8, 0.0, 0.8)
    choices = itertools.product((-0.2, -0.1, 0.0, 0.1, 0.2), (0.9, 1.0, 1.1), moves, moves)
    return torch.stack([_distortion(*choice) for choice in choices])


def _distortion(angle, scale, dx, dy):
    grid = torch.arange(8.0) - 3.5
    y, x = grid.view(8, 1).expand(8, 8).reshape(64), grid.view(1, 8).expand(8, 8).reshape(64)
    cosine, sine = math.cos(angle) / scale, math.sin(angle) / scale
    from_x = cosine * x - sine * y + dx + 3.5
    from_y = sine * x + cosine * y + dy + 3.5
    # The weight of a source pixel falls from one to zero within one pixel in either direction.
    columns = (1 - (from_x.view(64, 1) - torch.arange(8.0)).abs()).clamp(min=0)
    rows = (1 - (from_y.view(64, 1) - torch.arange(8.0)).abs()).clamp(min=0)
    return (rows.view(64, 8, 1) * columns.view(64, 1, 8)).reshape(64, 64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.dropout = nn.Dropout(0.4)
        self.out = nn.Linear(64 * 2 * 2, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)
        return self.out(self.dropout(x.flatten(1)))


def show_progress(epoch, epochs, loss):
    if sys.stderr.isatty() or epoch == epochs:
        done = 40 * epoch // epochs
        end = "\n" if epoch == epochs else ""
        bar = "#" * done + "-" * (40 - done)
        print(f"\r[{bar}] epoch {epoch}/{epochs}  loss {loss:.4f}", end=end, file=sys.stderr, flush=True)


def train(model, digits, epochs, quiet):
    distortions = make_distortions()
    loader = DataLoader(digits, batch_size=32, shuffle=True, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    losses = []
    model.train()
    for epoch in range(epochs):
        for group in optimizer.param_groups:  # half a cosine, from the full rate to nothing
            group["lr"] = 2e-3 * 0.5 * (1 + math.cos(math.pi * epoch / epochs))
        for images, labels in loader:
            which = torch.randint(0, len(distortions), (len(images),))
            flat = torch.bmm(distortions[which], images.view(-1, 64, 1))
            loss = F.cross_entropy(model(flat.view(-1, 1, 8, 8)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if not quiet:
            show_progress(epoch + 1, epochs, sum(losses[-20:]) / 20)
    return losses


@torch.no_grad()
def test(model, images):
    model.eval()
    return model(images).argmax(1)


def draw(path, losses, images, labels, predicted):
    """The loss, averaged over ten steps, and below it the digits that were taken for others: truth > answer."""
    wrong = (predicted != labels).nonzero().flatten().tolist()
    columns = 12
    picture = Picture(640, 260 + 66 * math.ceil(len(wrong) / columns))
    picture.curve(60, 20, 560, 200, [sum(losses[i : i + 10]) / 10 for i in range(0, len(losses) - 9, 10)])
    for place, i in enumerate(wrong):
        x, y = 20 + 51 * (place % columns), 246 + 66 * (place // columns)
        picture.image(x, y, images[i, 0].tolist(), 5)
        picture.text(x, y + 44, f"{labels[i].item()}>{predicted[i].item()}")
    picture.save(path)


def compare(python, epochs, losses):
    """Runs this script on PyTorch, in a process of its own."""
    print("the same on PyTorch ...", file=sys.stderr, flush=True)
    command = [python, __file__, "--json", "--epochs", str(epochs)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    other = json.loads(result.stdout)
    worst = max(abs(a - b) for a, b in zip(losses, other["losses"], strict=False))
    print(f"PyTorch: {other['accuracy']:.2%}, {other['seconds']:.1f} s")
    print(f"first 20 losses differ by at most {worst:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2 if os.environ.get("EXAMPLE_SHORT") else 80)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, draw nothing")
    parser.add_argument("--pytorch", metavar="PYTHON", help="an interpreter with PyTorch, to run the same there")
    parser.add_argument("--picture", default="digits.png", help="where to draw")
    options = parser.parse_args()

    torch.manual_seed(0)
    images, labels = load_digits()
    training, testing = random_split(TensorDataset(images, labels), [len(images) - HELD_OUT, HELD_OUT])
    test_images, test_labels = images[testing.indices], labels[testing.indices]
    model = Net()
    start = time.perf_counter()
    losses = train(model, training, options.epochs, options.json)
    predicted = test(model, test_images)
    seconds = time.perf_counter() - start
    accuracy = (predicted == test_labels).float().mean().item()
    if options.json:
        print(json.dumps({"seconds": seconds, "accuracy": accuracy, "losses": losses[:20]}))
        return

    print(f"torch {torch.__version__}: {accuracy:.2%} of {HELD_OUT} held-out digits right, {seconds:.1f} s")
    draw(options.picture, losses, test_images, test_labels, predicted)
    print(f"loss curve and wrong digits: {options.picture}")
    if options.pytorch:
        compare(options.pytorch, options.epochs, losses)


if __name__ == "__main__":
    main()
