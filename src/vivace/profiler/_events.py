"""Events of a profiler, and tables of them."""

import functools
import gzip
import json
import os
import time
from dataclasses import dataclass, field

_recorders = []  # lists that get the events while profilers run, innermost last


@dataclass
class FunctionEvent:
    """One call; times in nanoseconds."""

    name: str
    start: int
    end: int
    input_shapes: tuple = ()
    children: int = 0  # nanoseconds of calls within

    @property
    def key(self):
        return self.name

    count = 1

    @property
    def cpu_time_total(self):
        """Microseconds."""
        return (self.end - self.start) / 1000

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total - self.children / 1000


@dataclass
class FunctionEventAvg:
    """All calls of one name; times in microseconds."""

    key: str
    input_shapes: tuple = ()
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event):
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total


_COLUMNS = {
    "Name": lambda e, whole: e.key,
    "Self CPU %": lambda e, whole: f"{100 * e.self_cpu_time_total / whole:.2f}%",
    "Self CPU": lambda e, whole: _time(e.self_cpu_time_total),
    "CPU total %": lambda e, whole: f"{100 * e.cpu_time_total / whole:.2f}%",
    "CPU total": lambda e, whole: _time(e.cpu_time_total),
    "CPU time avg": lambda e, whole: _time(e.cpu_time),
    "# of Calls": lambda e, whole: str(e.count),
}


def _time(microseconds):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class EventList(list):
    """Events, or their averages."""

    @property
    def self_cpu_time_total(self):
        """Microseconds of all."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        """A FunctionEventAvg for each name."""
        found = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else ()
            found.setdefault((event.key, shapes), FunctionEventAvg(event.key, shapes)).add(event)
        return EventList(found.values())

    def total_average(self):
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(self, sort_by=None, row_limit=100, header=None, top_level_events_only=False, **widths):
        """As text; `sort_by` is the name of an attribute."""
        whole = self.self_cpu_time_total or 1.0
        rows = list(self) if sort_by is None else sorted(self, key=lambda e: -getattr(e, sort_by, 0))
        cells = [[column(e, whole) for column in _COLUMNS.values()] for e in rows[:row_limit]]
        wide = [max(map(len, column)) for column in zip(_COLUMNS, *cells, strict=True)]
        rule = "  ".join("-" * w for w in wide)
        lines = [
            "  ".join(text.rjust(w) for text, w in zip(row, wide, strict=True)) for row in [list(_COLUMNS), *cells]
        ]
        parts = [header] if header else []
        return "\n".join(
            [*parts, rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {_time(self.self_cpu_time_total)}"]
        )

    __str__ = table

    def export_chrome_trace(self, path):
        """Writes a file that chrome://tracing shows."""
        events = [
            {"ph": "X", "cat": "cpu_op", "name": e.name, "pid": os.getpid(), "tid": 1, "ts": e.start / 1000,
             "dur": e.cpu_time_total}
            for e in self
        ]  # fmt: skip
        opened = gzip.open if str(path).endswith(".gz") else open
        with opened(path, "wt") as file:
            json.dump({"traceEvents": events}, file)


@dataclass
class Recording:
    """The events of one profiler, and the time of calls in the ones that run."""

    events: EventList = field(default_factory=EventList)
    running: list = field(default_factory=list)

    def begin(self):
        self.running.append(0)
        return time.perf_counter_ns()

    def finish(self, name, start, shapes=()):
        end = time.perf_counter_ns()
        children = self.running.pop()
        if self.running:
            self.running[-1] += end - start
        self.events.append(FunctionEvent(name, start, end, shapes, children))


class record_function:
    """A with block, or a decorator, whose time profilers show under a name."""

    def __init__(self, name, args=None):
        self.name = name
        self._open = []

    def __enter__(self):
        self._open.append([(recording, recording.begin()) for recording in _recorders])
        return self

    def __exit__(self, *exception):
        for recording, start in self._open.pop():
            recording.finish(self.name, start)

    def __call__(self, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return call
