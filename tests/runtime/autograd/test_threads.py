"""Backward in several threads: over graphs of their own, over one graph, and while another one waits in a hook."""

import threading

import vivace as torch


def run_all(targets):
    """Runs each in a thread; raises what any of them raised."""
    errors = []

    def guarded(target):
        def run():
            try:
                target()
            except BaseException as error:
                errors.append(error)

        return run

    threads = [threading.Thread(target=guarded(t)) for t in targets]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def test_own_graphs():
    def work():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(300):
            x.grad = None
            ((x * 3).exp() * x).sum().backward()
            assert torch.allclose(x.grad, (x.detach() * 3).exp() * (1 + 3 * x.detach()))

    run_all([work] * 8)


def test_one_graph():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = ((x * x).exp() + x).sum()
    expected = torch.autograd.grad(y, x, retain_graph=True)[0]

    def work():
        for _ in range(200):
            assert torch.equal(torch.autograd.grad(y, x, retain_graph=True)[0], expected)

    run_all([work] * 8)


def test_runs_that_meet_in_the_middle_of_one_graph():
    """Each run stops in a hook until all have come there."""
    count = 4
    barrier = threading.Barrier(count)
    x = torch.tensor([2.0], requires_grad=True)
    y = x * x
    z = (y * y).sum()
    y.register_hook(lambda grad: (barrier.wait(30), None)[1])
    grads = []
    run_all([lambda: grads.append(torch.autograd.grad(z, x, retain_graph=True)[0].item())] * count)
    assert grads == [32.0] * count


def test_grad_mode_and_anomalies_of_a_thread():
    seen = []
    with torch.no_grad():
        run_all([lambda: seen.append(torch.is_grad_enabled())])
    assert seen == [True]


def test_backward_in_hooks_of_a_shared_graph():
    """A run inside a run over the same nodes."""
    x = torch.tensor([3.0], requires_grad=True)
    y = x * x
    z = (y * 2).sum()
    inner, depth = [], []

    def hook(grad):
        depth.append(0)
        if len(depth) <= 50:
            inner.append(torch.autograd.grad(z, x, retain_graph=True)[0].item())

    y.register_hook(hook)
    z.backward(retain_graph=True)
    assert x.grad.item() == 12.0 and inner == [12.0] * 50
