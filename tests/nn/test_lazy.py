"""Layers that take their sizes from the first input, and the parameters that wait for them."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
from typing import Any

import pytest

# expression over torch.nn -> the layer that it becomes, shape of the input
LAYERS: dict[str, tuple[str, tuple[int, ...]]] = {
    "LazyLinear(3)": ("Linear(4, 3)", (2, 4)),
    "LazyLinear(3, bias=False)": ("Linear(4, 3, bias=False)", (4,)),
    "LazyConv1d(6, 3, 2)": ("Conv1d(4, 6, 3, 2)", (2, 4, 8)),
    "LazyConv2d(6, 3, 1, 1, 1, 2, False)": ("Conv2d(4, 6, 3, 1, 1, 1, 2, False)", (4, 5, 5)),
    "LazyConv3d(2, 2, padding_mode='circular')": ("Conv3d(1, 2, 2, padding_mode='circular')", (1, 1, 3, 3, 3)),
    "LazyConvTranspose1d(2, 3)": ("ConvTranspose1d(4, 2, 3)", (2, 4, 5)),
    "LazyConvTranspose2d(4, 3, groups=2)": ("ConvTranspose2d(6, 4, 3, groups=2)", (1, 6, 4, 4)),
    "LazyConvTranspose3d(2, 2)": ("ConvTranspose3d(1, 2, 2)", (1, 1, 3, 3, 3)),
    "LazyBatchNorm1d()": ("BatchNorm1d(4)", (3, 4)),
    "LazyBatchNorm2d(1e-3, 0.2)": ("BatchNorm2d(4, 1e-3, 0.2)", (3, 4, 2, 2)),
    "LazyBatchNorm3d(bias=False)": ("BatchNorm3d(2, bias=False)", (3, 2, 2, 2, 2)),
    "LazyInstanceNorm1d()": ("InstanceNorm1d(4, affine=True, track_running_stats=True)", (3, 4, 5)),
    "LazyInstanceNorm2d(affine=False)": ("InstanceNorm2d(4, track_running_stats=True)", (3, 4, 5, 5)),
    "LazyInstanceNorm3d()": ("InstanceNorm3d(2, affine=True, track_running_stats=True)", (3, 2, 2, 2, 2)),
}


@pytest.mark.parametrize("lazy", LAYERS)
def test_a_lazy_layer_becomes_the_plain_one(module: Any, lazy: str) -> None:
    plain, shape = LAYERS[lazy]
    x = module.linspace(-1, 1, module.Size(shape).numel()).reshape(shape)
    module.manual_seed(0)
    layer = eval("nn." + lazy, {"nn": module.nn})
    assert repr(layer).startswith("Lazy")
    result = layer(x)
    module.manual_seed(0)
    twin = eval("nn." + plain, {"nn": module.nn})
    assert type(layer) is type(twin) and repr(layer) == repr(twin)
    assert module.equal(result, twin(x))
    mine, other = layer.state_dict(), twin.state_dict()
    assert list(mine) == list(other)
    assert all(module.equal(mine[k], other[k]) for k in other)
    assert all(type(p) is module.nn.Parameter for p in layer.parameters())
    assert module.equal(layer(x), twin(x))


def test_a_model_is_trained_after_a_dry_run(module: Any) -> None:
    nn = module.nn
    model = nn.Sequential(nn.LazyConv2d(2, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)).double()
    optimizer = module.optim.SGD(model.parameters(), lr=0.1)
    x = module.ones(2, 1, 4, 4, dtype=module.float64)
    model(x)
    assert model[3].in_features == 8 and model[3].weight.dtype == module.float64
    before = model[3].weight.detach().clone()
    model(x).sum().backward()
    optimizer.step()
    assert not module.equal(before, model[3].weight)


def test_waiting_parameters_refuse_values(module: Any) -> None:
    layer = module.nn.LazyLinear(3)
    parameter = layer.weight
    assert repr(parameter) == "<UninitializedParameter>" and layer.has_uninitialized_params()
    assert importlib.import_module(f"{module.__name__}.nn.parameter").is_lazy(parameter)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = parameter.shape
    with pytest.raises(RuntimeError, match="Can't share memory"):
        parameter.share_memory_()
    for use in (lambda: parameter + 1, lambda: module.add(1, parameter), lambda: sum(p.numel() for p in [parameter])):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            use()
    assert parameter.dtype == module.float32 and parameter.is_leaf and parameter.grad is None
    assert layer.half().weight.dtype == module.float16
    with pytest.raises(RuntimeError, match="Expected 3D .* or 4D .* input to LazyConv2d, but got input of size"):
        module.nn.LazyConv2d(2, 3)(module.ones(2))


def test_materialize(module: Any) -> None:
    parameter = module.nn.UninitializedParameter(requires_grad=False)
    parameter.materialize((2, 3), dtype=module.float64)
    assert type(parameter) is module.nn.Parameter and parameter.shape == (2, 3)
    assert parameter.dtype == module.float64 and not parameter.requires_grad
    buffer = module.nn.UninitializedBuffer()
    buffer.materialize((2,))
    assert type(buffer) is module.Tensor and buffer.shape == (2,) and not buffer.requires_grad


def test_states(module: Any) -> None:
    nn = module.nn
    full, lazy = nn.Linear(4, 3), nn.LazyLinear(3)
    waiting = lazy.state_dict()
    assert [repr(v) for v in waiting.values()] == ["<UninitializedParameter>"] * 2
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        full.load_state_dict(waiting)
    nn.LazyLinear(3).load_state_dict(waiting)
    lazy.load_state_dict(full.state_dict())
    assert module.equal(lazy.weight, full.weight)
    x = module.ones(1, 4)
    assert module.equal(lazy(x), full(x)) and repr(lazy) == repr(full)
    norm = nn.LazyBatchNorm1d()
    norm.load_state_dict(nn.BatchNorm1d(5).state_dict())
    assert norm(module.ones(2, 5)).shape == (2, 5)


def test_copies(module: Any) -> None:
    lazy = module.nn.LazyLinear(3)
    for twin in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        assert twin(module.ones(2, 4)).shape == (2, 3)
    file = io.BytesIO()
    module.save(lazy.state_dict(), file)
    file.seek(0)
    assert repr(module.load(file, weights_only=False)["weight"]) == "<UninitializedParameter>"


def test_a_lazy_module_of_ones_own(module: Any) -> None:
    lazy = importlib.import_module(f"{module.__name__}.nn.modules.lazy")

    class Scale(lazy.LazyModuleMixin, module.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.weight = module.nn.UninitializedParameter()
            self.calls = 0

        def initialize_parameters(self, x: Any, factor: int = 1) -> None:
            self.calls += 1
            if factor:
                self.weight.materialize((x.shape[-1],))
                module.nn.init.ones_(self.weight)

        def forward(self, x: Any, factor: int = 1) -> Any:
            return x * self.weight * factor

    layer = Scale()
    with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
        layer(module.ones(2), factor=0)
    assert layer(module.ones(2), factor=3).tolist() == [3, 3]
    assert layer(module.ones(2)).tolist() == [1, 1]
    assert layer.calls == 2
