"""Tensors that go to other processes share their memory with them."""

import gc
import multiprocessing
import os
import signal

import pytest

import vivace as torch
import vivace.multiprocessing as mp
from vivace.multiprocessing import _files


@pytest.fixture(params=["fork", "spawn"])
def context(request):
    return mp.get_context(request.param)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    gc.collect()
    assert not files()


def files():
    return [name for name in os.listdir("/dev/shm") if name.startswith(os.environ["VIVACE_SHARED_MEMORY"] + "-")]


def run(context, target, *args):
    process = context.Process(target=target, args=args)
    process.start()
    process.join()
    assert process.exitcode == 0


def add_one(*tensors):
    for t in tensors:
        t.add_(1)


def test_arguments_share(context):
    x = torch.zeros(3).share_memory_()
    parameter = torch.nn.Parameter(torch.zeros(2).share_memory_())
    with torch.no_grad():
        run(context, add_one, x, parameter.data)
    assert x.tolist() == [1, 1, 1] and parameter.tolist() == [1, 1]


def take_and_change(queue, done):
    x, p = queue.get()
    x[1].fill_(5)
    assert isinstance(p, torch.nn.Parameter) and p.requires_grad
    done.put(x.sum())


def test_what_goes_through_a_queue_shares_its_storage(context):
    queue, done = context.Queue(), context.Queue()
    x = torch.zeros(2, 2)
    process = context.Process(target=take_and_change, args=(queue, done))
    process.start()
    queue.put((x, torch.nn.Parameter(torch.ones(1))))
    assert done.get().item() == 10
    process.join()
    assert x.is_shared() and x.tolist() == [[0, 0], [5, 5]]


def test_memory_with_several_views_is_copied():
    y = torch.zeros(4)
    queue = mp.SimpleQueue()
    queue.put((y, y[:2], y[2:]))
    sent, view, _ = queue.get()
    view.fill_(1)
    assert sent.is_shared() and sent.tolist() == [1, 1, 0, 0]
    assert not y.is_shared() and y.tolist() == [0, 0, 0, 0]
    queue.put((y.share_memory_(), y[:2]))
    queue.get()[1].fill_(2)
    assert y.tolist() == [2, 2, 0, 0]


def test_what_came_can_be_sent_on():
    first, second = mp.SimpleQueue(), mp.SimpleQueue()
    x = torch.arange(3.0)
    first.put(x)
    y = first.get()
    second.put(y)
    del y
    z = second.get()
    z.fill_(9)
    assert x.tolist() == [9, 9, 9]
    gc.collect()
    assert len(files()) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(0),
        lambda: torch.zeros(2, 3, dtype=torch.bfloat16).t(),
        lambda: torch.zeros(2, device="meta"),
        lambda: torch.tensor(True),
        lambda: torch.ones(3, dtype=torch.complex64),
    ],
    ids=["empty", "strided", "meta", "scalar", "complex"],
)
def test_kinds_of_tensors(make):
    x = make()
    queue = mp.SimpleQueue()
    queue.put(x)
    y = queue.get()
    assert (y.dtype, y.shape, y.stride(), y.device) == (x.dtype, x.shape, x.stride(), x.device)
    assert x.is_meta or torch.equal(x, y)


def test_history_is_refused():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        mp.SimpleQueue().put(torch.ones(1, requires_grad=True) * 2)


def square(x):
    return x * x


def test_pool(context):
    with context.Pool(2) as pool:
        assert [y.tolist() for y in pool.map(square, [torch.arange(3.0)] * 3)] == [[0, 1, 4]] * 3
        pool.close()
        pool.join()


def put_and_go(queue):
    queue.put(torch.ones(1000))


def test_a_sender_may_end_before_it_is_received(context):
    queue = context.Queue()
    run(context, put_and_go, queue)
    assert queue.get().sum().item() == 1000


def put_and_wait(queue):
    queue.put(torch.ones(1000))
    signal.pause()


def test_files_of_a_killed_process_are_removed():
    queue = mp.Queue()
    process = mp.Process(target=put_and_wait, args=(queue,))
    process.start()
    assert queue.get().sum().item() == 1000
    process.kill()
    process.join()
    _files.remove_files_of(process.pid)


def test_modules_are_trained_by_several_processes(context):
    model = torch.nn.Linear(2, 1, bias=False).share_memory()
    with torch.no_grad():
        model.weight.zero_()
    run(context, train, model)
    assert model.weight.tolist() == [[-0.5, -0.5]] and model.weight.grad is None


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def test_names_are_those_of_python():
    assert set(multiprocessing.__all__) <= set(mp.__all__)
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError, match="invalid sharing strategy"):
        mp.set_sharing_strategy("telepathy")
