"""A mode that notes how long each call of a torch function takes."""

import vivace
from vivace.overrides import TorchFunctionMode
from vivace.profiler import _events


class Recorder(TorchFunctionMode):
    """While it is on, `events` grows. What a function calls itself is part of its time; attributes are not noted."""

    def __init__(self, record_shapes=False):
        super().__init__()
        self.record_shapes = record_shapes
        self._recording = _events.Recording()

    @property
    def events(self):
        return self._recording.events

    def __enter__(self):
        _events._recorders.append(self._recording)
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        _events._recorders.remove(self._recording)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = func.__name__
        if name in ("__get__", "__set__"):
            return func(*args, **(kwargs or {}))
        shapes = ()
        if self.record_shapes:
            shapes = tuple(tuple(a.shape) for a in args if isinstance(a, vivace.Tensor))
        start = self._recording.begin()
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self._recording.finish(f"aten::{name.strip('_') if name.startswith('__') else name}", start, shapes)
