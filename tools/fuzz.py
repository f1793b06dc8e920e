"""Calls every operator with random dtypes, shapes, layouts and wrong arguments: no crash, no hang, no growth of memory.

python -m tools.fuzz [--calls N] [--seconds S] [--seed K] [REGEX]    # operators whose id matches; `make fuzz`
python -m tools.fuzz --call 'softmax.int#17'                        # the same call again, in this process
Calls run in a child that notes each before it makes it; a child that dies is reported with its call and replaced. A
child makes its calls twice: bytes in use after the second time that were not before are leaked.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import itertools
import json
import mmap
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import weakref
from pathlib import Path
from typing import Any

from tests import support
from tools import fuzz_calls

BATCH = 50_000  # calls of one child
HANG = 20  # seconds of processor time that one call may take
SLOWDOWN = 10  # of an instrumented build
MEMORY = 1 << 30  # bytes that calls may ask for, beyond what the process has after its imports
GROWTH = 64 << 10  # bytes that may be in use after a batch was repeated and were not before
READ = 1 << 20  # elements of a result that are read; an expanded one may have any number
GROWTH_LINE = -1  # in a child's line, in place of a call's index
DEATHS = 3  # crashes and hangs of an operator after which it is left out
ALLOWED = (
    *(TypeError, ValueError, RuntimeError, IndexError, NotImplementedError),
    *(MemoryError, OverflowError, ZeroDivisionError),
)
# PyTorch raises AssertionError for this, and nothing else here does.
NO_CUDA = re.compile(r"Torch not compiled with \w+ enabled: ")
# Texts of the C++ library: an error that nobody has worded.
UNWORDED = re.compile(r"std::|_M_|basic_string|bad_alloc|bad_optional|bad_variant|vector::|deque")


def operator_of(label: str) -> str:
    return label.rpartition("#")[0]


def complaint(error: BaseException) -> str:
    """What is wrong with an exception; "" if users may see it."""
    if isinstance(error, AssertionError) and NO_CUDA.match(str(error)):
        return ""
    wrong_kind = not isinstance(error, ALLOWED) or isinstance(error, RecursionError)
    silent = not str(error) and not isinstance(error, MemoryError)  # Python's own says nothing
    return f"{type(error).__name__}: {error}" if wrong_kind or silent or UNWORDED.search(str(error)) else ""


def use(module: Any, call: fuzz_calls.Call, result: Any) -> None:
    """Reads results and what may have been written to, and runs backward, twice for create_graph."""
    results = fuzz_calls.leaves(result, module)
    for t in [*results[:4], *fuzz_calls.leaves([call.args, call.kwargs], module)]:
        if not t.is_meta and t.numel() <= READ:
            t.tolist() if 0 < t.numel() <= 200 else t.detach().sum()  # an empty one may have any number of lists
    inputs = [t for t in fuzz_calls.leaves([call.args, call.kwargs], module) if t.requires_grad]
    for _ in range({"": 0, "backward": 1, "create_graph": 2}[call.grad]):
        results = [t for t in results if t.requires_grad and not t.is_meta]
        if not results or not inputs:
            return
        results = module.autograd.grad(
            results,
            inputs,
            [module.ones_like(t) for t in results],
            create_graph=call.grad == "create_graph",
            allow_unused=True,
        )
        results = [t for t in results if t is not None]


def attempt(module: Any, label: str, show: bool = False) -> str:
    """Makes one call; what was wrong with how it ended, or ""."""
    module.manual_seed(0)
    call = fuzz_calls.Maker(module, label).call()
    if show:
        print(call, flush=True)
    alive = [weakref.ref(t) for t in fuzz_calls.leaves([call.args, call.kwargs], module)]
    wrong = ""
    try:
        with getattr(module, call.mode)() if call.mode else contextlib.nullcontext():
            result = call.function(*call.args, **call.kwargs)
            alive += [weakref.ref(t) for t in fuzz_calls.leaves(result, module)]
            use(module, call, result)
    except BaseException as error:
        wrong = complaint(error)
        if show and not wrong:
            print(f"allowed: {type(error).__name__}: {error}")
        elif show:
            raise
    result = None
    call.args, call.kwargs = [], {}
    if any(r() is not None for r in alive):
        gc.collect()
        if not wrong and any(r() is not None for r in alive):
            wrong = "leaks a tensor"
    return wrong


class Memory(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def in_use(module: Any) -> int:
    """Bytes that malloc has given out: resident memory would count what it has taken back too."""
    gc.collect()
    module._C._empty_cache()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Memory
    info = mallinfo()
    return int(info.uordblks + info.hblkhd)


def growth_by_operator(module: Any, labels: list[str]) -> dict[str, int]:
    """Bytes that each operator's calls, made once more, leave in use."""
    growth = {}
    for operator, group in itertools.groupby(sorted(labels), key=operator_of):
        before = in_use(module)
        for label in group:
            attempt(module, label)
        growth[operator] = in_use(module) - before
    return growth


def is_instrumented() -> bool:
    """Whether AddressSanitizer runs, whose map of memory needs all addresses; its options limit what calls ask for."""
    return "libasan" in Path("/proc/self/maps").read_text()


def set_timers(seconds: int) -> None:
    """Ends the process after so much work, and after ten times as long if it waits for what never comes."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)


def child(labels: list[str], note: Path) -> None:
    """Makes the calls twice; prints a line [index, what was wrong] for each finding."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    module = support.load_module()
    module.set_num_threads(2)
    if not is_instrumented():
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    for ending in (signal.SIGALRM, signal.SIGPROF):  # end the process, in native code too
        signal.signal(ending, signal.SIG_DFL)
    gc.freeze()
    hang = HANG * (SLOWDOWN if is_instrumented() else 1)
    with note.open("r+b") as file, mmap.mmap(file.fileno(), 8) as current:
        for i, label in enumerate(labels):
            current[:] = i.to_bytes(8, "little")
            set_timers(hang)
            if wrong := attempt(module, label):
                print(json.dumps([i, wrong]), flush=True)
    set_timers(0)
    if is_instrumented():
        return  # what is freed stays in quarantine
    # All that is kept on purpose (pools, samples, types of nodes) is there now.
    before = in_use(module)
    for label in labels:
        attempt(module, label)
    growth = in_use(module) - before
    print(json.dumps([GROWTH_LINE, str(growth)]), flush=True)
    if growth > GROWTH:
        print(json.dumps([len(labels) - 1, f"memory grew by {growth >> 10} KB"]), flush=True)
        for operator, more in growth_by_operator(module, labels).items():
            if more > GROWTH // 16:
                i = next(i for i, label in enumerate(labels) if operator_of(label) == operator)
                print(json.dumps([i, f"{operator}'s calls leave {more} bytes"]), flush=True)


class Findings:
    """Prints each kind of finding of an operator once, with the line that shows it again."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str], int] = {}
        self.deaths: dict[str, int] = {}
        self.growth: list[int] = []  # bytes that repeating a batch left in use

    def add(self, label: str, what: str) -> None:
        operator = operator_of(label)
        kind = (operator, re.sub(r"[\d.]+", "N", what)[:60])
        self.seen[kind] = self.seen.get(kind, 0) + 1
        if self.seen[kind] == 1:
            print(f"{what}\n    python -m tools.fuzz --call '{label}'", flush=True)

    def add_death(self, label: str, code: int, log: str) -> None:
        if "AddressSanitizer: allocator is out of memory" in log:  # where others get std::bad_alloc
            return
        operator = operator_of(label)
        self.deaths[operator] = self.deaths.get(operator, 0) + 1
        name = signal.Signals(-code).name
        hangs = name in ("SIGALRM", "SIGPROF")
        lines = log.splitlines() or [""]
        cause = next((line for line in lines if re.search(r"ERROR:|runtime error:", line)), lines[0])
        self.add(label, f"hangs for {HANG} s" if hangs else f"dies of {name}; {cause}")

    @property
    def left_out(self) -> set[str]:
        return {operator for operator, count in self.deaths.items() if count >= DEATHS}


def run_child(labels: list[str], findings: Findings, folder: Path, deadline: float) -> int:
    """One child's calls; how many it made."""
    note, work, log = folder / "note", folder / "labels", folder / "log"
    note.write_bytes(bytes(8))
    work.write_text(json.dumps(labels))
    command = [sys.executable, "-m", "tools.fuzz", "--child", str(folder)]
    # What Python's allocator and malloc's threads keep for later would hide what is in use.
    plain = os.environ | {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=plain)
    timer = time.monotonic()
    try:
        output, _ = process.communicate(timeout=max(deadline - timer, 1))
    except subprocess.TimeoutExpired:  # the time is up: what is done counts
        process.kill()
        output, _ = process.communicate()
        process.returncode = 0
    done = int.from_bytes(note.read_bytes(), "little") + 1
    for line in output.splitlines():
        i, what = json.loads(line)
        if i == GROWTH_LINE:
            findings.growth.append(int(what))
        else:
            findings.add(labels[i], what)
    if process.returncode > 0:  # no operator's fault
        raise SystemExit(f"making {labels[done - 1]} failed:\n{log.read_text()}")
    if process.returncode < 0:
        findings.add_death(labels[done - 1], process.returncode, log.read_text())
    return done


def main() -> int:
    """Returns 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="?", default="", metavar="REGEX")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=86400.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--call", metavar="LABEL")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads((options.child / "labels").read_text()), options.child / "note")
        return 0
    if options.call:
        wrong = attempt(support.load_module(), options.call, show=True)
        print(wrong or "nothing wrong")
        return int(bool(wrong))
    ids = [e for e in fuzz_calls.entries() if re.search(options.operators, e)]
    start, findings, made, turn = time.monotonic(), Findings(), 0, 0
    pending: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        while made < options.calls and time.monotonic() - start < options.seconds:
            while len(pending) < BATCH:
                pending += [f"{e}#{options.seed * 10**6 + turn}" for e in ids if e not in findings.left_out]
                turn += 1
            batch = pending[: min(BATCH, options.calls - made)]
            done = run_child(batch, findings, Path(folder), start + options.seconds)
            made += done
            pending = [label for label in pending[done:] if operator_of(label) not in findings.left_out]
    seconds = time.monotonic() - start
    if findings.growth:
        print(f"bytes left in use by each batch, made a second time: {findings.growth}")
    print(f"{made} calls of {len(ids)} operators in {seconds:.0f} s, {len(findings.seen)} findings")
    return int(bool(findings.seen))


if __name__ == "__main__":
    sys.exit(main())
