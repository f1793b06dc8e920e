"""torch.autograd.profiler: the older profiler; torch.profiler is what new programs use."""

from vivace.profiler._events import EventList, FunctionEvent, record_function
from vivace.profiler._recorder import Recorder

__all__ = ["EventList", "FunctionEvent", "profile", "record_function"]


class profile:
    """A with block in which calls of torch functions are timed."""

    def __init__(self, enabled=True, *, record_shapes=False, **options):
        self.enabled = enabled
        self.function_events = EventList()
        self._recorder = Recorder(record_shapes)

    def __enter__(self):
        if self.enabled:
            self._recorder.__enter__()
        return self

    def __exit__(self, *exception):
        if self.enabled:
            self._recorder.__exit__(*exception)
            self.function_events = self._recorder.events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """A row for each name."""
        return self.function_events.key_averages(group_by_input_shape)

    def total_average(self):
        return self.function_events.total_average()

    def table(self, *args, **kwargs):
        """What was called, as text."""
        return self.function_events.table(*args, **kwargs)

    __str__ = table

    @property
    def self_cpu_time_total(self):
        """Microseconds of all calls."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path):
        """Writes a file that chrome://tracing shows."""
        self.function_events.export_chrome_trace(path)
