"""viz.memory: a profile's memory over time as a picture."""

import xml.etree.ElementTree as ET

import vivace as torch
from vivace import viz
from vivace.profiler import profile

SVG = "{http://www.w3.org/2000/svg}"


def recorded():
    with profile(profile_memory=True, with_stack=True) as profiler:
        kept = [torch.ones(1000).exp() for _ in range(3)]
        torch.ones(50_000).sin()
        del kept
    return profiler


def read(picture):
    root = ET.fromstring(str(picture))
    return [t.text for t in root.iter(SVG + "text")], list(root.iter(SVG + "path"))


def test_who_holds_what():
    profiler = recorded()
    texts, paths = read(viz.memory(profiler))
    peak = profiler.memory_timeline().peak_bytes
    assert peak == 3 * 4000 + 2 * 200_000 and "peak 402.34 KB" in texts
    assert "aten::sin" in texts and "aten::exp, 3 blocks" in texts and "195.31 KB" in texts
    assert any("test_memory.py(" in t and "recorded" in t for t in texts)
    assert any(t.endswith(("µs", "ms")) for t in texts) and "0 B" in texts
    titled = [p.find(SVG + "title") for p in paths]
    assert sum(t is not None for t in titled) >= 2
    assert str(viz.memory(profiler)) == str(viz.memory(profiler.memory_timeline()))


def test_many_holders_and_many_changes():
    with profile(profile_memory=True) as profiler:
        operators = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "neg", "sqrt", "floor", "ceil")
        kept = [getattr(torch.ones(100), name)() for name in operators]
        for _ in range(3000):
            torch.ones(10)
    texts, _ = read(viz.memory(profiler))
    assert any("others" in t for t in texts) and len(str(viz.memory(profiler))) < 200_000 and kept


def test_nothing():
    with profile(profile_memory=True) as profiler:
        pass
    texts, _ = read(viz.memory(profiler))
    assert "0 B" in texts and not any(t.startswith("peak") for t in texts)


def test_saved_by_the_profile(tmp_path):
    profiler = recorded()
    profiler.export_memory_timeline(tmp_path / "memory.html")
    profiler.export_memory_timeline(tmp_path / "memory.svg")
    assert "aten::sin" in (tmp_path / "memory.html").read_text()
    assert (tmp_path / "memory.svg").read_text() == str(viz.memory(profiler))
