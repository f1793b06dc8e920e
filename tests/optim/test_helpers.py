"""What optimizers of packages take from torch.optim.optimizer."""

from __future__ import annotations

import importlib
from typing import Any


def helpers_of(module: Any) -> Any:
    return importlib.import_module(f"{module.__name__}.optim.optimizer")


def test_optimizer_of_a_package(module: Any) -> None:
    helpers = helpers_of(module)

    class Descent(module.optim.Optimizer):
        def __init__(self, params: helpers.ParamsT, differentiable: bool) -> None:  # type: ignore[name-defined]
            super().__init__(params, {"lr": module.tensor(0.5), "differentiable": differentiable})

        @helpers._use_grad_for_differentiable
        def step(self) -> bool:
            (group,) = self.param_groups
            lists = [group["params"], [p.grad for p in group["params"]]]
            lists = self._group_tensors_by_device_and_dtype(lists)
            for (params, grads), indices in lists.values():
                assert not indices
                if not group["differentiable"]:
                    module._foreach_add_(params, grads, alpha=-helpers._get_value(group["lr"]))
            return module.is_grad_enabled()

    p = module.ones(2, requires_grad=True)
    p.grad = module.ones(2)
    assert Descent([p], False).step() is False and p.tolist() == [0.5, 0.5]
    assert Descent([p], True).step() is True


def test_groups_and_views(module: Any) -> None:
    group = module.optim.Optimizer._group_tensors_by_device_and_dtype
    a, b = module.ones(1), module.ones(1, dtype=module.float64)
    groups = group([[a, b, a], [None, b, a]], with_indices=True)
    assert {k[1]: v for k, v in groups.items()} == {
        module.float32: ([[a, a], [None, a]], [0, 2]),
        module.float64: ([[b], [b]], [1]),
    }
    params, grads = [module.ones(1, dtype=module.complex64), a], [module.ones(1, dtype=module.complex64), a]
    helpers_of(module)._view_as_real(params, grads)
    assert params[0].shape == grads[0].shape == (1, 2) and params[1] is a
    assert helpers_of(module)._default_to_fused_or_foreach([a], True) == (False, False)
