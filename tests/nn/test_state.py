"""state_dict and load_state_dict."""

from __future__ import annotations

from typing import Any

import pytest


def test_round_trip(module: Any) -> None:
    first, second = (module.nn.Sequential(module.nn.Linear(2, 2), module.nn.BatchNorm1d(2)) for _ in range(2))
    state = first.state_dict()
    assert dict(state._metadata) == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 2}}
    result = second.load_state_dict(state)
    assert str(result) == "<All keys matched successfully>"
    assert all(
        module.equal(a, b) for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    )
    assert not module.equal(first[0].weight, first[0].weight + 1)


def test_values_share_memory(module: Any) -> None:
    layer = module.nn.Linear(2, 2)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    state["bias"].fill_(7)
    assert layer.bias[0].item() == 7
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight
    assert list(layer.state_dict(prefix="x.")) == ["x.weight", "x.bias"]


def test_mismatches(module: Any) -> None:
    model = module.nn.Sequential(module.nn.Linear(2, 2))
    state = model.state_dict()
    del state["0.bias"]
    state["1.extra"] = module.ones(1)
    state["0.weight"] = module.ones(3, 3)
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "1.extra". \n'
        "\tsize mismatch for 0.weight: copying a param with shape torch.Size([3, 3]) from checkpoint, the "
        "shape in current "
        "model is torch.Size([2, 2])."
    )
    del state["0.weight"]
    result = model.load_state_dict(state, strict=False)
    assert result.missing_keys == ["0.weight", "0.bias"]
    assert result.unexpected_keys == ["1.extra"]


def test_assign(module: Any) -> None:
    layer = module.nn.Linear(2, 2)
    state = {name: value.double() for name, value in layer.state_dict().items()}
    layer.load_state_dict(state, assign=True)
    assert layer.weight.dtype == module.float64
    assert isinstance(layer.weight, module.nn.Parameter)
    assert layer.weight.requires_grad
    assert layer.weight is layer._parameters["weight"]


def test_extra_state(module: Any) -> None:
    class Extra(module.nn.Module):
        seen = None

        def get_extra_state(self) -> Any:
            return {"step": 3}

        def set_extra_state(self, state: Any) -> None:
            self.seen = state

    layer = Extra()
    assert dict(layer.state_dict()) == {"_extra_state": {"step": 3}}
    layer.load_state_dict(layer.state_dict())
    assert layer.seen == {"step": 3}


def test_hooks(module: Any) -> None:
    layer = module.nn.Linear(2, 2)
    log: list[Any] = []
    layer.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(("save", prefix, keep)))
    layer.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(mark=module.ones(1)))
    state = layer.state_dict()
    assert list(state) == ["weight", "bias", "mark"]
    del state["mark"], state["bias"]
    layer.register_load_state_dict_pre_hook(lambda m, state, *rest: log.append(("load", len(state))))
    handle = layer.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    assert str(layer.load_state_dict(state)) == "<All keys matched successfully>"
    handle.remove()
    with pytest.raises(RuntimeError, match="Missing key"):
        layer.load_state_dict(state)
    assert log == [("save", "", False), ("load", 1), ("load", 1)]
