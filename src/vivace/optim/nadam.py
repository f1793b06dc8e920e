"""NAdam."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["NAdam"]


class NAdam(PerParameter):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
        decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False,
    ):  # fmt: skip
        _checks.adam_options(lr, betas, eps, weight_decay_value=weight_decay, momentum_decay_value=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        return {
            "step": zero_step(), "mu_product": vivace.ones((), dtype=vivace.float32), "exp_avg": vivace.zeros_like(p),
            "exp_avg_sq": vivace.zeros_like(p),
        }  # fmt: skip

    def _update(self, p, grad, state, group):
        step = count_step(state)
        lr = float(group["lr"])
        if not group["decoupled_weight_decay"]:
            grad = decayed(p, grad, group)
        elif group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        beta1, beta2 = group["betas"]
        decay = group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * decay))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * decay))
        mu_product = state["mu_product"].mul_(mu).item()
        exp_avg = state["exp_avg"].lerp_(grad, 1 - beta1)
        exp_avg_sq = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        scale = exp_avg_sq.div(1 - beta2**step).sqrt() + group["eps"]
        p.addcdiv_(grad, scale, value=-lr * (1.0 - mu) / (1.0 - mu_product))
        p.addcdiv_(exp_avg, scale, value=-lr * mu_next / (1.0 - mu_product * mu_next))
