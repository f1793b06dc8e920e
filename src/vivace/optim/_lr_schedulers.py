"""Schedules that follow a measured loss, a cycle, or other schedules."""

import math

from vivace import inf

from .lr_scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler, _per_group, _require_optimizer, _set, _value, _warn


class ReduceLROnPlateau(LRScheduler):
    """Times factor when a metric has not improved for more than `patience` epochs."""

    def __init__(
        self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0,
        min_lr=0, eps=1e-8,
    ):  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        _require_optimizer(optimizer)
        self.optimizer = optimizer
        self.factor = factor
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = _per_group("min_lrs", min_lr, optimizer)
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = [_value(group["lr"]) for group in optimizer.param_groups]
        self.mode_worse = inf if mode == "min" else -inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self):
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether a improves on best by more than the threshold."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1 + sign * self.threshold)
        return sign * a > sign * (best + sign * self.threshold)

    def step(self, metrics, epoch=None):
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            _warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = epoch
        if self.is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [_value(group["lr"]) for group in self.optimizer.param_groups]

    def _reduce_lr(self, epoch):
        groups = self.optimizer.param_groups
        missing = len(groups) - len(self.min_lrs)
        if missing and self.default_min_lr is None:
            raise RuntimeError(
                f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                "`ReduceLROnPlateau` was "
                f"initialized ({len(self.min_lrs)}), usually due to a new param group being added to the "
                "optimizer. Please "
                "modify the `min_lrs` field to match the length of the `optimizer` param groups."
            )
        self.min_lrs += [self.default_min_lr] * missing
        for group, low in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, low)
            if old - new > self.eps:
                _set(group, "lr", new)


def _momentum_of(group):
    return group["betas"][0] if "betas" in group else group["momentum"]


def _set_momentum(group, value):
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Up and down between two rates (Smith, 2017); momentum goes the other way."""

    def __init__(
        self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
        scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1,
    ):  # fmt: skip
        _require_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _per_group("base_lr", base_lr, optimizer)
        if last_epoch == -1:
            for low, group in zip(base_lrs, optimizer.param_groups, strict=True):
                _set(group, "lr", low)
        self.max_lrs = _per_group("max_lr", max_lr, optimizer)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else ("iterations" if mode == "exp_range" else "cycle")
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = _per_group("base_momentum", base_momentum, optimizer)
            self.max_momentums = _per_group("max_momentum", max_momentum, optimizer)
            if last_epoch == -1:
                for high, low, group in zip(
                    self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True
                ):
                    _set_momentum(group, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        """How far up the cycle or iteration x goes, between 0 and 1."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        rates = [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]
        if self.cycle_momentum:
            rows = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in rows:
                _set_momentum(group, high - (high - low) * height * scale)
        return rates

    def state_dict(self):
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        is_function = type(lambda: None)
        state["_scale_fn_custom"] = (
            None if function is None or isinstance(function, is_function) else function.__dict__.copy()
        )
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        saved = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if saved is not None:
            self._scale_fn_custom.__dict__.update(saved)


class OneCycleLR(LRScheduler):
    """One rise and one fall over the whole training (Smith and Topin, 2017)."""

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
        anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
        final_div_factor=1e4, three_phase=False, last_epoch=-1,
    ):  # fmt: skip
        _require_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = self._number_of_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        rise = float(pct_start * self.total_steps)
        marks = [("initial_lr", "max_lr", "max_momentum", "base_momentum", rise - 1)]
        if three_phase:
            marks.append(("max_lr", "initial_lr", "base_momentum", "max_momentum", 2 * rise - 2))
            marks.append(("initial_lr", "min_lr", "max_momentum", "max_momentum", self.total_steps - 1))
        else:
            marks.append(("max_lr", "min_lr", "base_momentum", "max_momentum", self.total_steps - 1))
        names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        self._schedule_phases = [{"end_step": row[-1], **dict(zip(names, row, strict=False))} for row in marks]
        self._anneal_func_type = anneal_strategy
        max_lrs = _per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for high, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in optimizer.defaults
            if last_epoch == -1:
                highs = _per_group("max_momentum", max_momentum, optimizer)
                lows = _per_group("base_momentum", base_momentum, optimizer)
                for high, low, group in zip(highs, lows, optimizer.param_groups, strict=True):
                    _set_momentum(group, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _number_of_steps(total_steps, epochs, steps_per_epoch):
        given = {"total_steps": total_steps} if total_steps is not None else {}
        if not given:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        for name, value in given.items():
            if value <= 0 or not isinstance(value, int):
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        return math.prod(given.values())

    def _anneal(self, start, end, done):
        if self._anneal_func_type == "linear":
            return (end - start) * done + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The total number of steps is {self.total_steps}")
        begin = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        done = (step - begin) / (end - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], done))
            if self.cycle_momentum:
                momentum = self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], done)
                _set_momentum(group, momentum)
        return rates


class _OfSchedulers(LRScheduler):
    """What schedules made of other schedules share: saving."""

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


def _check_schedulers(what, schedulers, optimizer):
    if len(schedulers) < 1:
        raise ValueError(f"{what} expects at least one scheduler to be chained, but got no scheduler.")
    for number, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{what} at index {number} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{what} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to "
                "be specified "
                f"when calling `step`, but got one at index {number} in the given schedulers sequence."
            )
        if scheduler.optimizer != optimizer:
            raise ValueError(
                f"{what} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {number} has {scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}."
            )


class SequentialLR(_OfSchedulers):
    """One schedule after the other, changing at the milestones."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        _check_schedulers("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                "of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # The schedules have each made their first step; undo them and let only the first one make it again.
        for group in optimizer.param_groups:
            _set(group, "lr", group["initial_lr"])
        for scheduler in schedulers:
            self._step_back(scheduler)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def _step_back(self, scheduler):
        for inner in getattr(scheduler, "_schedulers", ()):
            self._step_back(inner)
        if hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self):
        self.last_epoch += 1
        number = sum(milestone <= self.last_epoch for milestone in self._milestones)
        scheduler = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_OfSchedulers):
    """Several schedules at once, each changing what the one before has set."""

    def __init__(self, schedulers, optimizer=None):
        optimizer = optimizer or (schedulers[0].optimizer if schedulers else None)
        _check_schedulers("ChainedScheduler", schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = [_value(group["lr"]) for group in optimizer.param_groups]

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [_value(group["lr"]) for group in self.optimizer.param_groups]
