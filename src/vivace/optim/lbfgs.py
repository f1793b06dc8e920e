"""L-BFGS, with a line search that satisfies the strong Wolfe conditions if asked for."""

from collections import namedtuple

import vivace

from . import _checks
from .optimizer import Optimizer

__all__ = ["LBFGS"]


# A step length on the search line, the value there, the gradient, and the gradient's part along the line.
_Point = namedtuple("_Point", ["t", "value", "grad", "slope"])


def _cubic_minimum(a, b, low=None, high=None):
    """Where the cubic through two points, with their slopes, is smallest between the bounds."""
    if low is None:
        low, high = (a.t, b.t) if a.t <= b.t else (b.t, a.t)
    mixed = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
    square = mixed**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    root = square**0.5
    if a.t <= b.t:
        t = b.t - (b.t - a.t) * ((b.slope + root - mixed) / (b.slope - a.slope + 2 * root))
    else:
        t = a.t - (a.t - b.t) * ((a.slope + root - mixed) / (a.slope - b.slope + 2 * root))
    return min(max(t, low), high)


def _strong_wolfe(evaluate, t, start, size, c1=1e-4, c2=0.9, tolerance=1e-9, limit=25):
    """A point that lowers the value enough and whose slope is flat enough; and how often the function was evaluated.

    First the step grows until a good point must lie between two tried ones, then that interval shrinks.
    """

    def too_high(point):
        return point.value > start.value + c1 * point.t * start.slope

    def flat(point):
        return abs(point.slope) <= -c2 * start.slope

    previous, new = start, evaluate(t)
    evaluations, tries = 1, 0
    bracket = None
    while tries < limit:
        if too_high(new) or (tries > 1 and new.value >= previous.value):
            bracket = [previous, new]
            break
        if flat(new):
            return new, evaluations
        if new.slope >= 0:
            bracket = [previous, new]
            break
        t = _cubic_minimum(previous, new, new.t + 0.01 * (new.t - previous.t), new.t * 10)
        previous, new = new, evaluate(t)
        evaluations += 1
        tries += 1
    if bracket is None:
        bracket = [start, new]

    stuck = False
    best = 0 if bracket[0].value <= bracket[1].value else 1
    while tries < limit and abs(bracket[1].t - bracket[0].t) * size >= tolerance:
        t = _cubic_minimum(*bracket)
        low, high = sorted(point.t for point in bracket)
        margin = 0.1 * (high - low)
        if min(high - t, t - low) < margin:  # close to an end: the second time in a row, move inwards
            if stuck or t >= high or t <= low:
                t = high - margin if abs(t - high) < abs(t - low) else low + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = evaluate(t)
        evaluations += 1
        tries += 1
        if too_high(new) or new.value >= bracket[best].value:
            bracket[1 - best] = new
            best = 0 if bracket[0].value <= bracket[1].value else 1
            continue
        done = flat(new)
        if not done and new.slope * (bracket[1 - best].t - bracket[best].t) >= 0:
            bracket[1 - best] = bracket[best]
        bracket[best] = new
        if done:
            break
    return bracket[best], evaluations


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last gradients and steps (Nocedal, 1980)."""

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
        line_search_fn=None,
    ):  # fmt: skip
        _checks.learning_rate(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state):
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self):
        return vivace.cat([(vivace.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in self._params])

    def _move(self, t, direction):
        """Adds t times the direction to the parameters."""
        start = 0
        for p in self._params:
            end = start + p.numel()
            p.add_(direction[start:end].view_as(p), alpha=t)
            start = end

    def _direction(self, grad, state, history_size):
        """Minus the gradient, multiplied by the approximate inverse Hessian (two-loop recursion)."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        change = grad.sub(state["prev_flat_grad"])
        step = state["d"].mul(state["t"])
        curvature = change.dot(step).item()
        histories = state["old_dirs"], state["old_stps"], state["ro"]
        if curvature > 1e-10:
            if len(histories[0]) == history_size:
                for history in histories:
                    history.pop(0)
            for history, item in zip(histories, (change, step, 1.0 / curvature), strict=True):
                history.append(item)
            state["H_diag"] = curvature / change.dot(change).item()
        rows = list(zip(*histories, strict=True))
        q = grad.neg()
        factors = []
        for old_change, old_step, ro in reversed(rows):
            factors.append(old_step.dot(q).item() * ro)
            q.add_(old_change, alpha=-factors[-1])
        d = q.mul(state["H_diag"])
        for (old_change, old_step, ro), factor in zip(rows, reversed(factors), strict=True):
            d.add_(old_step, alpha=factor - old_change.dot(d).item() * ro)
        return d

    def step(self, closure):
        with vivace.no_grad():
            return self._step(closure)

    def _step(self, closure):
        group = self.param_groups[0]
        lr = float(group["lr"])
        max_iter, tolerance_change = group["max_iter"], group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = self._loss_of(closure)
        loss = float(first_loss)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        iterations = 0
        while iterations < max_iter:
            iterations += 1
            state["n_iter"] += 1
            d = self._direction(grad, state, group["history_size"])
            state["prev_flat_grad"] = grad.clone()
            previous_loss = loss
            t = min(1.0, 1.0 / grad.abs().sum().item()) * lr if state["n_iter"] == 1 else lr
            state["d"], state["t"] = d, t
            slope = grad.dot(d).item()
            if slope > -tolerance_change:
                break
            used = 0
            if group["line_search_fn"] == "strong_wolfe":
                point, used = self._search(closure, d, _Point(0, loss, grad.clone(), slope), t)
                loss, grad, t = point.value, point.grad, point.t
                self._move(t, d)
            else:
                self._move(t, d)
                if iterations != max_iter:  # the last gradient would not be used
                    loss = float(self._loss_of(closure))
                    grad = self._flat_grad()
                    used = 1
            state["t"] = t
            evaluations += used
            state["func_evals"] += used
            if (
                iterations == max_iter
                or evaluations >= group["max_eval"]
                or grad.abs().max() <= group["tolerance_grad"]
                or d.mul(t).abs().max() <= tolerance_change
                or abs(loss - previous_loss) < tolerance_change
            ):
                break
        state["prev_loss"] = previous_loss
        return first_loss

    def _search(self, closure, d, start, t):
        saved = [p.clone() for p in self._params]

        def evaluate(t):
            self._move(t, d)
            value = float(self._loss_of(closure))
            grad = self._flat_grad()
            for p, old in zip(self._params, saved, strict=True):
                p.copy_(old)
            return _Point(t, value, grad, grad.dot(d).item())

        return _strong_wolfe(evaluate, t, start, d.abs().max().item())
