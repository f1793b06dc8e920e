"""Adam, and with decoupled weight decay AdamW."""

import vivace

from . import _checks, _recorded
from .optimizer import Optimizer

__all__ = ["Adam"]


class _Plan:
    """The parameters that have state, and that state by kind; `waiting` ones have had no gradient yet."""

    __slots__ = (
        "changes", "exp_avg_sqs", "exp_avgs", "max_exp_avg_sqs", "native", "option", "params", "running", "state",
        "steps", "waiting",
    )  # fmt: skip


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square (Kingma and Ba, 2014)."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        _checks.adam_options(lr, betas, eps, weight_decay_value=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("amsgrad", "maximize", "capturable", "differentiable", "decoupled_weight_decay"):
                group.setdefault(name, False)
            group.setdefault("foreach", None)
            group.setdefault("fused", None)
            for p in group["params"]:
                step = self.state[p].get("step") if p in self.state else None
                if step is not None and not isinstance(step, vivace.Tensor):
                    self.state[p]["step"] = vivace.tensor(float(step), dtype=vivace.float32)

    @staticmethod
    def _build_plan(group, state, amsgrad):
        plan = _Plan()
        plan.running, plan.waiting = [], []
        for p in group["params"]:
            (plan.waiting if p.grad is None and not state.get(p) else plan.running).append(p)
        for p in plan.running:
            known = state[p]
            if not known:
                known["step"] = vivace.tensor(0.0, dtype=vivace.float32)
                known["exp_avg"] = vivace.zeros_like(p).detach()
                known["exp_avg_sq"] = vivace.zeros_like(p).detach()
            if amsgrad and "max_exp_avg_sq" not in known:
                known["max_exp_avg_sq"] = vivace.zeros_like(p).detach()
        states = [state[p] for p in plan.running]
        plan.steps = [known["step"] for known in states]
        plan.exp_avgs = [known["exp_avg"] for known in states]
        plan.exp_avg_sqs = [known["exp_avg_sq"] for known in states]
        plan.max_exp_avg_sqs = [known["max_exp_avg_sq"] for known in states] if amsgrad else []
        return plan

    def step(self, closure=None):
        loss = self._loss_of(closure)
        for number, group in enumerate(self.param_groups):
            if group.get("differentiable"):
                _recorded.step(self, group, _recorded.adam)
                continue
            plan = self._plan_of(number, group, self._build_plan, group["amsgrad"])
            if not plan.native:
                _recorded.step(self, group, _recorded.adam)
                continue
            beta1, beta2 = group["betas"]
            vivace._fused_adam_(
                plan.running,
                plan.exp_avgs,
                plan.exp_avg_sqs,
                plan.max_exp_avg_sqs,
                plan.steps,
                lr=float(group["lr"]),
                beta1=float(beta1),
                beta2=float(beta2),
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                amsgrad=group["amsgrad"],
                maximize=group["maximize"],
                decoupled=group["decoupled_weight_decay"],
            )
        return loss
