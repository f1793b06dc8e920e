"""Resilient propagation."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, zero_step

__all__ = ["Rprop"]


class Rprop(PerParameter):
    """Step sizes of each element that grow while the gradient keeps its sign (Riedmiller and Braun, 1993)."""

    def __init__(
        self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
        maximize=False, differentiable=False,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        return {
            "step": zero_step(),
            "prev": vivace.zeros_like(p),
            "step_size": vivace.full_like(p, float(group["lr"])).detach(),
        }

    def _update(self, p, grad, state, group):
        count_step(state)
        shrink, grow = group["etas"]
        agreement = grad * state["prev"]
        factor = vivace.where(agreement > 0, grow, vivace.where(agreement < 0, shrink, 1.0)).to(grad.dtype)
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = vivace.where(agreement < 0, 0.0, grad).to(p.dtype)
        p.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
