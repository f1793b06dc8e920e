"""tests/data/nn/*.json: results of the cases in tests/nn and tests/optim."""

from __future__ import annotations

import warnings

import torch

from tests.nn import cases as layers
from tests.optim import cases as optim
from tools.record.common import DATA, write


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder = DATA / "nn"
    write(folder / "layers.json", {case: layers.run(torch, case) for case in layers.LAYERS})
    write(folder / "optimizers.json", {name: optim.train(torch, case) for name, case in optim.OPTIMIZERS.items()})
    write(folder / "schedules.json", {case: optim.schedule(torch, case) for case in optim.SCHEDULES})
