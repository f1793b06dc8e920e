"""Initialisers draw what PyTorch draws from the same seed."""

from __future__ import annotations

import math
from typing import Any

import pytest

# call on a (3, 4) tensor after manual_seed(5) -> first row
RECORDED: dict[str, list[float]] = {
    "uniform_(-1.0, 2.0)": [1.490756, -0.621667, 1.722409, 1.459781],
    "normal_(1.0, 2.0)": [0.026438, -0.207643, -0.116192, 2.335049],
    "trunc_normal_()": [-0.486781, -0.603822, -0.558096, 0.667524],
    "trunc_normal_(std=0.02)": [-0.009736, -0.012076, -0.011162, 0.01335],
    "trunc_normal_(a=-0.2, b=0.3)": [0.215126, -0.136945, 0.253735, 0.209964],
    "xavier_uniform_(0.5)": [0.305754, -0.346154, 0.377244, 0.296195],
    "xavier_normal_()": [-0.260195, -0.322756, -0.298315, 0.356807],
    "kaiming_uniform_()": [0.808949, -0.915838, 0.998093, 0.783658],
    "kaiming_normal_(mode='fan_out', nonlinearity='relu')": [-0.397455, -0.493018, -0.455684, 0.545031],
    "sparse_(0.5)": [0.0, -0.006038, -0.005581, 0.0],
    "eye_()": [1.0, 0.0, 0.0, 0.0],
    "constant_(3.0)": [3.0, 3.0, 3.0, 3.0],
}


@pytest.mark.parametrize("call", RECORDED)
def test_values(module: Any, call: str) -> None:
    name, _, arguments = call.partition("(")
    module.manual_seed(5)
    tensor = module.empty(3, 4)
    result = eval(f"f(t, {arguments}", {"f": getattr(module.nn.init, name), "t": tensor})
    assert result is tensor
    assert tensor[0].tolist() == pytest.approx(RECORDED[call], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "parameter", "gain"),
    [
        ("linear", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", 1.0, 1),
        ("selu", None, 0.75),
    ],
)
def test_gain(module: Any, name: str, parameter: float | None, gain: float) -> None:
    assert module.nn.init.calculate_gain(name, parameter) == pytest.approx(gain)


def test_dirac_keeps_channels(module: Any) -> None:
    weight = module.nn.init.dirac_(module.empty(4, 2, 3), groups=2)
    signal = module.arange(20.0).reshape(1, 4, 5)
    assert module.equal(module.nn.functional.conv1d(signal, weight, padding=1, groups=2), signal)


def test_errors(module: Any) -> None:
    init = module.nn.init
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("nothing")
    with pytest.raises(ValueError, match="Fan in and fan out can not be computed"):
        init.xavier_uniform_(module.empty(3))
    with pytest.raises(ValueError, match="Only tensors with 2 dimensions"):
        init.eye_(module.empty(3))
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(module.empty(0, 2))
