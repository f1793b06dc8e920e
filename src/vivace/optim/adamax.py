"""Adamax."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["Adamax"]


class Adamax(PerParameter):
    """Adam with the infinity norm in place of the running mean of squares (Kingma and Ba, 2014)."""

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
        differentiable=False, capturable=False,
    ):  # fmt: skip
        _checks.adam_options(lr, betas, eps, weight_decay_value=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        return {"step": zero_step(), "exp_avg": vivace.zeros_like(p), "exp_inf": vivace.zeros_like(p)}

    def _update(self, p, grad, state, group):
        step = count_step(state)
        grad = decayed(p, grad, group)
        beta1, beta2 = group["betas"]
        exp_avg = state["exp_avg"].lerp_(grad, 1 - beta1)
        exp_inf = state["exp_inf"]
        exp_inf.copy_(vivace.maximum(exp_inf * beta2, grad.abs().add_(group["eps"])))
        p.addcdiv_(exp_avg, exp_inf, value=-float(group["lr"]) / (1 - beta1**step))
