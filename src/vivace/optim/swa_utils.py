"""Averages of a model's parameters over its training (Izmailov et al., 2018), with their schedule and statistics."""

import copy
import math
from itertools import chain

import vivace
from vivace.nn import Module

from .lr_scheduler import LRScheduler, _per_group, _require_optimizer, _warn_outside_step

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _move(averages, values, weight):
    """Moves each average towards a value by a fraction of their distance."""
    for average, value in zip(averages, values, strict=True):
        if average.is_floating_point() or average.is_complex():
            average.lerp_(value.to(average.dtype), weight)
        else:
            average.copy_(average + (value - average) * weight)


def get_ema_multi_avg_fn(decay=0.999):
    """For AveragedModel: exponential moving averages, of all parameters at once."""
    _check_decay(decay)

    @vivace.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        _move(ema_param_list, current_param_list, 1 - decay)

    return ema_update


def get_swa_multi_avg_fn():
    """For AveragedModel: means of all updates, of all parameters at once."""

    @vivace.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        _move(averaged_param_list, current_param_list, 1 / (float(num_averaged) + 1))

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """For AveragedModel: exponential moving averages, of one parameter."""
    _check_decay(decay)

    @vivace.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """For AveragedModel: means of all updates, of one parameter."""

    @vivace.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model with averages of the parameters that the model has at each `update_parameters`: their means.

    Another average is that of avg_fn. Buffers are copied, unless use_buffers averages them too.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", vivace.tensor(0, dtype=vivace.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        return [
            t.detach() for t in (chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters())
        ]

    @vivace.no_grad()
    def update_parameters(self, model):
        """Takes the model's present parameters into the averages."""
        averages = self._averaged(self.module)
        values = [value.to(average.device) for value, average in zip(self._averaged(model), averages, strict=True)]
        if self.n_averaged == 0:
            for average, value in zip(averages, values, strict=True):
                average.copy_(value)
        elif self.avg_fn is not None:
            for average, value in zip(averages, values, strict=True):
                average.copy_(self.avg_fn(average, value, self.n_averaged.to(average.device)))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
        if not self.use_buffers:
            for mine, other in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.copy_(other)
        self.n_averaged += 1


@vivace.no_grad()
def update_bn(loader, model, device=None):
    """Computes the running statistics of all batch normalisations anew, from the batches of a loader."""
    from vivace.nn.modules.batchnorm import _BatchNorm

    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # the mean over all batches
    for batch in loader:
        input = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


_ANNEALING = {"cos": lambda t: (1 - math.cos(math.pi * t)) / 2, "linear": lambda t: t}


class SWALR(LRScheduler):
    """Goes from the present rates to swa_lr in anneal_epochs epochs, and stays there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        _require_optimizer(optimizer)
        if isinstance(swa_lr, (list, tuple)) and len(swa_lr) != len(optimizer.param_groups):
            raise ValueError(
                "swa_lr must have the same length as optimizer.param_groups. swa_lr has "
                f"{len(swa_lr)} values, param_groups has {len(optimizer.param_groups)}."
            )
        for group, rate in zip(optimizer.param_groups, _per_group("swa_lr", swa_lr, optimizer), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in _ANNEALING:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _done(self, step):
        """How far the rates have come at a step, between 0 and 1."""
        return _ANNEALING[self._anneal_strategy](max(0.0, min(1.0, step / max(1, self.anneal_epochs))))

    def get_lr(self):
        _warn_outside_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self._done(step - 1)
        if before == 1:
            return [group["swa_lr"] for group in self.optimizer.param_groups]
        left = (1 - self._done(step)) / (1 - before)
        return [g["swa_lr"] + (g["lr"] - g["swa_lr"]) * left for g in self.optimizer.param_groups]
