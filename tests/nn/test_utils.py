"""nn.utils: clipping, vectors of parameters, sequences of different lengths."""

from __future__ import annotations

from typing import Any

import pytest


def test_clip_grad_norm(module: Any) -> None:
    parameters = [module.nn.Parameter(module.zeros(2)), module.nn.Parameter(module.zeros(1))]
    parameters[0].grad, parameters[1].grad = module.tensor([3.0, 0.0]), module.tensor([4.0])
    clip = module.nn.utils.clip_grad_norm_
    assert clip(parameters, 10.0).item() == 5.0
    assert parameters[0].grad.tolist() == [3.0, 0.0]
    assert clip(parameters, 2.5).item() == 5.0
    assert parameters[1].grad.item() == pytest.approx(2.0, rel=1e-6)
    assert clip(parameters, 1.0, norm_type=float("inf")).item() == pytest.approx(2.0, rel=1e-6)
    parameters[1].grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite"):
        clip(parameters, 1.0, error_if_nonfinite=True)


def test_clip_grad_value(module: Any) -> None:
    p = module.nn.Parameter(module.zeros(2))
    p.grad = module.tensor([3.0, -4.0])
    module.nn.utils.clip_grad_value_([p], 3.5)
    assert p.grad.tolist() == [3.0, -3.5]


def test_vectors(module: Any) -> None:
    layer = module.nn.Linear(2, 3)
    vector = module.nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,)
    module.nn.utils.vector_to_parameters(module.arange(9.0), layer.parameters())
    assert layer.bias.tolist() == [6.0, 7.0, 8.0]


def test_packing(module: Any) -> None:
    rnn = module.nn.utils.rnn
    sequences = [module.arange(2.0), module.arange(4.0), module.arange(3.0)]
    padded = rnn.pad_sequence(sequences, batch_first=True, padding_value=-1.0)
    assert padded.tolist() == [[0, 1, -1, -1], [0, 1, 2, 3], [0, 1, 2, -1]]
    packed = rnn.pack_padded_sequence(padded, [2, 4, 3], batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert packed.data.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    again, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0)
    assert again.tolist() == padded.tolist()
    assert lengths.tolist() == [2, 4, 3]
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order"):
        rnn.pack_padded_sequence(padded, [2, 4, 3], batch_first=True)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_packed_layers(module: Any, kind: str) -> None:
    layer = getattr(module.nn, kind)(2, 3, num_layers=2, bidirectional=True)
    sequences = [module.rand(2, 2), module.rand(4, 2)]
    output, _ = layer(module.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False))
    unpacked = module.nn.utils.rnn.unpack_sequence(output)
    for sequence, result in zip(sequences, unpacked, strict=True):
        assert module.allclose(layer(sequence)[0], result, atol=1e-6)


def test_skip_init(module: Any) -> None:
    state = module.get_rng_state()
    layer = module.nn.utils.skip_init(module.nn.Linear, 5, 2, dtype=module.float64)
    assert module.equal(state, module.get_rng_state())
    assert layer.weight.shape == (2, 5) and layer.weight.dtype == module.float64 and not layer.weight.is_meta
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        module.nn.utils.skip_init(module.nn.ReLU)


def test_memory_formats(module: Any) -> None:
    nn = module.nn
    model = nn.Sequential(nn.Conv2d(3, 4, 2), nn.ConvTranspose2d(3, 4, 2), nn.Conv3d(3, 4, 2))
    before = [layer.weight.detach().clone() for layer in model]
    assert nn.utils.convert_conv2d_weight_memory_format(model, module.channels_last) is model
    assert all(layer.weight.is_contiguous(memory_format=module.channels_last) for layer in model[:2])
    assert model[2].weight.is_contiguous()
    nn.utils.convert_conv3d_weight_memory_format(model, module.channels_last_3d)
    assert model[2].weight.is_contiguous(memory_format=module.channels_last_3d)
    assert all(module.equal(layer.weight, old) for layer, old in zip(model, before, strict=True))


def test_parameters_replaced_for_a_while(module: Any) -> None:
    reparametrize = module.nn.utils.stateless._reparametrize_module
    layer = module.nn.Linear(2, 2)
    own = layer.weight
    with reparametrize(layer, {"weight": module.zeros(2, 2)}):
        assert layer(module.ones(2)).equal(layer.bias)
    assert layer.weight is own
    with pytest.raises(RuntimeError), reparametrize(layer, {"weight": own, "wight": own}, strict=True):
        pass
    assert layer.weight is own


def test_activation_by_name(module: Any) -> None:
    import importlib

    get = importlib.import_module(f"{module.__name__}.nn.modules.transformer")._get_activation_fn
    assert get("relu")(module.tensor([-1.0])).item() == 0
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        get("tanh")
