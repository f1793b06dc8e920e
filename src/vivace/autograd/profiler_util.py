"""torch.autograd.profiler_util: the events of a profile, and their tables."""

from vivace.profiler._events import (
    MEMORY_EVENT_NAME,
    OUT_OF_MEMORY_EVENT_NAME,
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
    StringTable,
)

__all__ = [
    "MEMORY_EVENT_NAME",
    "OUT_OF_MEMORY_EVENT_NAME",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "StringTable",
]
