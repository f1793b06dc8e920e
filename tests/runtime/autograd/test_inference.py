"""Inference mode: what its tensors are, and what they refuse."""

import numpy as np
import pytest

import vivace as torch


@pytest.fixture
def normal():
    return torch.ones(3)


@pytest.fixture
def inferred():
    with torch.inference_mode():
        return torch.ones(3)


def test_what_is_made_in_the_mode_is_an_inference_tensor(normal):
    parameter = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        made = [
            torch.zeros(2),
            torch.arange(3),
            torch.tensor([1.0]),
            torch.from_numpy(np.ones(2)),
            torch.randn(2),
            normal * 2,
            parameter * 2,
            normal.argmax(),
            torch.cat([normal, normal]),
            normal.to(torch.float64),
            torch.nn.Linear(2, 2).weight,
        ]
        made += [made[0].view(2, 1), made[0][0], made[0].detach(), made[0].split(1)[0]]
        kept = [normal, normal.contiguous(), normal.view(3, 1), normal[0]]
        assert not (parameter * 2).requires_grad
        with torch.enable_grad():
            assert not (parameter * 2).requires_grad
        with torch.inference_mode(False):
            assert (parameter * 2).requires_grad and not torch.ones(1).is_inference()
    assert all(t.is_inference() for t in made) and not any(t.is_inference() for t in kept)
    assert not torch.is_inference(torch.ones(1)) and torch.is_inference(made[0])


def test_in_place_on_an_inference_tensor(inferred, normal):
    with torch.inference_mode():
        inferred.add_(1)
        normal.add_(1)
    for write in (
        lambda: inferred.add_(1),
        lambda: inferred.__setitem__(0, 1.0),
        lambda: torch.add(normal, normal, out=inferred),
    ):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            write()
    assert inferred.tolist() == normal.tolist() == [2.0] * 3


def test_outside_of_the_mode(inferred):
    assert not (inferred * 2).is_inference() and inferred.view(3, 1).is_inference()
    with pytest.raises(RuntimeError, match="do not track version counter"):
        inferred._version  # noqa: B018
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        inferred.requires_grad_()
    inferred.clone().requires_grad_().sum().backward()


def test_saving_for_backward_is_refused(inferred):
    parameter = torch.ones(3, requires_grad=True)
    assert (inferred + parameter).requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        inferred * parameter
    with torch.no_grad():
        assert (inferred * parameter).tolist() == [1.0] * 3

    class Save(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 1

    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        Save.apply(parameter, inferred)


def test_requires_grad_of_an_inference_tensor_records_nothing():
    with torch.inference_mode():
        x = torch.ones(3, requires_grad=True)
    assert x.requires_grad and not (x * 2).requires_grad


def test_as_a_decorator(normal):
    @torch.inference_mode()
    def double(x):
        assert torch.is_inference_mode_enabled()
        return x * 2

    assert double(normal).is_inference() and not torch.is_inference_mode_enabled()
