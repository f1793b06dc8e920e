"""The device of examples/numpy_device: what a program does with it is what it does with the CPU."""

import copy
import gc
import io
import pickle
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

import numpy_device
import torch
from torch import nn


def refused(kind, text, function):
    try:
        function()
    except kind as error:
        if text in str(error):
            return
        raise
    raise AssertionError(f"{text} was not raised")


def check_values():
    x = torch.arange(6.0).reshape(2, 3).npy()
    assert repr(x) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]], device='npy:0')"
    assert x.is_npy and not x.is_cpu and x.get_device() == 0 and x.device == torch.device("npy", 0)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x[1, 2].item() == 5 and float(x.sum()) == 15
    assert (x + 1).tolist() == [[1, 2, 3], [4, 5, 6]] and (2 * x + torch.tensor(1.0)).sum().item() == 36
    refused(TypeError, "can't convert npy:0 device type tensor to numpy", x.numpy)
    refused(TypeError, "can't convert npy:0 device type tensor", lambda: numpy_device.memory.np.asarray(x))
    refused(BufferError, "npy", x.__dlpack__)
    refused(RuntimeError, "can't be read", lambda: memoryview(x.untyped_storage()))
    both = "Expected all tensors to be on the same device, but found at least two devices, "
    refused(RuntimeError, both + "npy:0 and cpu!", lambda: x + torch.ones(2, 3))
    refused(RuntimeError, both + "cpu and npy:0!", lambda: torch.sort(torch.where(torch.ones(2, 3) > 0, x, x)))
    refused(RuntimeError, both + "npy:1 and npy:0!", lambda: torch.ones(1, device="npy:1") + x)


def check_views():
    x = torch.arange(6.0).reshape(2, 3).npy()
    row = x[0].mul_(10)
    assert x.tolist() == [[0, 10, 20], [3, 4, 5]] and row._base is x and row._version == x._version
    x[1] = 5
    x[0, 0] = -1
    x[:, 1] = torch.tensor([7.0, 8.0]).npy()
    assert x.tolist() == [[-1, 7, 20], [5, 8, 5]] and x.t().contiguous().tolist() == [[-1, 5], [7, 8], [20, 5]]
    assert x.t().untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    out = torch.empty(0, device="npy")
    assert torch.add(x, x, out=out) is out and out.tolist() == [[-2, 14, 40], [10, 16, 10]]


def check_placing():
    with torch.device("npy"):
        made = torch.ones(2), torch.tensor([1, 2]), torch.randn(2), torch.arange(3), torch.eye(2), torch.empty(0)
    assert {t.device for t in made} == {torch.device("npy:0")}
    torch.set_default_device("npy:1")
    assert torch.get_default_device() == torch.zeros(1).device == torch.device("npy:1")
    torch.set_default_device(None)
    torch.manual_seed(3)
    drawn = torch.randn(4)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(4, device="npy").cpu(), drawn)
    assert torch.ones_like(made[0], device="cpu").is_cpu and torch.zeros_like(drawn, device="npy").is_npy
    accelerator = torch.accelerator
    assert accelerator.current_accelerator() == torch.device("npy") and accelerator.device_count() == 2
    with accelerator.device_index(1):
        assert torch.empty(1, device="npy").device == torch.device("npy:1") and accelerator.current_device_index() == 1
    assert accelerator.current_device_index() == 0 and torch.get_device_module("npy") is torch.npy
    refused(RuntimeError, "already been set", lambda: torch.utils.rename_privateuse1_backend("other"))
    refused(RuntimeError, "already been registered", lambda: torch._register_device_module("npy", object()))


def check_generators():
    generator = torch.Generator("npy").manual_seed(5)
    assert generator.device == torch.device("npy:0") and torch.Generator().device == torch.device("cpu")
    drawn = torch.randn(3, device="npy", generator=generator)
    assert torch.equal(drawn.cpu(), torch.randn(3, generator=torch.Generator().manual_seed(5)))
    assert torch.empty(3, device="npy").uniform_(generator=generator).is_npy
    with warnings.catch_warnings(record=True) as seen, torch.autocast("npy"):
        assert (drawn @ drawn).dtype == torch.float32 and "no autocast for private backends" in str(seen[0].message)


def check_copies():
    x = torch.ones(2, 2, device="npy")
    twin = copy.deepcopy(x)
    twin.add_(1)
    assert x.sum().item() == 4 and twin.sum().item() == 8
    parameter = pickle.loads(pickle.dumps(nn.Parameter(x)))
    assert isinstance(parameter, nn.Parameter) and parameter.is_npy and parameter.requires_grad
    file = io.BytesIO()
    torch.save({"x": x, "cpu": torch.ones(1)}, file)
    for where, device in ((None, "npy:0"), ("cpu", "cpu"), ({"npy:0": "npy:1"}, "npy:1")):
        file.seek(0)
        assert torch.load(file, map_location=where)["x"].device == torch.device(device)
    file.seek(0)
    assert torch.load(file, map_location="npy")["cpu"].is_npy


def check_autograd():
    a, b = torch.randn(3, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    here = [t.detach().npy().requires_grad_() for t in (a, b)]
    ((a @ b).tanh() * 2).sum().backward()
    ((here[0] @ here[1]).tanh() * 2).sum().backward()
    for t, other in zip((a, b), here, strict=True):
        assert other.grad.is_npy and torch.allclose(t.grad, other.grad.cpu())
    (first,) = torch.autograd.grad((here[0].exp() * here[0]).sum(), here[0], create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), here[0])
    assert torch.allclose(second.cpu(), (a.detach() + 2) * a.detach().exp())
    x = torch.randn(3, dtype=torch.float64, device="npy", requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: (t.exp() * t.sin() / (t * t + 1)).sum(), (x,), check_forward_ad=True)
    assert torch.autograd.gradcheck(lambda t: t.softmax(0).cumsum(0), (x,), check_forward_ad=True)
    base = torch.zeros(3, device="npy")
    view = base[:2]
    view.mul_(here[0][0, :2])  # writes through a view are recorded
    assert base.requires_grad and base.grad_fn is not None
    y = here[0].exp()
    y.add_(1)
    refused(RuntimeError, "modified by an inplace operation", lambda: y.sum().backward())


def check_transforms():
    """Forward mode, vmap, modes and profiles see the device's tensors as others."""
    from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap
    from torch.utils._python_dispatch import TorchDispatchMode

    x = torch.arange(6.0).reshape(2, 3)
    for transform in (
        lambda t: jvp(lambda a: a.sin() * a, (t,), (torch.ones_like(t),))[1],
        lambda t: jacrev(lambda a: a * a)(t[0]),
        lambda t: jacfwd(lambda a: a.tanh() * a)(t[0]),
        lambda t: hessian(lambda a: (a * a * a).sum())(t[0]),
        lambda t: vmap(lambda a: a.exp().sum() + a)(t),
        lambda t: vmap(grad(lambda a: (a * a).sum()))(t),
    ):
        there = transform(x.npy())
        assert there.is_npy and torch.allclose(there.cpu(), transform(x))

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    names = []
    with Seen():
        (x.npy() + 1).relu()
    assert names[1:] == ["aten.add.Tensor", "aten.relu.default"]
    with torch.profiler.profile() as profile:
        x.npy() @ x.npy().t()
    assert "aten::mm" in {event.key for event in profile.key_averages()}


def check_soundness():
    """What would read the memory by its address goes by way of the device, or refuses."""
    x = torch.arange(4.0).npy()
    storage = x.untyped_storage()
    assert storage.tolist() == storage.cpu().tolist() == torch.arange(4.0).untyped_storage().tolist()
    assert storage.clone().device == x.device and storage[4:8].tolist() == [0, 0, 128, 63] == list(storage)[4:8]
    storage.copy_(torch.ones(4).untyped_storage())
    assert x.tolist() == [1] * 4 and torch.empty(0, device="npy").set_(storage, 1, (2,), (1,)).tolist() == [1, 1]
    assert torch.UntypedStorage(3, device="npy").device == x.device
    assert x.share_memory_() is x and x.clone().resize_(2).tolist() == [1, 1]
    refused(NotImplementedError, "can't resize a storage", lambda: x.clone().resize_(9))
    refused(TypeError, "can't convert npy:0", lambda: x.numpy(force=True))
    refused(NotImplementedError, "Cannot copy out of meta tensor", lambda: torch.empty(2, device="meta").npy())
    assert [10, 20][torch.tensor(1).npy()] == 20 and f"{torch.tensor(1.5).npy():.1f}" == "1.5"
    with torch.library._scoped_library("aten", "IMPL") as library:
        for nonsense in (None, 3, "text", [x]):
            library.impl("exp", lambda a, result=nonsense: result, "PrivateUse1")
            refused(RuntimeError, "not what the schema says", x.exp)
        library.impl("empty.memory_format", lambda *args, **kwargs: torch.ones(1), "PrivateUse1")
        refused(RuntimeError, "was asked for a tensor of sizes", lambda: torch.zeros(2, device="npy"))
    assert torch.allclose(x.exp().cpu(), torch.ones(4).exp())


def check_training():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3)
    ).npy()
    assert {p.device for p in model.parameters()} == {torch.device("npy:0")} and model[1].running_mean.is_npy
    data = torch.utils.data.TensorDataset(torch.randn(4, 1, 6, 6), torch.tensor([0, 2, 1, 1]))
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.NAdam):
        start = copy.deepcopy(model)
        models = model, copy.deepcopy(model).cpu()
        for one in models:
            optimizer = kind(one.parameters(), lr=0.01)
            for image, label in torch.utils.data.DataLoader(data, batch_size=2):
                device = next(one.parameters()).device
                optimizer.zero_grad()
                nn.functional.cross_entropy(one(image.to(device)), label.to(device)).backward()
                nn.utils.clip_grad_norm_(one.parameters(), 1.0)
                optimizer.step()
        for p, q in zip(*(m.parameters() for m in models), strict=True):
            assert torch.allclose(p.cpu(), q, atol=1e-4), kind
        model.load_state_dict(start.state_dict())


def check_backend_operators():
    """opcheck of an operator with a kernel for the device, and its refusal without one."""

    @torch.library.custom_op("demo::twice", mutates_args=(), device_types="cpu")
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_kernel("npy")
    def _(x):
        return numpy_device.memory.tensor(numpy_device.memory.array(x) * 2, x.dtype, x.device)

    twice.register_fake(torch.empty_like)
    twice.register_autograd(lambda ctx, g: g * 2)
    x = torch.ones(3, device="npy", requires_grad=True)
    twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    torch.library.opcheck(twice, (x.detach(),))
    torch.library.opcheck(twice, (torch.ones(3, device="npy", requires_grad=True),))


for check in [f for name, f in list(globals().items()) if name.startswith("check_")]:
    check()
gc.collect()
assert not numpy_device.memory.blocks and numpy_device.memory.allocated == [0, 0], "every block was given back"
