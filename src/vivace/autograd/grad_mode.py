"""no_grad, enable_grad, set_grad_enabled and inference_mode as decorators; as context managers they are native."""

import functools
import inspect

from vivace._C import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]


class set_multithreading_enabled:
    """Stands for PyTorch's switch of backward's threads: here a backward runs in the thread that called it."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass

    def clone(self):
        return self


def decorate(mode, function):
    """`mode` is one of the context managers; each call of the function runs within a fresh one like it."""
    if inspect.isclass(function):
        raise TypeError(f"{type(mode).__name__} decorates functions, not classes: decorate the methods that need it")
    wrap = _wrap_generator if inspect.isgeneratorfunction(function) else _wrap_function
    return wrap(mode, function)


def _wrap_function(mode, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        with mode.clone():
            return function(*args, **kwargs)

    return call


def _wrap_generator(mode, function):
    """The mode is on while the generator's own code runs, and off while its caller's does."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, value = generator.send, None
        try:
            while True:
                with mode.clone():
                    item = step(value)
                try:
                    step, value = generator.send, (yield item)
                except GeneratorExit:
                    with mode.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    step, value = generator.throw, error
        except StopIteration as stop:
            return stop.value

    return call
