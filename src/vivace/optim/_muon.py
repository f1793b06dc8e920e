"""Muon."""

import math

import vivace

from ._per_parameter import PerParameter

__all__ = ["Muon"]


def _orthogonalized(matrix, coefficients, steps, eps):
    """Nearly the orthogonal factor of a matrix, by a Newton-Schulz iteration of the fifth order in bfloat16."""
    a, b, c = coefficients
    x = matrix.bfloat16()
    tall = x.size(0) > x.size(1)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = vivace.addmm(x, vivace.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(PerParameter):
    """Momentum, orthogonalized: for the matrices of hidden layers (Jordan et al., 2024)."""

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None,
    ):  # fmt: skip
        if isinstance(lr, vivace.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for what, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{what} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _first_state(self, p, group):
        return {"momentum_buffer": vivace.zeros_like(p.grad)}

    def _update(self, p, grad, state, group):
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        momentum, rate = group["momentum"], float(group["lr"])
        buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - rate * group["weight_decay"])
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            rate *= 0.2 * math.sqrt(max(rows, columns))
        else:
            rate *= math.sqrt(max(1, rows / columns))
        p.add_(update.to(p.dtype), alpha=-rate)
