"""Several processes that run one function, and what becomes of them when one fails."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process failed: `error_index` is its number, `error_pid` its id."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception."""


class ProcessExitedException(ProcessException):
    """The process ended with a code other than 0, or by a signal."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(function, index, args, error_file):
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted too, and says so
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """The processes of a start_processes that did not wait for them."""

    def __init__(self, processes, error_files):
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """The ids of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until a process ends; True if all have. If one failed, ends the others and raises what happened.

        They get `grace_period` seconds to end by themselves, and 30 to end after they were asked to.
        """
        ready = multiprocessing.connection.wait(self.sentinels, timeout=timeout) if self.sentinels else []
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        if grace_period is not None:
            self._wait(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._wait(30)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()
        self._raise(failed)

    def _wait(self, seconds):
        """Waits until all have ended, or the time is over."""
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))

    def _raise(self, index):
        process, error_file = self.processes[index], self.error_files[index]
        if os.path.exists(error_file):
            with open(error_file, "rb") as file:
                text = pickle.load(file)
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid
            )
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """What spawn(join=False) gives."""


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Starts `nprocs` processes that call fn(index, *args), and waits for them, or gives their context."""
    context = multiprocessing.get_context(start_method)
    folder = tempfile.TemporaryDirectory(prefix="vivace-errors-")
    processes, error_files = [], []
    with contextlib.ExitStack() as undo:
        for index in range(nprocs):
            error_file = os.path.join(folder.name, str(index))
            process = context.Process(target=_run, args=(fn, index, args, error_file), daemon=daemon)
            process.start()
            undo.callback(process.kill)
            processes.append(process)
            error_files.append(error_file)
        undo.pop_all()
    started = SpawnContext(processes, error_files)
    started.folder = folder  # it goes with the context
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """start_processes with the method spawn."""
    if start_method != "spawn":
        warnings.warn(
            "torch.multiprocessing.spawn() always starts processes by 'spawn'; "
            f"use torch.multiprocessing.start_processes(..., start_method={start_method!r})",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
