"""What a profile adds to `a + b` on four floats, in a loop: while it records, and afterwards for its table."""

from __future__ import annotations

import gc
import os
import time
from statistics import median
from typing import Any

from benchmarks.common import frameworks, load, print_table

CALLS = 2000
ROUNDS = 9
OPTIONS: dict[str, dict[str, bool]] = {
    "times only": {},
    "record_shapes": {"record_shapes": True},
    "with_stack": {"with_stack": True},
    "profile_memory": {"profile_memory": True},
    "all of them": {"record_shapes": True, "with_stack": True, "profile_memory": True},
}


def loop(a: Any, b: Any) -> float:
    """Nanoseconds of one addition."""
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        a + b
    return (time.perf_counter_ns() - start) / CALLS


def measure(module: Any, options: dict[str, bool]) -> tuple[float, float]:
    """Nanoseconds that one addition takes longer in a profile, and those of ending it and printing its table."""
    a, b = module.ones(4), module.ones(4)
    gc.collect()
    loop(a, b)
    off = min(loop(a, b) for _ in range(3))
    profiler = module.profiler.profile(activities=[module.profiler.ProfilerActivity.CPU], **options)
    profiler.start()
    loop(a, b)
    on = min(loop(a, b) for _ in range(3))
    start = time.perf_counter_ns()
    profiler.stop()
    text = profiler.key_averages().table(sort_by="cpu_time_total")
    after = (time.perf_counter_ns() - start) / (4 * CALLS)
    if "aten::add" not in text:
        raise RuntimeError(f"{module.__name__} did not record the additions:\n{text}")
    return on - off, after


def main() -> None:
    """Prints the tables."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    modules = {name: load(name) for name in frameworks()}
    recording: dict[str, dict[str, float]] = {}
    afterwards: dict[str, dict[str, float]] = {}
    for label, options in OPTIONS.items():
        rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in modules}
        for _ in range(ROUNDS):
            for name, module in modules.items():
                rounds[name].append(measure(module, options))
        recording[label] = {name: median(more for more, _ in found) for name, found in rounds.items()}
        afterwards[label] = {name: median(after for _, after in found) for name, found in rounds.items()}
    print_table("What a profile adds to a + b on four floats", "ns", recording)
    print_table("Ending the profile and printing its table, per operator", "ns", afterwards)


if __name__ == "__main__":
    main()
