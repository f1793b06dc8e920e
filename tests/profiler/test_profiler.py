"""torch.profiler: what is recorded, when, and how steps and sessions go together."""

import gc
import threading
import weakref

import pytest

import vivace as torch
from vivace import _C
from vivace.profiler import ProfilerAction, ProfilerActivity, _ExperimentalConfig, profile, record_function, schedule
from vivace.utils._python_dispatch import TorchDispatchMode


def names(profiler):
    return [event.name for event in profiler.events()]


def tree(events, parent=None):
    """Names as nested lists."""
    return [[e.name, *tree(events, e)] for e in events if e.cpu_parent is parent]


def test_operators_nodes_and_ranges_are_nested():
    a = torch.ones(2, 2, requires_grad=True)
    a.grad = torch.zeros(2, 2)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        with record_function("step"):
            loss = (torch.mm(a, a) * a).sum()
            assert a.shape == (2, 2)
        loss.backward()
    torch.mm(a, a)
    evaluate = "autograd::engine::evaluate_function: "
    accumulate = ["torch::autograd::AccumulateGrad", ["aten::add_"]]
    assert tree(profiler.events()) == [
        ["step", ["aten::mm"], ["aten::mul"], ["aten::sum"]],
        [evaluate + "SumBackward0", ["SumBackward0", ["aten::expand"]]],
        [evaluate + "MulBackward0", ["MulBackward0"], accumulate],
        [evaluate + "MmBackward0", ["MmBackward0", *tree_of_mm(profiler)], accumulate, accumulate],
    ]
    for event in profiler.events():
        inside = sum(child.cpu_time_total for child in event.cpu_children)
        assert 0 <= inside <= event.cpu_time_total and event.self_cpu_time_total == pytest.approx(
            event.cpu_time_total - inside
        )
        for child in event.cpu_children:
            assert event.time_range.start <= child.time_range.start <= child.time_range.end <= event.time_range.end


def tree_of_mm(profiler):
    """What the formula of mm calls is its own affair."""
    return tree(profiler.events(), next(e for e in profiler.events() if e.name == "MmBackward0"))


def test_shapes_and_values():
    a, b = torch.ones(2, 3), torch.ones(3, dtype=torch.float64)
    with profile(record_shapes=True) as profiler:
        torch.add(a, b, alpha=2)
        torch.stack([a, a], dim=1)
        a.t().sum(0, keepdim=True, dtype=torch.float64)
        torch.nn.functional.layer_norm(a, [3], eps=0.5)
    events = {e.name: e for e in profiler.events() if e.cpu_parent is None}
    add, stack, total = events["aten::add"], events["aten::stack"], events["aten::sum"]
    assert add.input_shapes == [[2, 3], [3], []] and add.concrete_inputs == [None, None, 2]
    assert add.input_dtypes == ["float", "double", "Scalar"]
    assert stack.input_shapes == [[], []] and stack.structured_input_shapes == [[[2, 3], [2, 3]], []]
    assert stack.concrete_inputs == [None, 1] and stack.input_dtypes == ["TensorList", "Scalar"]
    assert total.structured_input_strides[0] == [1, 3] and total.concrete_inputs == [None, [0], True, torch.float64]
    assert events["aten::layer_norm"].concrete_inputs[1] == [3] and 0.5 in events["aten::layer_norm"].concrete_inputs
    with profile() as plain:
        torch.add(a, b)
    assert plain.events()[0].input_shapes == []


def test_stacks_and_the_forward_line_of_backward():
    a = torch.ones(2, requires_grad=True)

    def forward():
        return a.exp()

    with profile(with_stack=True) as profiler:
        y = torch.nn.Identity()(forward())
        y.backward(torch.ones(2))
    events = {e.name: e for e in profiler.events()}
    line = forward.__code__.co_firstlineno + 1
    assert events["aten::exp"].stack[0].endswith(f"test_profiler.py({line}): forward")
    assert "test_stacks_and_the_forward_line_of_backward" in events["aten::exp"].stack[1]
    assert events["ExpBackward0"].stack == events["aten::exp"].stack
    assert not any("vivace" in entry.split("(")[0] for e in profiler.events() for entry in e.stack[:1])
    averages = profiler.key_averages(group_by_stack_n=1)
    assert next(e for e in averages if e.key == "aten::exp").stack == events["aten::exp"].stack[:1]
    assert "Source Location" in averages.table()


def test_forward_and_backward_share_a_number():
    a = torch.ones(2, requires_grad=True)
    with profile() as profiler:
        a.exp().sum().backward()
        torch.ones(2) + 1
    number = {e.name: e.sequence_nr for e in profiler.events()}
    assert number["aten::exp"] == number["ExpBackward0"] >= 0 and number["aten::add"] == -1
    assert number["aten::sum"] == number["autograd::engine::evaluate_function: SumBackward0"] > number["aten::exp"]


def test_operators_of_python_and_functions():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    @torch.library.custom_op("profiled::thrice", mutates_args=())
    def thrice(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    a = torch.ones(2, requires_grad=True)
    with profile() as profiler:
        Twice.apply(a).sum().backward()
        thrice(a.detach())
    nested = tree(profiler.events())
    assert ["TwiceBackward", ["aten::mul"]] in [inner for outer in nested for inner in outer[1:]]
    assert ["profiled::thrice", ["aten::mul"]] in nested
    kind = weakref.ref(Twice)
    del Twice
    gc.collect()
    assert kind() is None  # what was recorded keeps no class


@pytest.mark.parametrize("options", [{}, {"record_shapes": True, "with_stack": True, "profile_memory": True}])
def test_left_by_an_exception(options):
    with pytest.raises(RuntimeError), profile(**options) as profiler, record_function("outer"):
        torch.ones(2, 3) @ torch.ones(2)
    assert not _C._profiler_active()
    assert names(profiler)[0] == "outer" and "aten::matmul" in names(profiler)
    assert all(e.time_range.end > 0 for e in profiler.events())
    with profile() as again:
        torch.ones(2).exp()
    assert names(again)[-1] == "aten::exp" and again.events()[-1].cpu_parent is None


def test_nested_and_overlapping():
    a = torch.ones(2)
    with profile() as outer:
        a.exp()
        with record_function("range"), profile(record_shapes=True) as inner:
            a.sin()
        a.cos()
    assert names(outer) == ["aten::exp", "range", "aten::sin", "aten::cos"] and names(inner) == ["aten::sin"]
    assert inner.events()[0].cpu_parent is None and inner.events()[0].input_shapes == [[2]]
    first, second = profile(), profile()
    first.start()
    a.exp()
    second.start()
    a.sin()
    first.stop()
    a.cos()
    second.stop()
    assert names(first) == ["aten::exp", "aten::sin"] and names(second) == ["aten::sin", "aten::cos"]


def test_a_range_that_outlives_the_profile():
    around = record_function("around")
    with profile() as profiler:
        around.__enter__()
        torch.ones(2)
    around.__exit__(None, None, None)
    with profile() as later:
        torch.ones(2)
    assert names(profiler)[0] == "around" and profiler.events()[0].cpu_time_total > 0
    assert "around" not in names(later)


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_threads():
    a = torch.ones(2)
    with profile() as profiler:
        in_thread(a.exp)
        a.sin()
    assert names(profiler) == ["aten::sin"]
    with profile(experimental_config=_ExperimentalConfig(profile_all_threads=True)) as profiler:
        in_thread(lambda: torch.stack([a, a]).exp())
        a.sin()
    assert {(e.name, e.thread) for e in profiler.events()} == {("aten::stack", 2), ("aten::exp", 2), ("aten::sin", 1)}
    assert threading.getprofile() is None
    found = []

    def own():
        with profile() as mine:
            a.cos()
        found.append(names(mine))

    with profile() as profiler:
        in_thread(own)
    assert found == [["aten::cos"]] and names(profiler) == []


def test_ended_by_another_thread():
    profiler = profile()
    in_thread(lambda: (profiler.start(), torch.ones(2).exp()))
    profiler.stop()
    assert names(profiler)[-1] == "aten::exp"
    profiler = profile()
    profiler.start()
    in_thread(profiler.stop)
    assert not _C._profiler_active()


def test_schedule():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    none, warmup, record, save = ProfilerAction
    assert [plan(i) for i in range(10)] == [none, none, warmup, record, save, none, warmup, record, save, none]
    seen = []
    with profile(schedule=plan, on_trace_ready=lambda p: seen.append((p.step_num, names(p)))) as profiler:
        for _ in range(9):
            torch.zeros(1).exp()
            profiler.step()
    cycle = ["ProfilerStep*", "aten::zeros", "aten::exp"] * 2
    assert seen == [(5, cycle), (9, cycle)]
    assert [e.trace_name for e in profiler.events() if e.is_user_annotation] == ["ProfilerStep#7", "ProfilerStep#8"]
    with pytest.raises(AssertionError, match="Invalid profiler schedule"):
        schedule(wait=-1, warmup=0, active=1)
    with pytest.raises(AssertionError, match="Step must be non-negative"):
        plan(-1)


def test_a_schedule_that_stops_without_saving_warns():
    plan = [ProfilerAction.RECORD, ProfilerAction.NONE]
    profiler = profile(schedule=lambda step: plan[step], on_trace_ready=lambda p: pytest.fail("nothing was saved"))
    profiler.start()
    with pytest.warns(UserWarning, match="RECORD followed by NONE"):
        profiler.step()
    profiler.stop()


def test_events_before_the_end():
    with profile() as profiler, pytest.raises(AssertionError, match="must be stopped"):
        profiler.events()
    with pytest.raises(AssertionError, match="requires profile_memory"):
        profiler.memory_timeline()


def test_steps_of_optimizers_are_ranges():
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.ones(2)
    with profile() as profiler:
        torch.optim.Adam([parameter], lr=0.1).step()
    steps = [e for e in profiler.events() if e.name == "Optimizer.step#Adam.step"]
    assert len(steps) == 1 and steps[0].cpu_children


def test_batches_of_loaders_are_ranges():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(4)), batch_size=2)
    with profile() as profiler:
        assert [b[0].tolist() for b in loader] == [[0, 1], [2, 3]]
    single = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    assert names(profiler).count(single) == 3  # the last finds the end, as in PyTorch
    with profile() as profiler:
        next(iter(torch.utils.data.DataLoader(loader.dataset, batch_size=2, num_workers=1)))
    assert "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" in names(profiler)
    assert [b[0].tolist() for b in loader] == [[0, 1], [2, 3]]


def test_flops():
    x, w = torch.ones(2, 3, 8, 8), torch.ones(6, 3, 3, 3)
    a = torch.ones(4, 5)
    with profile(with_flops=True) as profiler:
        torch.conv2d(x, w, stride=2, padding=1)
        torch.mm(a, a.t())
        torch.bmm(torch.ones(3, 4, 5), torch.ones(3, 5, 2))
        torch.addmm(torch.ones(4), a, a.t())
        torch.nn.functional.linear(a, torch.ones(7, 5))
        a + a
        a * 2
    counted = {e.name: e.flops for e in profiler.events() if e.cpu_parent is None and e.flops}
    assert counted == {
        "aten::conv2d": 2 * 2 * 6 * 16 * 27, "aten::mm": 2 * 4 * 5 * 4, "aten::bmm": 2 * 3 * 4 * 5 * 2,
        "aten::addmm": 2 * 4 * 5 * 4, "aten::linear": 2 * 4 * 5 * 7, "aten::add": 20, "aten::mul": 20,
    }  # fmt: skip
    assert profiler.events()[0].input_shapes == [] and "Total KFLOPs" in profiler.key_averages().table()


def test_record_function():
    with record_function("nothing"), record_function("nested"):
        pass

    @record_function("decorated")
    def function(n):
        return 0 if n == 0 else function(n - 1)

    with profile() as profiler:
        assert function(2) == 0
    assert tree(profiler.events()) == [["decorated", ["decorated", ["decorated"]]]]


def test_the_older_profiler():
    from vivace.autograd import profiler as older

    with older.profile(enabled=False) as off:
        torch.zeros(1)
    assert off is None
    with older.profile(record_shapes=True, with_stack=True) as on:
        assert "unfinished" in str(on)
        with pytest.raises(RuntimeError, match="didn't finish"):
            on.total_average()
        torch.zeros(1)
        with older.record_function("inner"):
            torch.zeros(1)
    assert {e.key: e.count for e in on.key_averages()} == {"aten::zeros": 2, "inner": 1}
    assert on.self_cpu_time_total > 0 and "inner" in str(on) and on.total_average().count == 3
    with pytest.raises(RuntimeError, match="not reentrant"), on:
        pass
    with older.emit_nvtx(enabled=False), older.emit_itt(enabled=False):
        pass
    with pytest.raises(RuntimeError, match="NVTX is not available"), older.emit_nvtx():
        pass


def test_an_operator_that_a_mode_calls_again_counts_once():
    class Again(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    a = torch.ones(2)
    with Again(), Again(), profile(profile_memory=True) as profiler:
        kept = torch.stack([a.exp(), a])
    assert [e for e in tree(profiler.events()) if e != ["[memory]"]] == [["aten::exp"], ["aten::stack"]]
    assert {e.name: e.cpu_memory_usage for e in profiler.events()}["aten::stack"] == kept.nbytes


def test_many_events():
    a = torch.ones(1)
    with profile(record_shapes=True) as profiler:
        for _ in range(10_000):
            a.exp()
    assert len(profiler.events()) == 10_000 and profiler.key_averages()[0].count == 10_000
    assert [e.id for e in profiler.events()[:3]] == [0, 1, 2]
