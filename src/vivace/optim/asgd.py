"""Averaged stochastic gradient descent."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["ASGD"]


class ASGD(PerParameter):
    """Descent that also keeps the mean of the parameters, `ax`, from step t0 on (Polyak and Juditsky, 1992)."""

    def __init__(
        self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
        differentiable=False, capturable=False,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        _checks.at_least_zero(weight_decay_value=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        return {
            "step": zero_step(),
            "eta": vivace.tensor(float(group["lr"]), dtype=vivace.float32),
            "mu": vivace.ones((), dtype=vivace.float32),
            "ax": vivace.zeros_like(p),
        }

    def _update(self, p, grad, state, group):
        step = count_step(state)
        grad = decayed(p, grad, group)
        eta, mu = state["eta"].item(), state["mu"].item()
        p.mul_(1 - group["lambd"] * eta)
        p.add_(grad, alpha=-eta)
        if mu != 1:
            state["ax"].add_((p - state["ax"]).mul_(mu))
        else:
            state["ax"].copy_(p)
        lr = float(group["lr"])
        state["eta"].fill_(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
