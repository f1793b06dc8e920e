"""Adafactor."""

import vivace

from ._per_parameter import PerParameter, count_step, zero_step

__all__ = ["Adafactor"]


class Adafactor(PerParameter):
    """Second moments of matrices as products of those of rows and columns, and steps of a relative size (Shazeer and
    Stern, 2018).
    """

    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
        maximize=False,
    ):  # fmt: skip
        if isinstance(lr, vivace.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first_state(self, p, group):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if p.grad.dim() < 2:
            return {"step": zero_step(), "variance": vivace.zeros_like(p.grad)}
        *batch, rows, columns = p.grad.shape
        return {
            "step": zero_step(),
            "row_var": p.grad.new_zeros((*batch, rows, 1)),
            "col_var": p.grad.new_zeros((*batch, 1, columns)),
        }

    def _update(self, p, grad, state, group):
        step = count_step(state)
        eps1, eps2 = group["eps"]
        eps1 = vivace.finfo(p.dtype).eps if eps1 is None else eps1
        rate = float(group["lr"])
        size = max(eps2, p.norm().item() / p.numel() ** 0.5) * min(rate, step**-0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - rate * group["weight_decay"])
        variance = self._variance(grad, state, step ** group["beta2_decay"], eps1)
        update = variance.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        clip = max(1.0, update.norm().item() / (update.numel() ** 0.5 * group["d"]))
        p.add_(update, alpha=-size / clip)

    @staticmethod
    def _variance(grad, state, weight, eps1):
        """The running second moments, moved towards those of a gradient."""
        squares = grad * grad
        if grad.dim() < 2:
            return state["variance"].lerp_(squares, weight).clone()
        rows = state["row_var"].lerp_(squares.mean(-1, keepdim=True), weight)
        columns = state["col_var"].lerp_(squares.mean(-2, keepdim=True), weight)
        return (rows @ columns).div_(rows.mean(-2, keepdim=True).clamp_(min=eps1))
