"""The memory timeline: what came and went while a profile ran, and who held it at the peak."""

import gzip
import json

import vivace as torch
from vivace.profiler import profile

K = 4000  # bytes of a thousand floats


def test_operators_get_what_they_allocate():
    a = torch.ones(1000)
    with profile(profile_memory=True) as profiler:
        b = a + 1
        torch.nn.functional.layer_norm(a, [1000])
        del b
    memory = {e.name: e.cpu_memory_usage for e in profiler.events() if e.cpu_parent is None}
    assert memory["aten::add"] == K and memory["[memory]"] == -K
    table = profiler.key_averages().table()
    assert "3.91 KB" in table and "Self CPU Mem" in table


def work():
    a = torch.ones(1000, requires_grad=True)
    before = torch.ones(10_000)
    with profile(profile_memory=True, with_stack=True) as profiler:
        del before
        b = a * 2
        c = b.exp()
        line = work.__code__.co_firstlineno + 6
        c.sum().backward()
        a.grad = None
        small = [torch.ones(4) for _ in range(100)]
        del small, b, c
        data = torch.empty(0)
        data.resize_(5000)
    return profiler.memory_timeline(), line


def test_timeline():
    timeline, line = work()
    assert timeline.totals[0] >= 10 * K and timeline.blocks[0].operator == "before the profile"
    first = next(b for b in timeline.blocks if b.operator == "aten::mul")
    assert first.bytes == K and first.end > first.start and first.category == "activation"
    assert first.line.endswith(f"test_memory.py({line - 1}): work")
    gradient = [b for b in timeline.blocks if b.category == "gradient"]
    assert gradient and all(b.end is not None for b in gradient)
    assert timeline.totals[-1] == 5000 * 4 == sum(b.bytes for b in timeline.blocks if b.end is None)
    assert all(x < y for x, y in zip(timeline.times, timeline.times[1:], strict=False)) and min(timeline.totals) >= 0
    assert max(timeline.totals) <= timeline.peak_bytes == sum(b.bytes for b in timeline.at(timeline.peak_time))
    assert sum(size for size, *_ in timeline.holders()) == timeline.peak_bytes
    assert "before the profile" in timeline.table() and "Peak: " in timeline.table()


def test_holders_at_a_time():
    timeline, line = work()
    at = next(b for b in timeline.blocks if b.operator == "aten::exp").start
    holders = {operator: (size, text) for size, _, operator, text in timeline.holders(at)}
    assert holders["aten::mul"][0] == holders["aten::exp"][0] == K
    assert f"({line})" in holders["aten::exp"][1]


def test_files(tmp_path):
    with profile(profile_memory=True) as profiler:
        kept = torch.ones(1000).exp()
    profiler.export_memory_timeline(tmp_path / "m.json")
    times, rows = json.loads((tmp_path / "m.json").read_text())
    assert len(times) == len(rows) and all(len(row) == 9 and row[0] == 0 for row in rows) and sum(rows[-1]) == K
    profiler.export_memory_timeline(str(tmp_path / "m.raw.json.gz"))
    changes = json.loads(gzip.decompress((tmp_path / "m.raw.json.gz").read_bytes()))
    assert [c[1] for c in changes] == ["create", "create", "destroy"] and changes[1][4] == "aten::exp"
    assert kept.shape == (1000,)


def test_pools_work_again_afterwards():
    with profile(profile_memory=True):
        kept = [torch.ones(4) for _ in range(3000)]
        with profile(profile_memory=True) as inner:
            del kept
    assert inner.memory_timeline().peak_bytes == 3000 * 16
    again = [torch.full((4,), float(i)) for i in range(3000)]
    assert all(t[0] == i for i, t in enumerate(again))
