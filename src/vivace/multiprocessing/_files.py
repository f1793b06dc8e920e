"""Files of shared memory that nobody would remove: of processes that were killed, or ended before a receiver took them.

The names (runtime/core/shared_memory.cpp) begin with the process that started all others, which removes what is left
when it ends. If it was killed itself, the next program does.
"""

import contextlib
import os
from multiprocessing import util

from vivace import _C

_FOLDER = "/dev/shm"
_VARIABLE = "VIVACE_SHARED_MEMORY"


def _kind():
    """What the names begin with of all families whose processes are seen from here by their numbers."""
    return f"vivace-{os.stat('/proc/self/ns/pid').st_ino}-"


def _remove(prefix):
    for entry in os.scandir(_FOLDER):
        if entry.name.startswith(prefix):
            with contextlib.suppress(FileNotFoundError):  # its last user went at the same time
                os.unlink(entry.path)


def _remove_of_dead_families():
    kind = _kind()
    for entry in os.scandir(_FOLDER):
        if not entry.name.startswith(kind):
            continue
        first = entry.name.removeprefix(kind).partition("-")[0]
        with contextlib.suppress(FileNotFoundError):
            if not os.path.exists(f"/proc/{first}") and entry.stat().st_uid == os.geteuid():
                os.unlink(entry.path)


def remove_files_of(process):
    """Removes the files that a process, which has ended, has made; memory that is in use stays."""
    _remove(f"{os.environ[_VARIABLE]}-{process}-")


def _leave():
    _C._leave_shared_memory()
    family = os.environ[_VARIABLE]
    if family == f"{_kind()}{os.getpid()}":
        _remove(f"{family}-")


def _leave_at_exit(_):
    util.Finalize(None, _leave, exitpriority=-100)  # after other processes were waited for


def start():
    """Makes this process the first of a family, unless it belongs to one."""
    if _VARIABLE not in os.environ:
        _remove_of_dead_families()
        os.environ[_VARIABLE] = f"{_kind()}{os.getpid()}"
    _leave_at_exit(None)
    util.register_after_fork(_leave_at_exit, _leave_at_exit)
