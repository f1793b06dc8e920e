"""A variational autoencoder (Kingma and Welling, 2014) of handwritten digits, which then invents some.

python -m vivace examples/vae.py
"""

import gzip
import os
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence
from torch.utils.data import DataLoader, TensorDataset

LATENT = 8


def load_images():
    """The 1,797 digits, 8 x 8 pixels between 0 and 1, in rows of 64."""
    raw = gzip.decompress((Path(__file__).parent / "data" / "digits.gz").read_bytes())
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 65)[:, :64].float() / 16


class VAE(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.SiLU(), nn.Linear(hidden, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, hidden), nn.SiLU(), nn.Linear(hidden, 64))

    def encode(self, images):
        mean, spread = self.encoder(images).chunk(2, dim=1)
        return Normal(mean, F.softplus(spread) + 1e-4)

    def loss(self, images):
        """The negative evidence lower bound, per image: nats to describe the pixels, and nats to say which code."""
        code = self.encode(images)
        pixels = F.binary_cross_entropy_with_logits(self.decoder(code.rsample()), images, reduction="sum")
        code_cost = kl_divergence(code, Normal(0.0, 1.0)).sum()
        return pixels / len(images), code_cost / len(images)

    @torch.no_grad()
    def invent(self, count):
        return self.decoder(torch.randn(count, LATENT)).sigmoid()


def draw(images):
    """Lines of text that show images beside each other."""
    shades = " .:-=+*#%@"
    levels = (images.view(-1, 8, 8) * 9.99).int().tolist()
    for y in range(8):
        print("  ".join("".join(2 * shades[value] for value in image[y]) for image in levels))


def main():
    torch.manual_seed(0)
    images = load_images()
    loader = DataLoader(TensorDataset(images[:1500]), batch_size=50, shuffle=True)
    held_out = images[1500:]
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    epochs = 10 if os.environ.get("EXAMPLE_SHORT") else 100
    with torch.no_grad():
        before = sum(model.loss(held_out))
    for epoch in range(epochs):
        for (batch,) in loader:
            loss = sum(model.loss(batch))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if (epoch + 1) % (epochs // 5) == 0:
            with torch.no_grad():
                pixels, code = model.loss(held_out)
            print(f"epoch {epoch + 1:3d}  held-out images: {pixels:.2f} nats for pixels, {code:.2f} for the code")
    # What one number for each pixel, the mean image, costs: a model that ignores its code does no better.
    mean = images[:1500].mean(0).clamp(1e-3, 1 - 1e-3)
    blind = F.binary_cross_entropy(mean.expand_as(held_out), held_out, reduction="sum") / len(held_out)
    assert pixels + code < min(before, blind), "the code says nothing about the images"
    draw(model.invent(6))


if __name__ == "__main__":
    main()
