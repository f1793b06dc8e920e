"""Steps made of operators, where autograd records them (differentiable=True) or the native step can't read the memory:
state is replaced, never written to.
"""

import vivace


def step(optimizer, group, update):
    """`update(p, grad, state, group)` for each parameter that has a gradient."""
    with vivace.set_grad_enabled(bool(group.get("differentiable"))):
        for p in group["params"]:
            if p.grad is not None:
                update(p, -p.grad if group["maximize"] else p.grad, optimizer.state[p], group)


def renew(state):
    """Puts copies in the place of a state's tensors, so that writes leave alone what an earlier step saved."""
    state.update({name: value.clone() for name, value in state.items() if isinstance(value, vivace.Tensor)})


def sgd(p, grad, state, group):
    if group["weight_decay"] != 0:
        grad = grad + p * group["weight_decay"]
    if group["momentum"] != 0:
        buffer = state.get("momentum_buffer")
        buffer = grad.clone() if buffer is None else buffer * group["momentum"] + grad * (1 - group["dampening"])
        state["momentum_buffer"] = buffer
        grad = grad + buffer * group["momentum"] if group["nesterov"] else buffer
    p.sub_(grad * group["lr"])


def adam(p, grad, state, group):
    if not state:
        state["step"] = vivace.tensor(0.0, dtype=vivace.float32)
        state["exp_avg"], state["exp_avg_sq"] = vivace.zeros_like(p), vivace.zeros_like(p)
    state["step"] = state["step"] + 1
    count = state["step"].item()
    beta1, beta2 = group["betas"]
    if group["decoupled_weight_decay"]:
        p.mul_(1 - group["lr"] * group["weight_decay"])
    elif group["weight_decay"] != 0:
        grad = grad + p * group["weight_decay"]
    state["exp_avg"] = state["exp_avg"].lerp(grad, 1 - beta1)
    state["exp_avg_sq"] = square = state["exp_avg_sq"] * beta2 + grad * grad.conj() * (1 - beta2)
    if group["amsgrad"]:
        largest = state.get("max_exp_avg_sq")
        state["max_exp_avg_sq"] = square = square if largest is None else vivace.maximum(largest, square)
    scale = (square / (1 - beta2**count)).sqrt() + group["eps"]
    p.sub_(state["exp_avg"] / scale * (group["lr"] / (1 - beta1**count)))
