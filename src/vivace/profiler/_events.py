"""The events of a profile, call by call or averaged, and the tables they print as."""

from __future__ import annotations

import re
from typing import NamedTuple

from vivace.profiler import _table, _trace
from vivace.profiler._kinds import ACCUMULATE, APPLY, EVALUATE, OPERATOR, RANGE, DeviceType
from vivace.profiler._lines import Lines

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel", "StringTable"]

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"

_STEP = re.compile(r"^ProfilerStep#\d+")
_SCOPES = {APPLY: 1, ACCUMULATE: 1, RANGE: 7}


class Kernel(NamedTuple):
    """What ran on a device for an event; there are none on a CPU."""

    name: str
    device: int
    duration: float


class Interval:
    """From `start` to `end`, in microseconds since the profile began."""

    __slots__ = ("end", "start")

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        return self.end - self.start

    def __repr__(self):
        return f"Interval(start={self.start}, end={self.end})"


class StringTable(dict):
    """A dict of names that gives back what it does not know."""

    def __missing__(self, key):
        return key


class _Times:
    """What events and averages share. There is one device, the CPU: all times of others are zero."""

    __slots__ = ()
    is_async = is_remote = is_legacy = False
    node_id = -1
    device_type = DeviceType.CPU
    use_device = None
    device_time_total = self_device_time_total = device_time = 0
    device_memory_usage = self_device_memory_usage = 0
    cuda_time_total = self_cuda_time_total = cuda_time = 0

    @property
    def cpu_time(self):
        """Microseconds of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: _table.time_text(self.cpu_time))
    cpu_time_total_str = property(lambda self: _table.time_text(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _table.time_text(self.self_cpu_time_total))
    device_time_str = device_time_total_str = self_device_time_total_str = "0.000us"


class FunctionEvent(_Times):
    """One call of an operator, one node of backward or one range that `record_function` names; times in microseconds.

    What takes work to find, such as shapes and stacks, is found when asked for.
    """

    __slots__ = (
        "_arguments", "_forward", "_lines", "_stack", "cpu_children", "cpu_memory_usage", "cpu_parent", "flops",
        "fwd_thread", "id", "kind", "name", "overload_name", "sequence_nr", "thread", "time_range", "trace_name",
    )  # fmt: skip
    count = 1
    kwinputs: dict = {}
    kernels: tuple = ()
    device_index = 0

    def __init__(self, id, name, start_us, end_us, *, kind=OPERATOR, overload_name="", thread=1, sequence_nr=-1,
                 arguments=None, stack=(), lines=None):  # fmt: skip
        self.id = id
        self.trace_name = name
        self.name = _STEP.sub("ProfilerStep*", name)
        self.overload_name = overload_name
        self.kind = kind
        self.thread = thread
        self.fwd_thread = thread if kind in (EVALUATE, APPLY) else 0
        self.sequence_nr = sequence_nr
        self.time_range = Interval(start_us, end_us)
        self.cpu_parent = None
        self.cpu_children = []
        self.cpu_memory_usage = 0
        self.flops = 0
        self._arguments = arguments
        self._stack = stack  # code object, offset, code object, offset, ...
        self._forward = ()  # the same of the forward operator, for what runs in backward
        self._lines = lines

    key = property(lambda self: self.name)
    scope = property(lambda self: _SCOPES.get(self.kind, 0))
    is_user_annotation = property(lambda self: self.kind == RANGE)

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        """Bytes allocated less bytes freed in the call, without what it calls."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def input_shapes(self):
        """The sizes of each argument; [] for what is no tensor."""
        return [list(a[0]) if _is_tensor(a) else [] for a in self._arguments or ()]

    @property
    def structured_input_shapes(self):
        """The same, and of a list of tensors the sizes of each."""
        return [_of_tensors(a, lambda t: list(t[0])) for a in self._arguments or ()]

    @property
    def structured_input_strides(self):
        return [_of_tensors(a, lambda t: list(t[1])) for a in self._arguments or ()]

    @property
    def input_dtypes(self):
        return [_type_name(a) for a in self._arguments or ()]

    @property
    def concrete_inputs(self):
        """The values of the arguments that are no tensors."""
        return [None if _is_tensor(a) or _is_tensors(a) else a for a in self._arguments or ()]

    @property
    def stack(self):
        """The Python functions that were running, innermost first, as "file(line): function"; vivace's own are left
        out. For what runs in backward it is where the forward operator was called, if that was profiled."""
        return self._lines.stack(self._forward or self._stack) if self._stack else []

    def __repr__(self):
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} seq_nr={self.sequence_nr}>"
        )


def _is_tensor(argument):
    return isinstance(argument, tuple)


def _is_tensors(argument):
    return isinstance(argument, list) and any(map(_is_tensor, argument))


def _of_tensors(argument, part):
    if _is_tensor(argument):
        return part(argument)
    return [_of_tensors(a, part) for a in argument] if _is_tensors(argument) else []


_C_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long int",
    "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def _type_name(argument):
    """As traces name it."""
    if _is_tensor(argument):
        name = str(argument[2]).removeprefix("torch.")
        return _C_NAMES.get(name, name)
    if isinstance(argument, list):
        return "TensorList" if _is_tensors(argument) else "ScalarList"
    return "Scalar" if isinstance(argument, (int, float, complex)) else ""


class FunctionEventAvg(_Times):
    """All calls of one name, shapes and stack; times in microseconds."""

    __slots__ = (
        "count", "cpu_children", "cpu_memory_usage", "cpu_parent", "cpu_time_total", "flops", "input_shapes",
        "is_user_annotation", "key", "overload_name", "scope", "self_cpu_memory_usage", "self_cpu_time_total", "stack",
    )  # fmt: skip

    def __init__(self, key=None):
        self.key = key
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.input_shapes = self.overload_name = self.stack = self.scope = None
        self.cpu_children = self.cpu_parent = None
        self.is_user_annotation = False

    def add(self, event):
        """Counts an event, or another average, in."""
        if self.key is None:
            self.key = event.key
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.flops += event.flops
        return self

    __iadd__ = add

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list):
    """Events in the order in which they began, or averages of them."""

    supported_export_stacks_metrics = ("self_cpu_time_total", "self_cuda_time_total")

    def __init__(
        self, events=(), *, profile_memory=False, with_flops=False, lines=None, metadata=None, use_device=None
    ):
        super().__init__(events)
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._lines = lines or Lines()
        self._metadata = metadata or {}

    @property
    def self_cpu_time_total(self):
        """Microseconds of all."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """A FunctionEventAvg for each name; if asked for, also for each list of shapes, for each `group_by_stack_n`
        innermost lines, or for each overload."""
        found = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            stack = tuple(event.stack[:group_by_stack_n]) if group_by_stack_n > 0 else ()
            overload = event.overload_name if group_by_overload_name else ""
            key = (event.key, event.is_user_annotation, shapes, stack, overload)
            average = found.get(key)
            if average is None:
                average = found[key] = FunctionEventAvg(event.key)
                average.input_shapes = event.input_shapes if group_by_input_shapes else ""
                average.overload_name = overload
                average.stack = list(stack)
                average.scope = event.scope
                average.is_user_annotation = event.is_user_annotation
            average.add(event)
        return EventList(
            found.values(), profile_memory=self._profile_memory, with_flops=self._with_flops, lines=self._lines
        )

    def total_average(self):
        """One FunctionEventAvg of all."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = None
        return total

    def table(
        self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
        max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None,
    ):  # fmt: skip
        """The events as text; `sort_by` names one of their attributes, such as "cpu_time_total"."""
        return _table.table(
            self, sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header,
            top_level_events_only,
        )  # fmt: skip

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        """Writes a file that chrome://tracing and Perfetto show, compressed if it is named *.gz."""
        _trace.write_chrome_trace(self, path, self._lines, self._metadata)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes a line for each event with its stack and a time, from which flame graphs are drawn."""
        if metric not in self.supported_export_stacks_metrics:
            raise ValueError(f"metric should be one of: {list(self.supported_export_stacks_metrics)}")
        _trace.write_stacks(self, path, metric)
