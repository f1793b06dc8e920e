"""Schedules of learning rates.

A schedule that has a closed form says the rate of epoch n in `_rate(base_lr, n)`; called step by step it still
multiplies the present rate, as PyTorch does, so that schedules chained on one optimizer compose.
"""

import math
from bisect import bisect_right
from collections import Counter
from functools import wraps
from weakref import ref

from vivace import Tensor
from vivace._lazy import lazily

from .optimizer import Optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR",
    "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "StepLR",
]  # fmt: skip
_LAZY = ("ChainedScheduler", "CyclicLR", "OneCycleLR", "ReduceLROnPlateau", "SequentialLR")
__all__ += _LAZY

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the "
    "closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your "
    "use case: https://github.com/pytorch/pytorch/issues/new/choose."
)


def _warn(text, stacklevel=3):
    import warnings

    warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)


def _set(group, key, value):
    """Writes an option; one that is a tensor keeps its identity."""
    if isinstance(group[key], Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = value


def _value(x):
    return x.clone() if isinstance(x, Tensor) else x


def _per_group(name, values, optimizer):
    """One value for each group, from one for all or a list of them."""
    count = len(optimizer.param_groups)
    if not isinstance(values, (list, tuple)):
        return [values] * count
    if len(values) != count:
        raise ValueError(f"Expected {count} values for {name}, got {len(values)}")
    return list(values)


def _require_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _count_steps(optimizer):
    """Lets a scheduler see whether the optimizer has made a step yet."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    own = optimizer.__dict__.get("step")
    weak = ref(optimizer)

    @wraps(optimizer.step)
    def step(*args, **kwargs):
        target = weak()
        target._opt_called = True
        # The class is asked at each call, because the first step hook puts another function there.
        return own(*args, **kwargs) if own is not None else type(target).step(target, *args, **kwargs)

    step._wrapped_by_lr_sched = True
    optimizer.step = step


class LRScheduler:
    """Base class: counts epochs and writes the rates that `get_lr` gives into the optimizer's groups."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        _require_optimizer(optimizer)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", _value(group["lr"]))
        else:
            for number, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{number}] when resuming scheduler with "
                        f"last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
                        "checkpoint but haven't properly loaded the optimizer state\n2. You're using "
                        "last_epoch >= 0 for "
                        "a fresh training run (not recommended)"
                    )
        self.optimizer = optimizer
        self.base_lrs = [_value(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _count_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates that the last step set."""
        return self._last_lr

    def get_lr(self):
        """The rates of epoch `last_epoch`, from those that the groups have now."""
        raise NotImplementedError

    def _rates_now(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def _closed_form(self):
        """The rates of epoch `last_epoch` from the first ones, or None where there is no such form."""
        if hasattr(self, "_rate"):
            return [self._rate(base_lr, self.last_epoch) for base_lr in self.base_lrs]
        return None

    def step(self, epoch=None):
        """Goes to the next epoch, or to a given one."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                _warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                    "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
                    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                _warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                    "should call them in the opposite order: `optimizer.step()` before "
                    "`lr_scheduler.step()`.  Failure to "
                    "do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
                    "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
                )
        self._step_count += 1
        if epoch is not None:
            _warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = self._closed_form()
                rates = self.get_lr() if rates is None else rates
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _set(group, "lr", rate)
        self._last_lr = [_value(group["lr"]) for group in self.optimizer.param_groups]


_LRScheduler = LRScheduler


def _warn_outside_step(scheduler):
    if not scheduler._get_lr_called_within_step:
        _warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")


class _LambdaBase(LRScheduler):
    """What LambdaLR and MultiplicativeLR share: one function for each group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        _require_optimizer(optimizer)
        self.lr_lambdas = _per_group("lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """Functions are saved only as the attributes of callable objects."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        is_function = type(lambda: None)
        state["lr_lambdas"] = [None if isinstance(f, is_function) else f.__dict__.copy() for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        functions = state_dict["lr_lambdas"]
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for mine, saved in zip(self.lr_lambdas, functions, strict=True):
            if saved is not None:
                mine.__dict__.update(saved)


class LambdaLR(_LambdaBase):
    """The first rate times a function of the epoch."""

    def get_lr(self):
        _warn_outside_step(self)
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_LambdaBase):
    """The present rate times a function of the epoch."""

    def get_lr(self):
        _warn_outside_step(self)
        rates = self._rates_now()
        if self._is_initial:
            return rates
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, rates, strict=True)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates_now()
        return [rate * self.gamma for rate in self._rates_now()]

    def _rate(self, base_lr, epoch):
        return base_lr * self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Times gamma at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        if self.last_epoch not in self.milestones:
            return self._rates_now()
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates_now()]

    def _rate(self, base_lr, epoch):
        return base_lr * self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)


class ConstantLR(LRScheduler):
    """Times factor for the first total_iters epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates_now()]
        if self.last_epoch != self.total_iters:
            return self._rates_now()
        return [rate * (1.0 / self.factor) for rate in self._rates_now()]

    def _rate(self, base_lr, epoch):
        return base_lr * (self.factor + (epoch >= self.total_iters) * (1 - self.factor))


class LinearLR(LRScheduler):
    """Times a factor that goes from start_factor to end_factor in total_iters epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1.0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates_now()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates_now()
        span = self.end_factor - self.start_factor
        growth = 1.0 + span / (self.total_iters * self.start_factor + (self.last_epoch - 1) * span)
        return [rate * growth for rate in self._rates_now()]

    def _rate(self, base_lr, epoch):
        done = min(self.total_iters, epoch) / self.total_iters
        return base_lr * (self.start_factor + (self.end_factor - self.start_factor) * done)


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        if self._is_initial:
            return self._rates_now()
        return [rate * self.gamma for rate in self._rates_now()]

    def _rate(self, base_lr, epoch):
        return base_lr * self.gamma**epoch


class PolynomialLR(LRScheduler):
    """A power of the fraction of epochs that are left of total_iters."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates_now()
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (left / before) ** self.power for rate in self._rates_now()]

    def _rate(self, base_lr, epoch):
        return base_lr * (1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate to eta_min in T_max epochs."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        groups = self.optimizer.param_groups
        if self._is_initial:
            return self._rates_now()
        if self._step_count == 1 and self.last_epoch > 0:
            return [self._rate(base, self.last_epoch) for base in self.base_lrs]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            turn = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                group["lr"] + (base - self.eta_min) * turn for base, group in zip(self.base_lrs, groups, strict=True)
            ]
        now, before = (1 + math.cos(math.pi * n / self.T_max) for n in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _rate(self, base_lr, epoch):
        return self.eta_min + (base_lr - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines one after the other, each T_mult times as long as the one before."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        _warn_outside_step(self)
        swing = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * swing for base in self.base_lrs]

    def step(self, epoch=None):
        """Goes on by one epoch, or to any point, fractions of an epoch included."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _set(group, "lr", rate)
        self._last_lr = [_value(group["lr"]) for group in self.optimizer.param_groups]

    def _place(self, epoch):
        """Finds the cosine that an epoch falls into."""
        self.T_i, self.T_cur = self.T_0, epoch
        if epoch < self.T_0:
            return
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
        self.T_i = self.T_0 * self.T_mult**n


__getattr__, __dir__ = lazily("vivace.optim.lr_scheduler", dict.fromkeys(_LAZY, "vivace.optim._lr_schedulers"))
