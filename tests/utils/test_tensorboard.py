"""SummaryWriter, read back by TensorBoard's own reader, where the package is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorboard")


def read(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"histograms": 0, "scalars": 0})
    events.Reload()
    return events


def test_scalars_and_histograms(module: Any, tmp_path: Path) -> None:
    from vivace.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", module.tensor(step + 0.5), step)
        writer.add_histogram("weights", module.tensor([-2.0, 0.0, 1.0, 1.0]), 7)
        writer.add_image("picture", module.rand(3, 4, 5))
        writer.add_text("note", "hello")
        writer.add_hparams({"lr": 0.1, "name": "x", "flag": True}, {"accuracy": 0.5}, run_name="run")
        with pytest.raises(NotImplementedError, match="add_mesh"):
            writer.add_mesh("m")
    events = read(tmp_path)
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [(0, 0.5), (1, 1.5), (2, 2.5)]
    histogram = events.Histograms("weights")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, sum(histogram.bucket)) == (-2, 1, 4, 4)
    assert events.Tags()["images"] == ["picture"]
    assert read(tmp_path / "run").Scalars("accuracy")[0].value == 0.5
