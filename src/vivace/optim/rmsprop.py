"""RMSprop."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["RMSprop"]


class RMSprop(PerParameter):
    """Steps divided by the root of a running mean of squares."""

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        _checks.at_least_zero(
            epsilon_value=eps, momentum_value=momentum, weight_decay_value=weight_decay, alpha_value=alpha
        )
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        state = {"step": zero_step(), "square_avg": vivace.zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = vivace.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = vivace.zeros_like(p)
        return state

    def _update(self, p, grad, state, group):
        count_step(state)
        grad = decayed(p, grad, group)
        alpha = group["alpha"]
        square_avg = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            grad_avg = state["grad_avg"].lerp_(grad, 1 - alpha)
            scale = square_avg.addcmul(grad_avg, grad_avg, value=-1).sqrt()
        else:
            scale = square_avg.sqrt()
        scale = scale + group["eps"]
        lr = float(group["lr"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, scale)
            p.add_(buffer, alpha=-lr)
        else:
            p.addcdiv_(grad, scale, value=-lr)
