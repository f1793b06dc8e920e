"""Adagrad."""

import vivace

from . import _checks
from ._per_parameter import PerParameter, count_step, decayed, zero_step

__all__ = ["Adagrad"]


class Adagrad(PerParameter):
    """Steps divided by the root of the sum of all squares so far (Duchi et al., 2011)."""

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        _checks.at_least_zero(lr_decay_value=lr_decay, weight_decay_value=weight_decay)
        _checks.at_least_zero(initial_accumulator_value=initial_accumulator_value, epsilon_value=eps)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = self._first_state(p, group)

    def _first_state(self, p, group):
        start = group["initial_accumulator_value"]
        value = complex(start, start) if p.is_complex() else start
        return {"step": zero_step(), "sum": vivace.full_like(p, value).detach()}

    def share_memory(self):
        for state in self.state.values():
            state["sum"].share_memory_()

    def _update(self, p, grad, state, group):
        step = count_step(state)
        grad = decayed(p, grad, group)
        rate = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        total = state["sum"].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, total.sqrt() + group["eps"], value=-rate)
