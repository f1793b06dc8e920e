"""Optimizers and schedules: the cases whose PyTorch results `tools/record/nn.py` writes."""

from __future__ import annotations

from typing import Any

OPTIMIZERS: dict[str, str] = {
    "SGD": "SGD(groups, lr=0.01)",
    "SGD momentum": "SGD(groups, lr=0.01, momentum=0.9, dampening=0.3, weight_decay=0.1)",
    "SGD nesterov": "SGD(groups, lr=0.01, momentum=0.9, nesterov=True, maximize=True)",
    "Adam": "Adam(groups)",
    "Adam amsgrad": "Adam(groups, amsgrad=True, weight_decay=0.1, betas=(0.8, 0.9))",
    "Adam maximize": "Adam(groups, maximize=True)",
    "AdamW": "AdamW(groups, lr=0.01)",
    "Adafactor": "Adafactor(groups, weight_decay=0.1)",
    "Adafactor maximize": "Adafactor(groups, beta2_decay=-0.5, d=1.5, eps=(1e-6, 0.01), maximize=True)",
    "RMSprop": "RMSprop(groups)",
    "RMSprop centered": "RMSprop(groups, momentum=0.9, centered=True, weight_decay=0.1)",
    "Adagrad": "Adagrad(groups, lr_decay=0.1)",
    "Adadelta": "Adadelta(groups, weight_decay=0.1)",
    "Adamax": "Adamax(groups)",
    "NAdam": "NAdam(groups, weight_decay=0.1, decoupled_weight_decay=True)",
    "RAdam": "RAdam(groups, betas=(0.5, 0.6))",
    "ASGD": "ASGD(groups, t0=3.0)",
    "Rprop": "Rprop(groups)",
}

SCHEDULES: tuple[str, ...] = (
    "StepLR(o, 3)",
    "MultiStepLR(o, [2, 5, 5], 0.5)",
    "ConstantLR(o)",
    "LinearLR(o, 0.1, 0.5, 7)",
    "ExponentialLR(o, 0.9)",
    "PolynomialLR(o, 8, 2.0)",
    "CosineAnnealingLR(o, 5, 0.01)",
    "CosineAnnealingWarmRestarts(o, 3, 2, 0.01)",
    "LambdaLR(o, lambda n: 0.9**n)",
    "MultiplicativeLR(o, [lambda n: 0.9, lambda n: 0.8])",
    "CyclicLR(o, 0.01, 0.1, 4, 3)",
    "CyclicLR(o, [0.01, 0.02], 0.1, 4, mode='triangular2')",
    "CyclicLR(o, 0.01, 0.1, 4, mode='exp_range', gamma=0.9)",
    "OneCycleLR(o, 0.3, 20)",
    "OneCycleLR(o, [0.3, 0.2], epochs=4, steps_per_epoch=5, three_phase=True, anneal_strategy='linear')",
    "SequentialLR(o, [LinearLR(o, 0.1, total_iters=4), CosineAnnealingLR(o, 8), ExponentialLR(o, 0.5)], [4, 12])",
    "ChainedScheduler([ConstantLR(o, 0.1, 4), ExponentialLR(o, 0.9)])",
    "ReduceLROnPlateau(o, patience=2, cooldown=1)",
    "ReduceLROnPlateau(o, 'max', patience=1, threshold_mode='abs', min_lr=[0.01, 0.2])",
)
METRICS = (5, 4, 4, 4, 4.1, 4.2, 3, 3.1, 3.2, 3.3, 3.4, 3.5, 2, 2, 2, 2)


def parameters(module: Any) -> list[Any]:
    values = ([[1.0, -2.0, 0.5], [0.1, 3.0, -0.7]], [0.3, -1.5], [2.0])
    return [module.nn.Parameter(module.tensor(v)) for v in values]


def train(module: Any, expression: str, steps: int = 10, reload_at: int = 6) -> dict[str, Any]:
    """A few steps on a small function; one parameter has no gradient at first, and state is reloaded on the way."""
    first, second, late = parameters(module)
    names = {"groups": [{"params": [first, second]}, {"params": [late], "lr": 0.05}]}

    def make() -> Any:
        return eval(expression, {**{n: getattr(module.optim, n) for n in (expression.split("(")[0],)}, **names})

    optimizer = make()
    for step in range(steps):
        optimizer.zero_grad()
        loss = (first**2).sum() + (second**3).sum()
        if step >= 2:
            loss = loss + ((late * 3) ** 2).sum()
        loss.backward()
        optimizer.step()
        if step == reload_at:
            state = optimizer.state_dict()
            optimizer = make()
            optimizer.load_state_dict(state)
    state = optimizer.state_dict()["state"]
    return {
        "repr": repr(optimizer),
        "values": [p.detach().reshape(-1).tolist() for p in (first, second, late)],
        "state": {
            str(k): {n: v.double().sum().item() if isinstance(v, module.Tensor) else v for n, v in s.items()}
            for k, s in state.items()
        },
    }


def schedule(module: Any, expression: str) -> list[list[float]]:
    """The rates, and what else moves, of two groups over some epochs."""
    from importlib import import_module

    schedulers = import_module(module.__name__ + ".optim.lr_scheduler")
    first, second, _ = parameters(module)
    optimizer = module.optim.SGD([{"params": [first]}, {"params": [second], "lr": 0.5}], lr=0.1, momentum=0.9)
    names = {name: getattr(schedulers, name) for name in schedulers.__all__}
    scheduler = eval(expression, {**names, "o": optimizer})
    rows = []
    for metric in METRICS:
        optimizer.step()
        scheduler.step(metric) if "Plateau" in expression else scheduler.step()
        rows.append([g["lr"] for g in optimizer.param_groups] + [g["momentum"] for g in optimizer.param_groups])
        scheduler.load_state_dict(scheduler.state_dict())
        assert scheduler.get_last_lr() == rows[-1][:2]
    return rows
