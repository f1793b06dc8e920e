"""differentiable=True: what a step does can be differentiated by the gradients and the parameters before it."""

import pytest

import vivace as torch
from vivace.autograd import gradcheck

OPTIMIZERS = [
    (torch.optim.SGD, {"lr": 0.1, "weight_decay": 0.1}),
    (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True}),
    (torch.optim.Adam, {"lr": 0.1, "weight_decay": 0.1}),
    (torch.optim.Adam, {"lr": 0.1, "amsgrad": True}),
    (torch.optim.AdamW, {"lr": 0.1, "weight_decay": 0.1}),
    (torch.optim.RMSprop, {"lr": 0.1, "momentum": 0.5, "centered": True}),
    (torch.optim.RMSprop, {"lr": 0.1, "weight_decay": 0.1}),
    (torch.optim.Adadelta, {"lr": 0.1}),
    (torch.optim.Adagrad, {"lr": 0.1, "lr_decay": 0.1}),
    (torch.optim.Adamax, {"lr": 0.1}),
    (torch.optim.ASGD, {"lr": 0.1, "t0": 1}),
    (torch.optim.NAdam, {"lr": 0.1}),
    (torch.optim.RAdam, {"lr": 0.1, "betas": (0.5, 0.6)}),
]


@pytest.mark.parametrize(("optimizer", "options"), OPTIMIZERS, ids=lambda v: getattr(v, "__name__", None))
def test_two_steps(optimizer, options):
    def steps(start, first, second):
        p = start.clone()
        opt = optimizer([p], differentiable=True, **options)
        for grad in (first, second, first):
            p.grad = grad
            opt.step()
        return p

    torch.manual_seed(0)
    values = [torch.rand(4, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert gradcheck(steps, values, check_undefined_grad=False)

    p = values[0].detach().clone().requires_grad_()
    plain = optimizer([p], **options)
    for grad in (values[1], values[2], values[1]):
        p.grad = grad.detach().clone()
        plain.step()
    torch.testing.assert_close(steps(*values).detach(), p.detach())


def test_learning_rate_that_requires_grad():
    lr = torch.tensor(0.1, requires_grad=True)
    p = torch.ones(2, requires_grad=True).clone()
    p.grad = torch.tensor([2.0, 3.0])
    torch.optim.SGD([p], lr=lr, differentiable=True).step()
    p.sum().backward()
    assert lr.grad.item() == -5.0
