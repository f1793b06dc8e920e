"""RAdam."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["RAdam"]


class RAdam(PerParameter):
    """Adam whose adaptive scale starts when its variance is under control (Liu et al., 2019)."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False,
    ):  # fmt: skip
        _checks.adam_options(lr, betas, eps, weight_decay_value=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        return {"step": zero_step(), "exp_avg": vivace.zeros_like(p), "exp_avg_sq": vivace.zeros_like(p)}

    def _update(self, p, grad, state, group):
        step = count_step(state)
        lr = float(group["lr"])
        if not group["decoupled_weight_decay"]:
            grad = decayed(p, grad, group)
        elif group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        beta1, beta2 = group["betas"]
        exp_avg = state["exp_avg"].lerp_(grad, 1 - beta1)
        exp_avg_sq = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction2 = 1 - beta2**step
        update = exp_avg / (1 - beta1**step)
        rho_inf = 2 / (1 - beta2) - 1
        rho = rho_inf - 2 * step * beta2**step / correction2
        if rho > 5.0:
            rectified = ((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)) ** 0.5
            scale = correction2**0.5 / (exp_avg_sq.sqrt() + group["eps"])
            p.add_(update * lr * scale * rectified, alpha=-1.0)
        else:
            p.add_(update * lr, alpha=-1.0)
