"""record_function."""

import functools

from vivace import _C


class record_function:
    """A with block, or a decorator, whose time profiles show under a name."""

    def __init__(self, name, args=None):
        self.name = name
        self.args = args
        self._tokens = []

    def __enter__(self):
        self._tokens.append(_C._profiler_enter(self.name))
        return self

    def __exit__(self, *exception):
        _C._profiler_exit(self._tokens.pop())

    def __call__(self, function):
        name = self.name

        @functools.wraps(function)
        def call(*args, **kwargs):
            token = _C._profiler_enter(name)
            try:
                return function(*args, **kwargs)
            finally:
                _C._profiler_exit(token)

        return call
