"""Optimizers that update one parameter after the other with tensor operators."""

import vivace

from . import _recorded
from .optimizer import Optimizer


class PerParameter(Optimizer):
    """Subclasses say how state begins and how one parameter is updated."""

    def _first_state(self, p, group):
        """The state of a parameter before its first step."""
        return {}

    def _update(self, p, grad, state, group):
        raise NotImplementedError

    def step(self, closure=None):
        loss = self._loss_of(closure)
        for group in self.param_groups:
            recorded = bool(group.get("differentiable"))
            with vivace.set_grad_enabled(recorded):
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if not state:
                        state.update(self._first_state(p, group))
                    if recorded:
                        _recorded.renew(state)
                    grad = -p.grad if group.get("maximize") else p.grad
                    self._update(p, grad, state, group)
        return loss


def count_step(state):
    """Raises the state's step, a tensor, and gives it as a number."""
    state["step"].add_(1)
    return state["step"].item()


def zero_step():
    return vivace.tensor(0.0, dtype=vivace.float32)


def decayed(p, grad, group):
    """The gradient with the weight decay of the group added."""
    decay = group["weight_decay"]
    return grad.add(p, alpha=decay) if decay != 0 else grad
