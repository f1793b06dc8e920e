"""torch.profiler: which operators ran, for how long, on what shapes, called from which lines, with how much memory.

There is one device to profile, the CPU. Recording is native; a thread that no profile records pays nothing.
"""

import enum
import json
import os
import socket
import time
import warnings
from functools import partial

from vivace.profiler._kinds import DeviceType
from vivace.profiler._ranges import record_function
from vivace.profiler._session import Session

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
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


class _ExperimentalConfig:
    """Of PyTorch's options `profile_all_threads` has a meaning here: threads that Python's threading starts during the
    profile are recorded, too."""

    def __init__(self, *, profile_all_threads=False, **options):
        self.profile_all_threads = profile_all_threads


def supported_activities():
    return {ProfilerActivity.CPU}


def kineto_available():
    """Whether profiles can be recorded."""
    return True


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """Cycles of steps without recording, of warming up, and of recording; `repeat` cycles, or without end. With
    `skip_first_wait` the first cycle does not wait."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got {wait=} (need >= 0), {warmup=} (need >= 0), "
            f"{active=} (need > 0), {repeat=} (need >= 0), {skip_first=} (need >= 0)."
        )
    cycle = wait + warmup + active

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step >= repeat * cycle:
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
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json"
        profiler.export_chrome_trace(os.path.join(dir_name, name + ".gz" * use_gzip))

    return handle


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """A with block whose operators are recorded in this thread. With a schedule, `step()` ends each step, and
    `on_trace_ready(profiler)` is called after each cycle of recording; without one, at the end.

    record_shapes: the arguments' shapes and values; with_stack: the lines of Python that called; profile_memory: what
    is allocated and freed; with_flops: floating-point operations of products and convolutions. Profiles may be nested.
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
        with_stack=False, with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None,
        acc_events=False, use_cuda=None, custom_trace_id_callback=None, post_processing_timeout_s=None,
    ):  # fmt: skip
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._all_threads = getattr(experimental_config, "profile_all_threads", False)
        self._names_steps = schedule is not None
        self._step = None
        self._session = None
        self._events = None
        self._memory = None
        self._metadata = {}
        self._wall_ns = 0

    # ---- steps

    def start(self):
        """Begins the first step."""
        self._begin_step()

    def stop(self):
        """Ends the last step."""
        self._end_step()
        if self._session is not None:
            self._finish(ready=True)

    def step(self):
        """Ends a step and begins the next."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._finish(ready=True)
        elif before is ProfilerAction.RECORD and self.current_action not in _RECORDING:
            warnings.warn("Incorrect schedule: RECORD followed by NONE or WARMUP", stacklevel=2)
            self._finish(ready=False)
        self._begin_step()

    def _begin_step(self):
        if self.current_action in _RECORDING and self._session is None:
            self._session = Session(
                self.record_shapes, self.with_stack, self.profile_memory, self.with_flops, self._all_threads
            )
            self._session.start()
        if self._names_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self):
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _finish(self, ready):
        session, self._session = self._session, None
        if session is None:
            return
        self._events, self._memory = session.stop()
        self._wall_ns = session.wall_ns
        self._events._metadata |= self._metadata
        if ready and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    # ---- what was recorded last

    def _recorded(self):
        if self._events is None:
            raise AssertionError("Profiler must be stopped, or have saved a cycle, before its events are there")
        return self._events

    def events(self):
        """An EventList, call by call."""
        return self._recorded()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The same, a row for each name."""
        return self._recorded().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def memory_timeline(self):
        """The MemoryTimeline; it needs profile_memory."""
        self._recorded()
        if self._memory is None:
            raise AssertionError("memory_timeline() requires profile_memory=True")
        if isinstance(self._memory, partial):
            self._memory = self._memory()
        return self._memory

    def export_chrome_trace(self, path):
        """Writes a file that chrome://tracing and Perfetto show, compressed if it is named *.gz."""
        self._recorded().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes stacks and times, from which flame graphs are drawn."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._recorded().export_stacks(path, metric)

    def export_memory_timeline(self, path, device=None):
        """Writes the memory over time as *.json, *.raw.json, *.html or *.svg, each also with .gz."""
        self.memory_timeline().export(path, self._wall_ns)

    def add_metadata(self, key, value):
        """Adds a text to traces."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key, value):
        """Adds a text in JSON to traces."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json
