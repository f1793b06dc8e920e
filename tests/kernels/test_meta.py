"""Whole models on the meta device, and what writes to tensors there; tests/ops runs every operator's samples."""

import pytest

import vivace as torch
from vivace import nn
from vivace.nn import functional as F

MODELS = {
    "convolutions": lambda: (
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
        (2, 3, 8, 8),
    ),
    "LSTM": lambda: (nn.LSTM(3, 5), (4, 2, 3)),
    "GRU": lambda: (nn.GRU(3, 5), (4, 2, 3)),
    "transformer": lambda: (nn.TransformerEncoderLayer(4, 2, 8), (3, 2, 4)),
    "norm": lambda: (nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.GELU(), nn.Dropout(0.5)), (2, 6)),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_models_run_forward_backward_and_a_step(model):
    here, sizes = model()
    with torch.device("meta"):
        there, _ = model()
    results = []
    for module, device in ((here, "cpu"), (there, "meta")):
        result = module(torch.ones(sizes, device=device))
        result = result[0] if isinstance(result, tuple) else result
        result.sum().backward()
        for optimizer in (
            torch.optim.SGD(module.parameters(), 0.1, momentum=0.9),
            torch.optim.Adam(module.parameters()),
        ):
            optimizer.step()
        results.append(result)
    assert results[0].shape == results[1].shape and results[1].is_meta
    for a, b in zip(here.parameters(), there.parameters(), strict=True):
        assert b.is_meta and a.grad.shape == b.grad.shape
    assert nn.utils.clip_grad_norm_(there.parameters(), 1.0).is_meta


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.copy_(torch.ones(2, 3)),
        lambda t: t.fill_(3),
        lambda t: t.fill_(torch.tensor(3.0)),
        lambda t: t.zero_(),
        lambda t: t.resize_(2, 3),
        lambda t: t.__setitem__(0, 1),
        lambda t: t.__setitem__(torch.tensor([0]), 1),
        lambda t: t.add_(1),
        lambda t: t.normal_(),
    ],
)
def test_writing(write):
    t = torch.ones(2, 3, device="meta")
    version = t._version
    write(t)
    assert t.is_meta and t.shape == (2, 3) and t._version > version


def test_devices_do_not_mix():
    here, there = torch.ones(2, 3), torch.ones(2, 3, device="meta")
    for mix in (lambda: here + there, lambda: there + here, lambda: here.add_(there), lambda: here.mul(there)):
        with pytest.raises(RuntimeError, match="is not on the expected device"):
            mix()
    number = torch.tensor(2.0)
    assert (number * there).is_meta and (there * number).is_meta and there.add_(number).is_meta
    assert torch.add(there, 1, out=torch.empty(0, device="meta")).is_meta


@pytest.mark.parametrize(
    "loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits, F.softmax]
)
def test_backward_of_what_is_fused(loss):
    x = torch.ones(2, 3, device="meta", requires_grad=True)
    (F.softmax(x, 1) if loss is F.softmax else loss(x, torch.ones(2, 3, device="meta"))).sum().backward()
    assert x.grad.is_meta and x.grad.shape == (2, 3)
    y = torch.ones(2, 3, device="meta", requires_grad=True)
    target = torch.zeros(2, dtype=torch.int64, device="meta")
    (F.cross_entropy(y, target) + F.nll_loss(y, target) + (y**y).sum() + y.tanh().sum()).backward()
    assert y.grad.is_meta and y.grad.shape == (2, 3)


def test_there_is_no_way_back():
    t = torch.ones(2, device="meta")
    for read in (t.cpu, t.tolist, lambda: torch.ones(2).copy_(t), lambda: t.to("cpu")):
        with pytest.raises(NotImplementedError, match="no data"):
            read()
    with pytest.raises(RuntimeError, match="meta"):
        t[0].item()
    assert nn.Linear(2, 2, device="meta").to_empty(device="cpu").weight.device.type == "cpu"


@pytest.mark.parametrize("name", ["addmm_", "addmv_", "baddbmm_", "addbmm_", "addr_"])
def test_memory_is_not_written_from_meta(name: str) -> None:
    shapes = {"addmm_": [(2, 2), (2, 2), (2, 2)], "addmv_": [(2,), (2, 2), (2,)], "baddbmm_": [(1, 2, 2)] * 3,
              "addbmm_": [(2, 2), (1, 2, 2), (1, 2, 2)], "addr_": [(2, 2), (2,), (2,)]}[name]  # fmt: skip
    for place in (1, 2):
        tensors = [torch.ones(s, device="meta" if i == place else "cpu") for i, s in enumerate(shapes)]
        with pytest.raises(RuntimeError, match="device.*(cpu.*meta|meta.*cpu)"):
            getattr(tensors[0], name)(*tensors[1:])
        assert tensors[0].eq(1).all()
