"""Training that is saved and goes on elsewhere: five architectures, five optimizers.

Nothing is drawn at random, so that the losses after a checkpoint follow from what it holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3},
    "Adam": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "RMSprop": {"lr": 0.005, "momentum": 0.5, "centered": True},
    "Adagrad": {"lr": 0.05, "lr_decay": 0.01},
}
# An architecture, and the optimizer that PyTorch's recorded file has beside it.
RECORDED = {"mlp": "SGD", "conv": "Adam", "lstm": "RMSprop", "transformer": "AdamW", "embedding": "Adagrad"}
FOLDER = Path(__file__).resolve().parents[1] / "data" / "checkpoints"


def wave(module: Any, start: float, *shape: int) -> Any:
    """Numbers between -1 and 1 that look irregular."""
    count = 1
    for size in shape:
        count *= size
    return (module.arange(count, dtype=module.float64) * 1.7 + start).sin().float().view(shape)


def model(module: Any, architecture: str) -> Any:
    nn = module.nn

    class Sequences(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(3, 5, num_layers=2, bidirectional=True, batch_first=True)
            self.out = nn.Linear(10, 4)

        def forward(self, x: Any) -> Any:
            return self.out(self.lstm(x)[0][:, -1])

    class Words(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(12, 6, padding_idx=0)
            self.bag = nn.EmbeddingBag(12, 6, mode="mean")
            self.out = nn.Linear(12, 4)

        def forward(self, x: Any) -> Any:
            indices = (x * 6 + 6).long().clamp(0, 11)
            return self.out(module.cat([self.words(indices).amax(1), self.bag(indices)], 1))

    if architecture == "mlp":
        made = nn.Sequential(nn.Flatten(), nn.Linear(12, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 4))
    elif architecture == "conv":
        layers = (nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.ConvTranspose2d(4, 3, 2, stride=2))
        made = nn.Sequential(
            *layers, nn.BatchNorm2d(3), nn.PReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 4)
        )
    elif architecture == "lstm":
        made = Sequences()
    elif architecture == "transformer":
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8), enable_nested_tensor=False)
        made = nn.Sequential(encoder, nn.Flatten(), nn.Linear(32, 4))
    else:
        made = Words()
    with module.no_grad():
        for i, p in enumerate(made.parameters()):
            p.copy_(wave(module, i, *p.shape) / 2)
    return made


INPUTS = {"mlp": (4, 3), "conv": (2, 4, 4), "lstm": (6, 3), "transformer": (4, 8), "embedding": (5,)}


class Training:
    """A model with its optimizer and schedule, which takes steps and whose state can be saved."""

    def __init__(self, module: Any, architecture: str, optimizer: str) -> None:
        self.module = module
        self.shape = INPUTS[architecture]
        self.model = model(module, architecture)
        self.optimizer = getattr(module.optim, optimizer)(self.model.parameters(), **OPTIMIZERS[optimizer])
        self.schedule = module.optim.lr_scheduler.StepLR(self.optimizer, step_size=3, gamma=0.7)
        self.steps = 0

    def take(self, steps: int) -> list[float]:
        """The losses of that many steps."""
        losses = []
        for _ in range(steps):
            x = wave(self.module, self.steps, 8, *self.shape)
            target = (self.module.arange(8) + self.steps) % 4
            loss = self.module.nn.functional.cross_entropy(self.model(x), target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            self.steps += 1
            losses.append(loss.item())
        return losses

    def state(self) -> dict[str, Any]:
        parts = {name: getattr(self, name).state_dict() for name in ("model", "optimizer", "schedule")}
        return {**parts, "steps": self.steps}

    def load(self, state: dict[str, Any]) -> None:
        for name in ("model", "optimizer", "schedule"):
            getattr(self, name).load_state_dict(state[name])
        self.steps = state["steps"]
