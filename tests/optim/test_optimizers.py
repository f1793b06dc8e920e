"""Optimizers walk the way PyTorch's walk, and keep the same state."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.optim import cases

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "nn" / "optimizers.json").read_text())


@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_trajectory(module: Any, name: str) -> None:
    actual, expected = cases.train(module, cases.OPTIMIZERS[name]), RECORDED[name]
    assert actual["repr"] == expected["repr"]
    for mine, theirs in zip(actual["values"], expected["values"], strict=True):
        assert mine == pytest.approx(theirs, rel=1e-5, abs=1e-6)
    assert list(actual["state"]) == list(expected["state"])
    for key, state in expected["state"].items():
        assert actual["state"][key] == pytest.approx(state, rel=1e-5, abs=1e-6)


def step_with(module: Any, optimizer: Any, parameters: list[Any]) -> None:
    for p in parameters:
        p.grad = module.ones_like(p)
    optimizer.step()


@pytest.mark.parametrize("make", ["Adam", "SGD"])
def test_state_changed_by_the_user_is_seen(module: Any, make: str) -> None:
    kwargs = {"momentum": 0.9} if make == "SGD" else {}
    key = "momentum_buffer" if make == "SGD" else "exp_avg"
    parameters = cases.parameters(module)
    optimizer = getattr(module.optim, make)(parameters, lr=0.1, **kwargs)
    for _ in range(3):
        step_with(module, optimizer, parameters)
    zeros = module.zeros_like(parameters[0])
    optimizer.state[parameters[0]][key] = zeros
    step_with(module, optimizer, parameters)
    assert zeros.abs().sum().item() > 0
    # A parameter replaced in its group takes the state that is given to it.
    old, new = parameters[0], module.nn.Parameter(module.zeros(2, 3))
    state = optimizer.state.pop(old)
    optimizer.param_groups[0]["params"][0] = new
    optimizer.state[new] = state
    before = old.detach().clone()
    step_with(module, optimizer, [new, *parameters[1:]])
    assert module.equal(old, before)
    assert new.abs().sum().item() > 0
    optimizer.state.clear()
    step_with(module, optimizer, [new, *parameters[1:]])
    assert key in optimizer.state[new]


def test_closure(module: Any) -> None:
    (p, *_) = cases.parameters(module)
    optimizer = module.optim.SGD([p], lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    assert optimizer.step(closure) < first


def test_zero_grad(module: Any) -> None:
    (p, *_) = cases.parameters(module)
    optimizer = module.optim.SGD([p], lr=0.1)
    p.grad = module.ones_like(p)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.sum().item() == 0
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks(module: Any) -> None:
    parameters = cases.parameters(module)
    optimizer = module.optim.Adam(parameters)
    log: list[str] = []
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before"))
    after = optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("after"))
    step_with(module, optimizer, parameters)
    before.remove()
    step_with(module, optimizer, parameters)
    after.remove()
    step_with(module, optimizer, parameters)
    assert log == ["before", "after", "after"]


def test_hooks_see_and_replace_all_arguments(module: Any) -> None:
    parameters = cases.parameters(module)
    optimizer = module.optim.SGD(parameters, lr=0.1)
    seen: list[Any] = []

    def before(o: Any, args: Any, kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return (o, lambda: 7), {}

    optimizer.register_step_pre_hook(before)
    assert optimizer.step() == 7 and seen == [((optimizer,), {})]


def test_flags_that_exclude_each_other(module: Any) -> None:
    with pytest.raises(RuntimeError, match="fused"):
        module.optim.AdamW(cases.parameters(module), fused=True, foreach=True)


def test_copies(module: Any) -> None:
    parameters = cases.parameters(module)
    optimizer = module.optim.Adam(parameters)
    step_with(module, optimizer, parameters)
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        mine = twin.param_groups[0]["params"]
        assert twin.state[mine[0]]["step"].item() == 1
        step_with(module, twin, mine)
        assert twin.state[mine[0]]["step"].item() == 2
    assert optimizer.state[parameters[0]]["step"].item() == 1


def test_named_parameters(module: Any) -> None:
    optimizer = module.optim.SGD(module.nn.Linear(2, 2).named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t, p: t.optim.SGD([], lr=0.1), ValueError, "optimizer got an empty parameter list"),
        (lambda t, p: t.optim.SGD(p[0], lr=0.1), TypeError, "argument given to the optimizer should be an iterable"),
        (lambda t, p: t.optim.SGD([3], lr=0.1), TypeError, "can only optimize Tensors, but one of the params is int"),
        (lambda t, p: t.optim.SGD([p[0] * 2], lr=0.1), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda t, p: t.optim.SGD(p, lr=-1.0), ValueError, "Invalid learning rate: -1.0"),
        (lambda t, p: t.optim.SGD(p, momentum=-1.0), ValueError, "Invalid momentum value: -1.0"),
        (lambda t, p: t.optim.SGD(p, nesterov=True), ValueError, "Nesterov momentum requires a momentum"),
        (lambda t, p: t.optim.Adam(p, betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda t, p: t.optim.Adam(p, eps=-1.0), ValueError, "Invalid epsilon value: -1.0"),
        (lambda t, p: t.optim.SGD([{"params": p}, {"params": p[:1]}]), ValueError, "in more than one parameter group"),
    ],
)  # fmt: skip
def test_errors(module: Any, call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call(module, cases.parameters(module))
    assert text in str(caught.value)


def test_load_checks_groups(module: Any) -> None:
    parameters = cases.parameters(module)
    state = module.optim.SGD(parameters, lr=0.1).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        module.optim.SGD(parameters[:1], lr=0.1).load_state_dict(state)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        module.optim.SGD([{"params": [p]} for p in parameters], lr=0.1).load_state_dict(state)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum(module: Any, search: str | None) -> None:
    (p, *_) = cases.parameters(module)
    optimizer = module.optim.LBFGS([p], line_search_fn=search)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((p - 1) ** 2).sum() + 0.5 * p[0, 0] * p[1, 1]
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    assert p.grad.abs().max().item() < 1e-4


def test_muon_takes_orthogonal_steps(module: Any) -> None:
    """The step is nearly the orthogonal factor of the gradient, with singular values around 1."""
    for adjust, ratio in ((None, 2**0.5), ("original", 2**0.5), ("match_rms_adamw", 0.2 * 2)):
        weight = module.nn.Parameter(module.zeros(4, 2))
        optimizer = module.optim.Muon([weight], lr=1.0, momentum=0.5, nesterov=False, adjust_lr_fn=adjust)
        weight.grad = module.tensor([[1.0, 2.0], [-0.5, 1.0], [3.0, 0.0], [0.0, -1.0]])
        optimizer.step()
        assert optimizer.state[weight]["momentum_buffer"].tolist() == (0.5 * weight.grad).tolist()
        u, _, vh = module.linalg.svd(weight.grad, full_matrices=False)
        factors = module.linalg.svdvals(-weight.detach() / ratio)
        assert factors.min() > 0.6 and factors.max() < 1.3
        assert module.cosine_similarity(-weight.detach().flatten(), (u @ vh).flatten(), dim=0) > 0.95
    optimizer = module.optim.Muon([module.nn.Parameter(module.ones(2, 2))], lr=0.5, weight_decay=0.2)
    optimizer.param_groups[0]["params"][0].grad = module.zeros(2, 2)
    optimizer.step()
    assert optimizer.param_groups[0]["params"][0].tolist() == [[pytest.approx(0.9)] * 2] * 2
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        module.optim.Muon([module.nn.Parameter(module.ones(2))])


def test_options_of_newer_optimizers_are_checked(module: Any) -> None:
    parameter = module.nn.Parameter(module.ones(2, 2))
    for name, options, message in (
        ("Adafactor", {"lr": -1}, "Learning rate should be >= 0 but is: -1"),
        ("Adafactor", {"beta2_decay": 0.1}, "beta2_decay should be <= 0 but is: 0.1"),
        ("Adafactor", {"eps": (-1, 1)}, "epsilon1 should be >= 0 but is: -1"),
        ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
        ("Muon", {"momentum": -1}, "momentum should be >= 0 but is: -1"),
        ("Muon", {"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(module.optim, name)([parameter], **options)
