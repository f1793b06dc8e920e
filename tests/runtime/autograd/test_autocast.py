"""Which precision operators choose under autocast, and the weights that are cast once."""

import gc
import weakref

import pytest

import vivace as torch
import vivace.nn.functional as F

BF16 = torch.bfloat16


def t(*sizes, dtype=torch.float32):
    return torch.ones(sizes, dtype=dtype)


LOWER = {
    "mm": lambda d: t(2, 2, dtype=d).mm(t(2, 2, dtype=d)),
    "matmul": lambda d: t(2, 2, dtype=d) @ t(2, dtype=d),
    "rmatmul": lambda d: t(2, 2, dtype=d).__rmatmul__(t(2, 2, dtype=d)),
    "bmm": lambda d: torch.bmm(t(1, 2, 2, dtype=d), t(1, 2, 2, dtype=d)),
    "addmm": lambda d: torch.addmm(t(2, dtype=d), t(2, 2, dtype=d), t(2, 2, dtype=d)),
    "einsum": lambda d: torch.einsum("ij,jk->ik", t(2, 2, dtype=d), t(2, 2, dtype=d)),
    "linear": lambda d: F.linear(t(2, 2, dtype=d), t(2, 2, dtype=d), t(2, dtype=d)),
    "conv1d": lambda d: F.conv1d(t(1, 1, 4, dtype=d), t(1, 1, 3, dtype=d)),
    "conv2d": lambda d: F.conv2d(t(1, 1, 4, 4, dtype=d), t(1, 1, 3, 3, dtype=d), padding="same"),
    "conv_transpose2d": lambda d: F.conv_transpose2d(t(1, 1, 4, 4, dtype=d), t(1, 1, 3, 3, dtype=d)),
    "attention": lambda d: F.scaled_dot_product_attention(*[t(1, 2, 3, 4, dtype=d)] * 3),
    "prelu": lambda d: F.prelu(t(2, dtype=d), t(1, dtype=d)),
}
FLOAT32 = {
    "mse_loss": lambda d: F.mse_loss(t(2, dtype=d), t(2, dtype=d)),
    "cross_entropy": lambda d: F.cross_entropy(t(2, 3, dtype=d), torch.tensor([0, 1])),
    "nll_loss": lambda d: F.nll_loss(t(2, 3, dtype=d), torch.tensor([0, 1])),
    "binary_cross_entropy": lambda d: F.binary_cross_entropy(t(2, dtype=d), target=t(2, dtype=d)),
    "kl_div": lambda d: F.kl_div(t(2, dtype=d), t(2, dtype=d), reduction="sum"),
    "prod": lambda d: t(2, dtype=d).prod(),
    "trace": lambda d: t(2, 2, dtype=d).trace(),
    "avg_pool3d": lambda d: F.avg_pool3d(t(1, 1, 2, 2, 2, dtype=d), 2),
    "max_unpool2d": lambda d: F.max_unpool2d(t(1, 1, 1, 1, dtype=d), torch.zeros(1, 1, 1, 1, dtype=torch.int64), 2),
    "cdist": lambda d: torch.cdist(t(2, 2, dtype=d), t(2, 2, dtype=d)),
    "reflect": lambda d: F.pad(t(1, 1, 4, dtype=d), (1, 1), mode="reflect"),
    "inverse": lambda d: torch.eye(2, dtype=d).inverse(),
    "svd": lambda d: torch.linalg.svd(t(2, 2, dtype=d))[1],
}
KEPT = {
    "add": lambda d: t(2, dtype=d) + t(2, dtype=d),
    "softmax": lambda d: t(2, dtype=d).softmax(-1),
    "sum": lambda d: t(2, dtype=d).sum(),
    "layer_norm": lambda d: F.layer_norm(t(2, 3, dtype=d), (3,), t(3), t(3)),
    "einsum without sums": lambda d: torch.einsum("i,j->ij", t(2, dtype=d), t(2, dtype=d)),
    "circular": lambda d: F.pad(t(1, 1, 4, dtype=d), (1, 1), mode="circular"),
    "mv": lambda d: torch.mv(t(2, 2, dtype=d), t(2, dtype=d)),
}


@pytest.mark.parametrize("dtype", [torch.float32, BF16, torch.float16])
@pytest.mark.parametrize("name", LOWER)
def test_lower(name, dtype):
    with torch.autocast("cpu"):
        assert LOWER[name](dtype).dtype is BF16


@pytest.mark.parametrize("name", FLOAT32)
def test_float32(name):
    with torch.autocast("cpu"):
        assert FLOAT32[name](BF16).dtype is torch.float32


@pytest.mark.parametrize(("name", "dtype"), [(name, d) for name in KEPT for d in (torch.float32, BF16)])
def test_kept(name, dtype):
    with torch.autocast("cpu"):
        assert KEPT[name](dtype).dtype is dtype


def test_promote():
    index = torch.tensor([0])
    with torch.autocast("cpu"):
        assert torch.cat([t(1), t(1, dtype=BF16)]).dtype is torch.float32
        assert torch.stack([t(1, dtype=BF16)] * 2).dtype is BF16
        assert torch.index_copy(t(2), 0, index, t(1, dtype=BF16)).dtype is torch.float32
        assert torch.cat([t(1), t(1, dtype=torch.float64)]).dtype is torch.float64


def test_what_is_not_cast():
    with torch.autocast("cpu"):
        assert t(2, 2, dtype=torch.float64).mm(t(2, 2, dtype=torch.float64)).dtype is torch.float64
        assert t(2, 2, dtype=torch.int64).mm(t(2, 2, dtype=torch.int64)).dtype is torch.int64
        assert torch.mm(t(2, 2), t(2, 2), out=t(2, 2)).dtype is torch.float32
        assert t(2, 2).addmm_(t(2, 2), t(2, 2)).dtype is torch.float32
        meta = torch.empty(2, 2, device="meta")
        assert meta.mm(meta).dtype is torch.float32


def casts_of(weight, region):
    """How many nodes of casts lead to the weight in two products."""
    with region:
        products = [t(2, 2).mm(weight), t(2, 2).mm(weight)]
    return len({p.grad_fn.next_functions[1][0] for p in products})


def test_weights_are_cast_once():
    weight = t(2, 2).requires_grad_()
    assert casts_of(weight, torch.autocast("cpu")) == 1
    assert casts_of(weight, torch.autocast("cpu", cache_enabled=False)) == 2
    assert casts_of(weight * 1, torch.autocast("cpu")) == 2
    with torch.autocast("cpu"):
        assert casts_of(weight, torch.autocast("cpu")) == 1  # the inner region keeps the cache


def test_gradients_of_cached_weights_add_up():
    weight = t(2, 2).requires_grad_()
    with torch.autocast("cpu"):
        loss = (t(2, 2).mm(weight) + t(2, 2).mm(weight)).sum()
    loss.backward()
    assert weight.grad.dtype is torch.float32 and weight.grad.tolist() == [[4, 4], [4, 4]]


def test_a_cast_without_recording_does_not_serve_where_it_records():
    weight = t(2, 2).requires_grad_()
    with torch.autocast("cpu"):
        with torch.no_grad():
            t(2, 2).mm(weight)
        assert t(2, 2).mm(weight).requires_grad


def test_a_weight_that_changed_is_cast_again():
    weight = t(2, 2).requires_grad_()
    with torch.autocast("cpu"):
        t(2, 2).mm(weight)
        with torch.no_grad():
            weight.fill_(3)
        assert t(2, 2).mm(weight).tolist() == [[6, 6], [6, 6]]


def test_cast_weights_live_as_long_as_the_region():
    weight = t(2, 2).requires_grad_()
    alive = weakref.ref(weight)
    with torch.autocast("cpu"):
        t(2, 2).mm(weight)
        del weight
    gc.collect()
    assert alive() is None


def test_training_step():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x, y = torch.randn(16, 4), torch.arange(16) % 3
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        with torch.autocast("cpu"):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all(p.grad.dtype is torch.float32 for p in model.parameters())
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("RNN", BF16), ("GRU", torch.float32), ("LSTM", BF16), ("RNNCell", BF16), ("LSTMCell", torch.float32)],
)
def test_recurrent_layers(kind, dtype):
    layer = getattr(torch.nn, kind)(3, 4)
    with torch.autocast("cpu"):
        result = layer(t(2, 3))
    output = result[0] if isinstance(result, tuple) else result
    assert output.dtype is dtype
    output.sum().backward()
    assert {p.grad.dtype for p in layer.parameters()} == {torch.float32}
