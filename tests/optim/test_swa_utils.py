"""Averaged models, their schedule, and batch normalisation's statistics computed anew."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

VALUES = (1.0, 2.0, 4.0, 8.0)


@pytest.fixture
def swa(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.optim.swa_utils")


def model_of(module: Any) -> Any:
    return module.nn.Sequential(module.nn.Linear(2, 2), module.nn.BatchNorm1d(2))


def averaged(module: Any, swa: Any, **options: Any) -> Any:
    """An AveragedModel after updates with a model that is filled with each of VALUES."""
    model = model_of(module)
    average = swa.AveragedModel(model, **options)
    for value in VALUES:
        with module.no_grad():
            for tensor in (*model.parameters(), *model.buffers()):
                tensor.fill_(value)
        average.update_parameters(model)
    assert average.n_averaged == len(VALUES)
    return average


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("mean", 3.75),
        ("get_swa_avg_fn", 3.75),
        ("get_swa_multi_avg_fn", 3.75),
        ("get_ema_avg_fn", 5.375),
        ("get_ema_multi_avg_fn", 5.375),
        ("own", 15.0),
    ],
)
def test_averages(module: Any, swa: Any, kind: str, expected: float) -> None:
    arguments = (0.5,) if "ema" in kind else ()
    option = "multi_avg_fn" if "multi" in kind else "avg_fn"
    functions: dict[str, Callable[..., Any] | None] = {"mean": None, "own": lambda average, value, n: average + value}
    function = functions[kind] if kind in functions else getattr(swa, kind)(*arguments)
    average = averaged(module, swa, **{option: function})
    assert all(p.flatten().tolist() == [expected] * p.numel() for p in average.parameters())
    assert all(b.flatten().tolist() == [8] * b.numel() for b in average.module.buffers())
    assert list(average.state_dict())[:2] == ["n_averaged", "module.0.weight"]
    average.eval()
    x = module.ones(1, 2)
    assert module.equal(average(x), average.module(x))


def test_buffers_are_averaged_too(module: Any, swa: Any) -> None:
    average = averaged(module, swa, use_buffers=True)
    assert average.module[1].running_mean.tolist() == [3.75, 3.75]
    assert average.module[1].num_batches_tracked == 3  # 1, 1.5 and 2 + 1/3 rounded down, then 2 + 6/4
    assert average.module[1].weight.requires_grad


def test_refusals(module: Any, swa: Any) -> None:
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa.AveragedModel(model_of(module), avg_fn=max, multi_avg_fn=max)
    for make in (swa.get_ema_avg_fn, swa.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="Invalid decay value 2.0 provided"):
            make(2.0)


def test_update_bn(module: Any, swa: Any) -> None:
    model = model_of(module)[1:].eval()
    batches = [module.tensor([[0.0, 2.0], [2.0, 4.0]]), module.tensor([[2.0, 0.0], [6.0, 0.0]])]
    swa.update_bn([(batch, "a label") for batch in batches], model)
    assert model[0].running_mean.tolist() == [2.5, 1.5] and model[0].running_var.tolist() == [5.0, 1.0]
    assert model[0].num_batches_tracked == 2 and model[0].momentum == 0.1 and not model.training
    swa.update_bn(batches[:1], model.train(), device="cpu")
    assert model[0].running_mean.tolist() == [1.0, 3.0] and model.training
    swa.update_bn(batches, module.nn.Linear(2, 2))


SCHEDULES: list[tuple[dict[str, Any], list[float], list[float]]] = [
    ({"swa_lr": 0.05, "anneal_epochs": 3}, [0.2, 0.1625, 0.0875, 0.05, 0.05], [0.1, 0.0875, 0.0625, 0.05, 0.05]),
    (
        {"swa_lr": [0.05, 0.5], "anneal_epochs": 4, "anneal_strategy": "linear"},
        [0.2, 0.1625, 0.125, 0.0875, 0.05],
        [0.1, 0.2, 0.3, 0.4, 0.5],
    ),
    ({"swa_lr": 0.3, "anneal_epochs": 0}, [0.3] * 5, [0.3] * 5),
]


@pytest.mark.parametrize(("options", "first", "second"), SCHEDULES)
def test_schedule(module: Any, swa: Any, options: dict[str, Any], first: list[float], second: list[float]) -> None:
    layer = module.nn.Linear(1, 1)
    optimizer = module.optim.SGD([{"params": [layer.weight], "lr": 0.2}, {"params": [layer.bias]}], lr=0.1)
    schedule = swa.SWALR(optimizer, **options)
    rates = []
    for _ in first:
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        schedule.step()
        schedule.load_state_dict(schedule.state_dict())
    assert [a for a, _ in rates] == pytest.approx(first) and [b for _, b in rates] == pytest.approx(second)


def test_schedule_after_another(module: Any, swa: Any) -> None:
    optimizer = module.optim.SGD(module.nn.Linear(1, 1).parameters(), lr=1.0)
    before = module.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    after = swa.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2, anneal_strategy="linear")
    rates = []
    for schedule in (before, before, after, after, after):
        optimizer.step()
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.5, 0.25, 0.15, 0.05, 0.05])


def test_schedule_refusals(module: Any, swa: Any) -> None:
    optimizer = module.optim.SGD(module.nn.Linear(1, 1).parameters(), lr=1.0)
    for options, message in (
        ({"swa_lr": 0.1, "anneal_strategy": "x"}, "anneal_strategy must be one of"),
        ({"swa_lr": 0.1, "anneal_epochs": -1}, "anneal_epochs must be equal or greater than 0"),
        ({"swa_lr": [0.1, 0.2]}, "swa_lr must have the same length as"),
    ):
        with pytest.raises(ValueError, match=message):
            swa.SWALR(optimizer, **options)
