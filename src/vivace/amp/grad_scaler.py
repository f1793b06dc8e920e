"""Scaling of losses, so that small gradients survive in half precision."""

import enum
import warnings

import vivace

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """Where an optimizer stands between two updates of the scale."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Multiplies losses by a factor, divides gradients by it before a step, and skips steps with infinite gradients.

    The factor grows by `growth_factor` after `growth_interval` steps without infinities, and falls by
    `backoff_factor` after one with them. Where `device` does not exist, it warns and passes everything through.
    """

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        if enabled and device != "cpu":
            warnings.warn(f"GradScaler is enabled, but {device} is not available. Disabling.", stacklevel=2)
            enabled = False
        if enabled and not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device = device
        self._enabled = enabled
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._states = {}  # id of an optimizer -> (OptState, whether its gradients had infinities)

    def scale(self, outputs):
        """A tensor, or tensors in containers, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, vivace.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            scaled = [self.scale(o) for o in outputs]
            return type(outputs)(*scaled) if hasattr(outputs, "_fields") else type(outputs)(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divides the gradients of an optimizer's parameters by the factor, once a step."""
        if not self._enabled:
            return
        state, _ = self._state(optimizer)
        if state is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        infinite = False
        with vivace.no_grad():
            for grad in grads:
                if grad.dtype == vivace.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                grad.mul_(1.0 / self._scale)
                infinite = infinite or not bool(vivace.isfinite(grad).all())
        self._states[id(optimizer)] = (OptState.UNSCALED, infinite)

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), unless gradients are infinite or NaN."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._state(optimizer)[0] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if self._state(optimizer)[0] is OptState.READY:
            self.unscale_(optimizer)
        infinite = self._state(optimizer)[1]
        result = None if infinite else optimizer.step(*args, **kwargs)
        self._states[id(optimizer)] = (OptState.STEPPED, infinite)
        return result

    def update(self, new_scale=None):
        """Sets the factor for the next iteration."""
        if not self._enabled:
            return
        infinities = [infinite for _, infinite in self._states.values()]
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not infinities:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(infinities):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._states.clear()

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        """Empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]

    def _state(self, optimizer):
        return self._states.get(id(optimizer), (OptState.READY, False))
