"""torch.autograd.graph: nodes, edges, hooks on nodes and on what is saved."""

import threading

import pytest

import vivace as torch
from vivace.autograd import graph


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_nodes():
    x = leaf(1.0)
    node = (x * 2).grad_fn
    accumulate = node.next_functions[0][0]
    assert isinstance(node, graph.Node) and isinstance(accumulate, graph.Node) and not isinstance(x, graph.Node)
    node.metadata["note"] = 1
    assert node.metadata == {"note": 1} and node.name() == "MulBackward0"
    assert accumulate.variable is x and "AccumulateGrad" in repr(accumulate)


def test_order_of_hooks_and_what_they_replace():
    calls = []

    def log(name, answer=None):
        def hook(*args):
            calls.append((name, *([None if g is None else g.tolist() for g in a] for a in args)))
            return answer

        return hook

    x = leaf(1.0)
    y = x * 2
    node = y.grad_fn
    accumulate = node.next_functions[0][0]
    y.retain_grad()
    y.register_hook(lambda grad: calls.append(("tensor", grad.tolist())) or grad * 2)
    y.register_hook(lambda grad: calls.append(("tensor again", grad.tolist())))
    node.register_prehook(log("pre", (torch.tensor([10.0]),)))
    node.register_hook(log("post"))
    x.register_hook(lambda grad: calls.append(("leaf", grad.tolist())))
    accumulate.register_prehook(log("accumulate pre"))
    accumulate.register_hook(log("accumulate post"))
    x.register_post_accumulate_grad_hook(lambda t: calls.append(("accumulated", t.grad.tolist())))
    y.sum().backward()
    assert calls == [
        ("tensor", [1.0]),
        ("tensor again", [2.0]),
        ("pre", [[2.0]]),
        ("post", [[20.0]], [[10.0]]),
        ("leaf", [20.0]),
        ("accumulate pre", [[20.0]]),
        ("accumulated", [20.0]),
        ("accumulate post", [], [[20.0]]),
    ]
    assert y.grad.tolist() == [2.0]  # after the tensor's hooks, before those of its node


def test_handles_remove():
    x = leaf(1.0)
    y = x * 2
    handles = [
        y.register_hook(lambda grad: grad * 10),
        y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,)),
        y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10,)),
    ]
    with handles[0]:
        pass
    handles[1].remove()
    handles[2].remove()
    handles[2].remove()
    y.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_retained_gradient_follows_the_tensor_through_in_place():
    y = leaf(1.0) * 2
    y.retain_grad()
    y.mul_(3)
    (y * 5).sum().backward()
    assert y.grad.tolist() == [5.0]


def test_gradient_edges_stand_for_tensors():
    x = leaf(1.0, 2.0)
    y = x * 2
    edge, end = graph.get_gradient_edge(y), graph.get_gradient_edge(x)
    z = (y**2).sum()
    del y
    gy, gx = torch.autograd.grad(z, (edge, end), retain_graph=True)
    assert gy.tolist() == [4.0, 8.0] and gx.tolist() == [8.0, 16.0]
    assert torch.autograd.grad(z, edge, retain_graph=True)[0].tolist() == [4.0, 8.0]
    torch.autograd.backward((edge,), (torch.ones(2),))
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(1))


def test_multi_grad_hook():
    seen = []
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    d = a * 2
    handle = graph.register_multi_grad_hook(
        (a, b, c, d), lambda grads: seen.append([None if g is None else g.item() for g in grads])
    )
    (d * b).sum().backward(retain_graph=True)
    (a * c).sum().backward()
    torch.autograd.grad((d * b).sum(), (b,))
    handle.remove()
    (a * b).sum().backward()
    assert seen == [[4.0, 2.0, None, 2.0], [3.0, None, 1.0, None], [None, 2.0, None, None]]


def test_multi_grad_hook_any():
    seen = []
    a, b = leaf(1.0) * 2, leaf(2.0) * 3
    graph.register_multi_grad_hook((a, b), lambda grad: seen.append(grad.item()), mode="any")
    (a * b).sum().backward()
    assert len(seen) == 1
    with pytest.raises(ValueError, match="mode"):
        graph.register_multi_grad_hook((a, b), print, mode="some")


def test_pack_hooks_see_the_arguments_themselves():
    weight, x = torch.nn.Parameter(torch.ones(2)), leaf(1.0, 2.0)
    seen = []

    def pack(t):
        seen.append(t)
        return t

    with graph.saved_tensors_hooks(pack, lambda t: t):
        y = x * weight
        z = y.exp()
    assert any(t is weight for t in seen) and any(t is x for t in seen)
    assert all(t is not z and t.grad_fn is not z.grad_fn for t in seen)
    (grad,) = torch.autograd.grad(z.sum(), x, create_graph=True)
    assert torch.autograd.grad(grad.sum(), x)[0].allclose(z)


def test_saved_tensors_hooks():
    packed = []

    def pack(t):
        packed.append(t.tolist())
        return t.tolist()

    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(pack, torch.tensor):
        y = (x * torch.tensor([3.0, 4.0])).exp()
        z = x * x
    assert [3.0, 4.0] in packed and y.tolist() in packed
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert torch.allclose(grad, y * torch.tensor([3.0, 4.0]))
    (second,) = torch.autograd.grad(grad.sum(), x)
    assert torch.allclose(second, y * torch.tensor([9.0, 16.0]))
    (grad,) = torch.autograd.grad(z.sum(), x, create_graph=True)
    assert torch.autograd.grad(grad.sum(), x)[0].tolist() == [2.0, 2.0]


def test_saved_tensors_hooks_nest_and_serve_functions_and_in_place():
    names = []

    def naming(name):
        return graph.saved_tensors_hooks(lambda t: names.append(name) or t, lambda t: t)

    class Save(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            assert x.requires_grad and y.requires_grad
            return grad * x

    x = leaf(3.0)
    with naming("outer"):
        y = Save.apply(x)
        with naming("inner"):
            z = y.exp()
        view = y.view(1)
        view.mul_(torch.tensor([2.0]))
    assert names[:3] == ["outer", "outer", "inner"] and len(names) > 3
    (grad,) = torch.autograd.grad((y + z).sum(), x)
    assert grad.item() == pytest.approx(3 * (2 + z.item()))


def test_saved_tensors_hooks_get_the_members_of_lists():
    packed = []
    x, rows, columns = leaf([1.0, 2.0], [3.0, 4.0]), torch.tensor([0, 1, 1]), torch.tensor([1, 0, 0])
    with graph.saved_tensors_hooks(lambda t: packed.append(t.tolist()) or t.tolist(), torch.tensor):
        y = x[rows, columns]
        z = x[:, columns]
        w = x.index_put((rows, columns), torch.ones(3), accumulate=True)
    assert packed == [[0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 0, 0]]
    assert y.grad_fn._saved_indices[0].tolist() == [0, 1, 1]
    rows.fill_(7)  # what was packed is what counts
    (y.sum() + z.sum() + w.sum()).backward()
    assert x.grad.tolist() == [[3.0, 3.0], [5.0, 2.0]]


def test_calling_a_node_runs_its_formula_alone():
    x, mask = leaf(1.0, 2.0), torch.tensor([3.0, 4.0])
    y = x * mask
    assert [g if g is None else g.tolist() for g in y.grad_fn(torch.ones(2))] == [[3.0, 4.0], None]
    assert y.grad_fn(torch.tensor(2.0))[0].tolist() == [6.0, 8.0]
    z = x.exp()
    assert z.grad_fn(torch.ones(2)).requires_grad  # grad mode is on
    assert x.sum(0, keepdim=True).max(0).values.grad_fn(torch.tensor(1.0)).tolist() == [1.0]
    accumulate = z.grad_fn.next_functions[0][0]
    assert accumulate(torch.ones(2)) == () and x.grad.tolist() == [1.0, 1.0]
    for arguments, error in (((), "expected 1 arguments"), ((1,), "not a Variable"), ((x, x), "got 2 instead")):
        with pytest.raises(TypeError, match=error):
            z.grad_fn(*arguments)
    with pytest.raises(RuntimeError, match="expand"):
        z.grad_fn(torch.ones(3))
    z.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.grad_fn(torch.ones(2))


def test_errors_of_saved_tensors_hooks():
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t), pytest.raises(RuntimeError, match="in place"):
        x * x
    with graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), pytest.raises(ZeroDivisionError):
        x * x
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x * x
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int.*MulBackward0"):
        y.sum().backward()
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        graph.save_on_cpu().__enter__()
    with graph.save_on_cpu():
        y = x * x
    y.sum().backward()
    assert x.grad.item() == 2 * x.item()


def test_hooks_of_one_thread_are_not_those_of_another():
    packed = []
    with graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        thread = threading.Thread(target=lambda: leaf(1.0).exp())
        thread.start()
        thread.join()
    assert packed == []


def test_increment_version():
    x, y = torch.ones(1), torch.ones(1)
    graph.increment_version(x)
    graph.increment_version((x, y))
    assert (x._version, y._version) == (2, 1)


def test_allow_mutation_on_saved_tensors():
    x, w = leaf(1.0, 2.0), torch.tensor([3.0, 4.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x * w
        w.mul_(10)
        z = x * w
        w[0] = 0
        w += 1
        (y + z).sum().backward()
    assert x.grad.tolist() == [33.0, 44.0]


def test_callbacks_at_the_end_of_backward():
    order = []
    x = leaf(1.0)
    engine = torch.autograd.Variable._execution_engine
    y = x * 2
    y.register_hook(lambda grad: engine.queue_callback(lambda: order.append(("end", x.grad.item()))))
    x.register_hook(lambda grad: order.append("leaf"))
    y.sum().backward()
    assert order == ["leaf", ("end", 2.0)]
    with pytest.raises(RuntimeError, match="only while a backward runs"):
        engine.queue_callback(print)


def test_saved_values_are_attributes_of_the_node():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    node = (x * w).grad_fn
    assert node._saved_self is x and node._saved_other is w
    y = x.exp()
    assert torch.equal(y.grad_fn._saved_result, y) and y.grad_fn._saved_result.grad_fn is y.grad_fn
    node = x.sum(0).grad_fn
    assert [name for name in dir(node) if name.startswith("_saved_")]
    assert torch.nn.functional.softmax(x, dim=0).grad_fn._saved_dim == 0
    y.sum().backward()
    with pytest.raises(RuntimeError, match="ExpBackward0"):
        y.grad_fn._saved_result  # noqa: B018
    assert not hasattr(node, "_saved_other")


def test_gradients_of_what_was_not_used_may_be_differentiated():
    x, y = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    for further in (False, True):
        _, zeros = torch.autograd.grad((x * x).sum(), (x, y), create_graph=further, materialize_grads=True)
        assert zeros.tolist() == [0.0] * 3 and zeros.requires_grad == further


def test_multi_grad_hook_wants_tensors_that_have_gradients():
    with pytest.raises(AssertionError, match="tensor 1 does not require grad"):
        graph.register_multi_grad_hook([torch.ones(1, requires_grad=True), torch.ones(1)], print)


def test_allow_mutation_is_not_nested():
    inner = graph.allow_mutation_on_saved_tensors()
    with graph.allow_mutation_on_saved_tensors(), pytest.raises(RuntimeError, match="cannot be nested"), inner:
        pass
    with graph.allow_mutation_on_saved_tensors():
        pass


def test_full_names_of_nodes_in_pytorch_s_namespace():
    y = torch.ones(2, requires_grad=True) * 1
    y[0] = 3.0
    assert y.grad_fn.name() == "torch::autograd::CopySlices" and type(y.grad_fn).__name__ == "CopySlices"
