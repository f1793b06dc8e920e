"""torch.profiler: how long calls of torch functions take. There is one device to profile, the CPU."""

import enum
import os
import time

from vivace.profiler._events import EventList, record_function
from vivace.profiler._recorder import Recorder

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """What can be profiled; here only CPU has anything to show."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3


class ProfilerAction(enum.Enum):
    """What a profiler does during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    """Cycles of steps without recording, of warming up, and of recording; `repeat` cycles, or without end."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError("Invalid profiler schedule arguments")
    cycle = wait + warmup + active

    def action(step):
        step -= skip_first
        if step < 0 or (repeat > 0 and step >= repeat * cycle):
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """For `on_trace_ready`: writes a trace into the folder."""

    def handle(profiler):
        os.makedirs(dir_name, exist_ok=True)
        name = f"{worker_name or f'worker_{os.getpid()}'}.{time.time_ns()}.pt.trace.json"
        profiler.export_chrome_trace(os.path.join(dir_name, name + ".gz" * use_gzip))

    return handle


class profile:
    """A with block in which calls of torch functions are timed. With a schedule, `step()` ends each step, and
    `on_trace_ready(profiler)` is called after each cycle of recording; without one, at the end."""

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
        with_stack=False, with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None,
        acc_events=False, use_cuda=None, custom_trace_id_callback=None, post_processing_timeout_s=None,
    ):  # fmt: skip
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self._recorder = None
        self._events = EventList()

    def start(self):
        """Begins the first step."""
        self._begin()

    def stop(self):
        """Ends the last step."""
        if self._recorder is not None:
            self._end()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)

    def step(self):
        """Ends a step and begins the next."""
        before = self.schedule(self.step_num)
        self.step_num += 1
        after = self.schedule(self.step_num)
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if before is ProfilerAction.RECORD_AND_SAVE or (before in recording and after not in recording):
            self.stop()
        if self._recorder is None:
            self._begin()

    def _begin(self):
        if self.schedule(self.step_num) in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._recorder = Recorder(self.record_shapes)
            self._recorder.__enter__()

    def _end(self):
        self._recorder.__exit__(None, None, None)
        self._events = self._recorder.events
        self._recorder = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def events(self):
        """What was recorded last, call by call."""
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """The same, a row for each name."""
        return self._events.key_averages(group_by_input_shape)

    def export_chrome_trace(self, path):
        """Writes a file that chrome://tracing shows."""
        self._events.export_chrome_trace(path)
