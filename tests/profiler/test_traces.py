"""Files of profiles: Chrome traces, stacks for flame graphs, the memory timeline."""

import gzip
import json

import pytest

import vivace as torch
from vivace.profiler import profile, record_function, tensorboard_trace_handler


def model(a):
    with record_function("model"):
        return (a * a).sum()


def recorded():
    a = torch.ones(100, requires_grad=True)
    with profile(record_shapes=True, with_stack=True, profile_memory=True) as profiler:
        for _ in range(2):
            model(a).backward()
        kept = torch.ones(1000)
    return profiler, kept


def test_trace(tmp_path):
    profiler, _ = recorded()
    path = tmp_path / "trace.json"
    profiler.add_metadata_json("more", "[1, 2]")
    profiler.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    assert trace["record_shapes"] == 1 and trace["baseTimeNanoseconds"] > 1e18
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {e["cat"] for e in spans} == {"cpu_op", "user_annotation", "python_function"}
    multiplied = next(e for e in spans if e["name"] == "aten::mul")
    assert multiplied["args"]["Input Dims"] == [[100], [100]] and multiplied["args"]["Input type"] == ["float"] * 2
    assert "test_traces.py" in multiplied["args"]["Call stack"] and multiplied["dur"] > 0
    functions = [e["name"].split(": ")[-1] for e in spans if e["cat"] == "python_function"]
    assert functions.count("model") == 2 and "recorded" in functions
    flows = [e for e in trace["traceEvents"] if e.get("cat") == "fwdbwd"]
    assert {e["id"] for e in flows if e["ph"] == "s"} == {e["id"] for e in flows if e["ph"] == "f"} and len(flows) == 8
    assert any(e["ph"] == "i" and e["name"] == "[memory]" for e in trace["traceEvents"])


def test_spans_of_a_thread_are_nested(tmp_path):
    profiler, _ = recorded()
    profiler.export_chrome_trace(tmp_path / "trace.json")
    running = []
    for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]:
        if e["ph"] != "X":
            continue
        end = e["ts"] + e["dur"]
        while running and running[-1] <= e["ts"]:
            running.pop()
        assert not running or end <= running[-1] + 1e-6, e
        running.append(end)


def test_handler(tmp_path):
    profiler, _ = recorded()
    tensorboard_trace_handler(str(tmp_path / "log"), "me", use_gzip=True)(profiler)
    (path,) = (tmp_path / "log").iterdir()
    assert path.name.startswith("me.") and path.name.endswith(".pt.trace.json.gz")
    assert json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


def test_stacks(tmp_path):
    profiler, _ = recorded()
    for event in profiler.events():
        event.time_range.end += 1000  # what takes less than a microsecond is left out
    profiler.export_stacks(tmp_path / "stacks")
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert any(": model" not in line and "_model " in line and line.split()[-1].isdigit() for line in lines)
    with pytest.raises(ValueError, match="metric"):
        profiler.export_stacks(tmp_path / "stacks", "nothing")
    with profile() as plain:
        torch.ones(1)
    with pytest.raises(AssertionError, match="requires with_stack"):
        plain.export_stacks(tmp_path / "stacks")
