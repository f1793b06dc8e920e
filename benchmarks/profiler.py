"""What a profile adds to `a + b` on four floats, in a loop: while it records, and afterwards for its table."""

from __future__ import annotations

import gc
import os
import time
from typing import Any

from benchmarks.common import frameworks, load, print_table

CALLS = 5000
ROUNDS = 15
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


def measure(module: Any, options: dict[str, bool]) -> tuple[float, float, float]:
    """Nanoseconds of one addition: without a profile, in one, and of ending it and printing its table."""
    a, b = module.ones(4), module.ones(4)
    gc.collect()
    loop(a, b)
    off = loop(a, b)
    profiler = module.profiler.profile(activities=[module.profiler.ProfilerActivity.CPU], **options)
    profiler.start()
    loop(a, b)
    on = loop(a, b)
    start = time.perf_counter_ns()
    profiler.stop()
    text = profiler.key_averages().table(sort_by="cpu_time_total")
    after = (time.perf_counter_ns() - start) / (2 * CALLS)
    if "aten::add" not in text:
        raise RuntimeError(f"{module.__name__} did not record the additions:\n{text}")
    return off, on, after


def main() -> None:
    """Prints the tables."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    modules = {name: load(name) for name in frameworks()}
    recording: dict[str, dict[str, float]] = {}
    afterwards: dict[str, dict[str, float]] = {}
    for label, options in OPTIONS.items():
        best = {name: [float("inf")] * 3 for name in modules}
        for _ in range(ROUNDS):
            for name, module in modules.items():
                best[name] = [min(pair) for pair in zip(best[name], measure(module, options), strict=True)]
        recording[label] = {name: on - off for name, (off, on, _) in best.items()}
        afterwards[label] = {name: after for name, (_, _, after) in best.items()}
    print_table("What a profile adds to a + b on four floats", "ns", recording)
    print_table("Ending the profile and printing its table, per operator", "ns", afterwards)


if __name__ == "__main__":
    main()
