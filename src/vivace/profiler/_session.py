"""One recording: begins and ends the native session, and makes its events."""

import gc
import sys
import threading
import time
from functools import partial

from vivace import _C
from vivace.profiler import _ranges
from vivace.profiler._events import MEMORY_EVENT_NAME, EventList, FunctionEvent
from vivace.profiler._flops import flops
from vivace.profiler._kinds import APPLY, EVALUATE, INSTANT, OPERATOR, RANGE
from vivace.profiler._lines import Lines
from vivace.profiler._memory import MemoryTimeline

_SHAPES, _STACKS, _MEMORY = 1, 2, 4


def _time_optimizers():
    """Lets steps of optimizers show as ranges."""
    optimizer = sys.modules.get("vivace.optim.optimizer")
    if optimizer is not None:
        optimizer._run_hooks_in_steps()


def _without_repeats(events):
    """Leaves out an operator that does nothing but call itself again, as a mode or a transform makes it do."""
    kept = []
    for event in events:
        parent = event.cpu_parent
        if (
            event.kind == OPERATOR
            and parent is not None
            and (parent.kind, parent.name) == (OPERATOR, event.name)
            and len(parent.cpu_children) == 1
        ):
            parent.cpu_children = event.cpu_children
            for child in event.cpu_children:
                child.cpu_parent = parent
        else:
            kept.append(event)
    return kept


def _callers(stack, kind):
    """Without the function of record_function that began a range."""
    return stack[2:] if kind == RANGE and stack and stack[0].co_filename == _ranges.__file__ else stack


class Session:
    """Records this thread from `start` to `stop`; with `all_threads` those that Python starts meanwhile, too."""

    def __init__(
        self, record_shapes=False, with_stack=False, profile_memory=False, with_flops=False, all_threads=False
    ):
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_flops = with_flops
        self.all_threads = all_threads
        self.wants = _SHAPES * (record_shapes or with_flops) | _STACKS * with_stack | _MEMORY * profile_memory
        self._handle = None

    def start(self):
        _time_optimizers()
        if self.all_threads:
            self._follow_threads()
        self.wall_ns = time.time_ns()
        self._handle = _C._profiler_start(self.wants)

    def _follow_threads(self):
        """A profile function of Python runs in each new thread, once, and joins it."""
        before = self._before = threading.getprofile()

        def join(frame, event, arg):
            sys.setprofile(before)
            if self._handle is not None:
                _C._profiler_attach(self._handle)

        threading.setprofile(join)

    def stop(self):
        """(EventList, what makes the MemoryTimeline or None)"""
        handle, self._handle = self._handle, None
        if self.all_threads:
            threading.setprofile(self._before)
        collecting = gc.isenabled()
        gc.disable()  # all that is made stays: looking for garbage would take most of the time
        try:
            return self._finish(*_C._profiler_stop(handle))
        finally:
            if collecting:
                gc.enable()

    def _finish(self, threads, memory, duration):
        lines = Lines()
        by_thread = [
            self._events(number, native, stacks, lines) for number, (_, native, stacks) in enumerate(threads, 1)
        ]
        outside = self._count_memory(memory, by_thread) if self.profile_memory else []
        events = _without_repeats([event for part in by_thread for event in part]) + outside
        if self.profile_memory or len(threads) > 1:
            events.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
        for i, event in enumerate(events):
            event.id = i
        metadata = {"record_shapes": int(self.record_shapes), "profile_memory": int(self.profile_memory),
                    "with_flops": int(self.with_flops), "baseTimeNanoseconds": self.wall_ns}  # fmt: skip
        found = EventList(
            events, profile_memory=self.profile_memory, with_flops=self.with_flops, lines=lines, metadata=metadata
        )
        return found, partial(MemoryTimeline, memory, by_thread, duration / 1000) if self.profile_memory else None

    def _events(self, thread, native, stacks, lines):
        events = []
        forward = {}  # sequence number to the stack of the operator that made the node
        for name, overload, kind, start, end, parent, sequence, stack, arguments in native:
            event = FunctionEvent(
                len(events), name, start / 1000, end / 1000, kind=kind, overload_name=overload, thread=thread,
                sequence_nr=sequence, stack=_callers(stacks[stack], kind) if stack >= 0 else (), lines=lines,
                arguments=arguments if self.record_shapes else None,
            )  # fmt: skip
            if self.with_flops and arguments is not None:
                event.flops = flops(name, arguments)
            if parent >= 0:
                event.cpu_parent = events[parent]
                event.cpu_parent.cpu_children.append(event)
            if stack >= 0:
                if kind == OPERATOR and sequence >= 0:
                    forward.setdefault(sequence, event._stack)
                elif kind in (EVALUATE, APPLY):
                    event._forward = forward.get(sequence, ())
                elif event.cpu_parent is not None:
                    event._forward = event.cpu_parent._forward
            events.append(event)
        return events

    def _count_memory(self, memory, by_thread):
        """Counts what came and went in the events that ran; those for what did outside of all."""
        outside = []
        for at, _, size, thread, number in memory:
            event = by_thread[thread][number] if number >= 0 else None
            if event is None:
                outside.append(
                    FunctionEvent(0, MEMORY_EVENT_NAME, at / 1000, at / 1000, kind=INSTANT, thread=thread + 1)
                )
                outside[-1].cpu_memory_usage = size
            while event is not None:
                event.cpu_memory_usage += size
                event = event.cpu_parent
        return outside
