"""Stochastic gradient descent."""

import vivace

from . import _checks, _recorded
from .optimizer import Optimizer

__all__ = ["SGD"]


class _Plan:
    """The parameters that have a gradient or a momentum buffer; `fresh` ones take their first step."""

    __slots__ = ("buffers", "changes", "fresh", "native", "option", "params", "running", "state", "waiting")


class SGD(Optimizer):
    """p -= lr * grad, with momentum, dampening, Nesterov's form and weight decay."""

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
        differentiable=False, fused=None,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        _checks.at_least_zero(momentum_value=momentum, weight_decay_value=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("nesterov", False), ("maximize", False), ("foreach", None), ("fused", None)):
                group.setdefault(name, default)

    @staticmethod
    def _build_plan(group, state, with_momentum):
        plan = _Plan()
        plan.running, plan.buffers, plan.fresh, plan.waiting = [], [], [], []
        if not with_momentum:
            plan.running = list(group["params"])
            return plan
        for p in group["params"]:
            buffer = state[p].get("momentum_buffer") if p in state else None
            if buffer is not None:
                plan.running.append(p)
                plan.buffers.append(buffer)
            elif p.grad is None:
                plan.waiting.append(p)
            else:
                plan.fresh.append(p)
        return plan

    def step(self, closure=None):
        loss = self._loss_of(closure)
        for number, group in enumerate(self.param_groups):
            if group.get("differentiable"):
                _recorded.step(self, group, _recorded.sgd)
                continue
            plan = self._plan_of(number, group, self._build_plan, group["momentum"] != 0)
            if not plan.native:
                _recorded.step(self, group, _recorded.sgd)
                continue
            options = {
                "lr": float(group["lr"]),
                "momentum": group["momentum"],
                "dampening": group["dampening"],
                "weight_decay": group["weight_decay"],
                "nesterov": group["nesterov"],
                "maximize": group["maximize"],
            }
            vivace._fused_sgd_(plan.running, plan.buffers, first=False, **options)
            if plan.fresh:
                buffers = [vivace.empty_like(p).detach() for p in plan.fresh]
                vivace._fused_sgd_(plan.fresh, buffers, first=True, **options)
                for p, buffer in zip(plan.fresh, buffers, strict=True):
                    self.state[p]["momentum_buffer"] = buffer  # a change: the next step builds a plan with all
        return loss
