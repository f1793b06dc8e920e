"""A chain of 10^6 nodes on one float: building it, running backward, freeing it; with gc on and off."""

from __future__ import annotations

from benchmarks.common import child, frameworks, print_table

CHILD = """
import gc, importlib, json, sys, time
torch = importlib.import_module(sys.argv[1])
torch.set_num_threads(1)
if sys.argv[2] == "off":
    gc.disable()
x = torch.ones(1, requires_grad=True)
t0 = time.perf_counter()
y = x
for _ in range(10**6):
    y = y + 1
t1 = time.perf_counter()
y.backward()
t2 = time.perf_counter()
del y
t3 = time.perf_counter()
assert x.grad.item() == 1.0
print(json.dumps({"build": t1 - t0, "backward": t2 - t1, "free": t3 - t2, "all": t3 - t0}))
"""


def main() -> None:
    """Best of three runs, each in a fresh process."""
    for collector in ("on", "off"):
        rows: dict[str, dict[str, float]] = {}
        for name in frameworks():
            runs = [child(CHILD, name, collector) for _ in range(3)]
            for phase, seconds in min(runs, key=lambda run: run["all"]).items():
                rows.setdefault(phase, {})[name] = seconds
        print_table(f"Chain of a million nodes, gc {collector}", "s", rows)


if __name__ == "__main__":
    main()
