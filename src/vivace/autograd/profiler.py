"""torch.autograd.profiler: the older profiler; torch.profiler is what new programs use."""

from vivace.profiler import DeviceType, ProfilerActivity, kineto_available
from vivace.profiler._events import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
    StringTable,
)
from vivace.profiler._ranges import record_function
from vivace.profiler._session import Session

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "ProfilerActivity",
    "StringTable",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "profile",
    "record_function",
]


class profile:
    """A with block whose operators are recorded; see torch.profiler.profile for what the options mean."""

    def __init__(self, enabled=True, *, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False,
                 **options):  # fmt: skip
        self.enabled = enabled
        self.entered = False
        self.function_events = None
        self._with_stack = with_stack
        self._session = Session(record_shapes, with_stack, profile_memory, with_flops)

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._session.start()
        return self

    def __exit__(self, *exception):
        if self.enabled:
            self.function_events, _ = self._session.stop()
        return False

    def _finished(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """A row for each name."""
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self):
        return self._finished().total_average()

    def table(self, *args, **kwargs):
        """What was called, as text."""
        return self._finished().table(*args, **kwargs)

    @property
    def self_cpu_time_total(self):
        """Microseconds of all calls."""
        return self._finished().self_cpu_time_total

    def export_chrome_trace(self, path):
        """Writes a file that chrome://tracing and Perfetto show."""
        self._finished().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes stacks and times, from which flame graphs are drawn."""
        if not self._with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._finished().export_stacks(path, metric)

    def __repr__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else repr(self.function_events)

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else str(self.function_events)


class _Emitter:
    """Hands ranges to another vendor's profiler, which is not there."""

    _tool = ""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self):
        if self.enabled:
            raise RuntimeError(f"{self._tool} is not available: vivace runs on the CPU and is not built with it")
        return None

    def __exit__(self, *exception):
        return False


class emit_nvtx(_Emitter):
    """For NVIDIA's tools: works only if not enabled, since there is no CUDA."""

    _tool = "NVTX"


class emit_itt(_Emitter):
    """For Intel's tools: works only if not enabled, since ITT is not built in."""

    _tool = "ITT"
