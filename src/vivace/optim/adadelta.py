"""Adadelta."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["Adadelta"]


class Adadelta(PerParameter):
    """Steps in the units of the parameter: scaled by running means of its own squared updates (Zeiler, 2012)."""

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
        differentiable=False,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        _checks.at_least_zero(epsilon_value=eps, weight_decay_value=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        return {"step": zero_step(), "square_avg": vivace.zeros_like(p), "acc_delta": vivace.zeros_like(p)}

    def _update(self, p, grad, state, group):
        count_step(state)
        grad = decayed(p, grad, group)
        rho, eps = group["rho"], group["eps"]
        square_avg = state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = state["acc_delta"].add(eps).sqrt() / square_avg.add(eps).sqrt() * grad
        state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-float(group["lr"]))
