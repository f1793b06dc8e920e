"""torch.profiler: which calls are recorded, when, and how they are shown."""

import json

import pytest

import vivace as torch
from vivace.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def counts(profiler):
    return {event.key: event.count for event in profiler.key_averages()}


def test_calls_are_counted_and_timed():
    a = torch.ones(2, 2, requires_grad=True)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        with record_function("step"):
            loss = (torch.mm(a, a) + a).sum()
            assert a.shape == (2, 2)
        loss.backward()
    torch.mm(a, a)
    assert counts(profiler) == {"aten::mm": 1, "aten::add": 1, "aten::sum": 1, "step": 1, "aten::backward": 1}
    averages = profiler.key_averages()
    step = next(e for e in averages if e.key == "step")
    inside = sum(e.cpu_time_total for e in averages if e.key in ("aten::mm", "aten::add", "aten::sum"))
    assert 0 < inside <= step.cpu_time_total and step.self_cpu_time_total == pytest.approx(step.cpu_time_total - inside)
    assert [e.input_shapes for e in profiler.events() if e.name == "aten::mm"] == [((2, 2), (2, 2))]
    table = averages.table(sort_by="cpu_time_total", row_limit=2)
    assert "CPU total" in table and "step" in table and "Self CPU time total" in table
    assert averages.total_average().count == 5


def test_trace(tmp_path):
    with profile() as profiler:
        torch.ones(2).exp()
    path = tmp_path / "trace.json"
    profiler.export_chrome_trace(str(path))
    assert [event["name"] for event in json.loads(path.read_text())["traceEvents"]] == ["aten::ones", "aten::exp"]
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path / "log"), "me")
    handler(profiler)
    assert next((tmp_path / "log").iterdir()).name.startswith("me.")


def test_schedule():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    none, warmup, record, save = ProfilerAction
    assert [plan(i) for i in range(10)] == [none, none, warmup, record, save, none, warmup, record, save, none]
    seen = []
    with profile(schedule=plan, on_trace_ready=lambda p: seen.append((p.step_num, counts(p)))) as profiler:
        for _ in range(9):
            torch.zeros(1).exp()
            profiler.step()
    assert seen == [(5, {"aten::zeros": 2, "aten::exp": 2}), (9, {"aten::zeros": 2, "aten::exp": 2})]
    with pytest.raises(AssertionError, match="Invalid profiler schedule"):
        schedule(wait=-1, warmup=0, active=1)


def test_the_older_profiler():
    with torch.autograd.profiler.profile(enabled=False) as off:
        torch.zeros(1)
    with torch.autograd.profiler.profile() as on:

        @torch.autograd.profiler.record_function("inner")
        def inner():
            return torch.zeros(1)

        inner()
    assert counts(off) == {} and counts(on) == {"aten::zeros": 1, "inner": 1}
    assert on.self_cpu_time_total > 0 and "inner" in str(on)


def test_record_function_without_a_profiler():
    with record_function("nothing"), record_function("nested"):
        pass
