"""Pruned parameters: masks by size, by chance and given, over one tensor or several."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture
def prune(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.nn.utils.prune")


@pytest.fixture
def layer(module: Any) -> Any:
    """Weights of the magnitudes 0 to 11, row by row, of changing sign."""
    layer = module.nn.Linear(4, 3)
    layer.weight.data = (module.arange(12.0) * module.tensor([1.0, -1.0]).repeat(6)).reshape(3, 4)
    return layer


def test_smallest_elements_go(module: Any, prune: Any, layer: Any) -> None:
    parameter = layer.weight
    assert prune.l1_unstructured(layer, "weight", 0.25) is layer
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight_orig"] and layer.weight_orig is parameter
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    mask = [[0, 0, 0, 1], [1] * 4, [1] * 4]
    assert layer.weight_mask.tolist() == mask
    assert layer(module.ones(1, 4)).sum().item() == pytest.approx(layer.weight.sum().item() + layer.bias.sum().item())
    layer(module.ones(1, 4)).sum().backward()
    assert parameter.grad.tolist() == mask
    optimizer = module.optim.SGD(layer.parameters(), lr=1.0)
    optimizer.step()
    layer(module.ones(1, 4))
    assert layer.weight[0].tolist() == [0, 0, 0, -4] and parameter[0, 0] == 0
    (method,) = layer._forward_pre_hooks.values()
    assert isinstance(method, prune.L1Unstructured) and method.amount == 0.25 and prune.is_pruned(layer)


def test_pruning_is_made_permanent(module: Any, prune: Any, layer: Any) -> None:
    parameter = layer.weight
    prune.l1_unstructured(layer, "weight", 2)
    assert prune.remove(layer, "weight") is layer
    assert layer.weight is parameter and parameter[0].tolist() == [0, 0, 2, -3]
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight"]
    assert not list(layer.buffers()) and not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_slices(module: Any, prune: Any, layer: Any) -> None:
    prune.ln_structured(layer, "weight", 1, n=2, dim=0)
    assert layer.weight_mask.tolist() == [[0] * 4, [1] * 4, [1] * 4]
    prune.ln_structured(layer, "weight", 0.5, n=float("inf"), dim=-1)
    assert layer.weight_mask.tolist() == [[0] * 4, [0, 0, 1, 1], [0, 0, 1, 1]]
    prune.ln_structured(layer, "weight", 1, n=1, dim=0)  # of the rows that are left
    assert layer.weight_mask.tolist() == [[0] * 4, [0] * 4, [0, 0, 1, 1]]
    (container,) = layer._forward_pre_hooks.values()
    assert isinstance(container, prune.PruningContainer) and len(container) == 3
    assert [type(method) for method in container] == [prune.LnStructured] * 3 and container[1].amount == 0.5
    prune.remove(layer, "weight")
    prune.random_structured(layer, "weight", 2, dim=1)
    assert sorted(layer.weight_mask.sum(0).tolist()) == [0, 0, 3, 3]


def test_elements_by_chance(module: Any, prune: Any, layer: Any) -> None:
    prune.random_unstructured(layer, "weight", 4)
    first = layer.weight_mask.clone()
    assert first.sum() == 8
    prune.random_unstructured(layer, "weight", 0.5)  # of those that are left
    assert layer.weight_mask.sum() == 4 and bool((layer.weight_mask <= first).all())


def test_importances_and_masks(module: Any, prune: Any, layer: Any) -> None:
    prune.l1_unstructured(layer, "weight", 1, importance_scores=module.arange(12.0).flip(0).reshape(3, 4))
    assert layer.weight_mask.flatten().tolist() == [1] * 11 + [0]
    prune.custom_from_mask(layer, "weight", module.eye(3, 4))
    assert layer.weight.tolist() == [[0, 0, 0, 0], [0, -5, 0, 0], [0, 0, 10, 0]]
    prune.identity(layer, "bias")
    assert layer.bias_mask.tolist() == [1, 1, 1]


def test_several_parameters_together(module: Any, prune: Any, layer: Any) -> None:
    other = module.nn.Linear(2, 3, bias=False)
    other.weight.data = module.arange(6.0).reshape(3, 2) + 0.5
    pairs = [(layer, "weight"), (other, "weight")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
    assert layer.weight_mask.tolist() == [[0, 0, 0, 0], [0, 1, 1, 1], [1] * 4]
    assert other.weight_mask.tolist() == [[0, 0], [0, 0], [1, 1]]
    prune.global_unstructured(pairs, pruning_method=prune.RandomUnstructured, amount=3)
    assert layer.weight_mask.sum() + other.weight_mask.sum() == 6
    assert prune.is_pruned(module.nn.Sequential(layer, other))
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE supported'):
        prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=1)


def test_a_method_of_ones_own(module: Any, prune: Any, layer: Any) -> None:
    class EverySecond(prune.BasePruningMethod):  # type: ignore[misc,name-defined]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    prune.custom_from_mask(layer, "weight", module.tensor([[0, 1, 1, 1]] * 3))
    assert isinstance(EverySecond.apply(layer, "weight"), prune.PruningContainer)
    assert layer.weight_mask.flatten().tolist() == [0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0]
    method = prune.L1Unstructured(2)
    t = module.tensor([1.0, -3.0, 2.0, 0.5])
    assert method.prune(t).tolist() == [0, -3, 2, 0]
    assert method.prune(t, importance_scores=module.tensor([3.0, 1.0, 2.0, 4.0])).tolist() == [1, 0, 0, 0.5]


def test_refusals(module: Any, prune: Any, layer: Any) -> None:
    for amount, error in ((-1, ValueError), (1.5, ValueError), ("x", TypeError), (100, ValueError)):
        with pytest.raises(error, match="amount"):
            prune.l1_unstructured(layer, "weight", amount)
    with pytest.raises(ValueError, match="Structured pruning can only be applied to multidimensional tensors"):
        prune.ln_structured(layer, "bias", 1, 2, 0)
    with pytest.raises(IndexError, match="Invalid index 5 for tensor of size"):
        prune.ln_structured(layer, "weight", 1, 2, 5)
    with pytest.raises(AssertionError, match="importance_scores should have the same shape"):
        prune.l1_unstructured(layer, "weight", 1, importance_scores=module.ones(3))
    assert sorted(n for n, _ in layer.named_parameters()) == ["bias", "weight"]
