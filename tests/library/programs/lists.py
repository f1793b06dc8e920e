"""Lists of tensors, optional arguments, numbers and strings, arguments by keyword alone."""

import torch
from torch import Tensor


@torch.library.custom_op("mix::blend", mutates_args=())
def blend(
    parts: list[Tensor], weights: list[float], bias: Tensor | None = None, *, mode: str = "sum"
) -> tuple[Tensor, list[Tensor]]:
    scaled = [p * w for p, w in zip(parts, weights, strict=True)]
    total = torch.stack(scaled).sum(0)
    if mode == "mean":
        total = total / len(parts)
    if bias is not None:
        total = total + bias
    return total, scaled


def remember(ctx, inputs, keyword_only_inputs, output):
    parts, ctx.weights, bias = inputs
    ctx.has_bias, ctx.mode, ctx.n = bias is not None, keyword_only_inputs["mode"], len(parts)


def blend_backward(ctx, grad_total, grad_scaled):
    per_part = grad_total / ctx.n if ctx.mode == "mean" else grad_total
    parts = [(per_part + g) * w for g, w in zip(grad_scaled, ctx.weights, strict=True)]
    return parts, None, grad_total if ctx.has_bias else None


blend.register_autograd(blend_backward, setup_context=remember)

a, b = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
bias = torch.zeros(2, requires_grad=True)
total, scaled = blend([a, b], [0.5, 2.0], bias, mode="mean")
print(total.detach(), [s.detach() for s in scaled])
(total.sum() + scaled[1].sum()).backward()
print(a.grad, b.grad, bias.grad)
print([t.detach() for t in torch.ops.mix.blend([a, b], [1.0, 1.0])[1]])
for wrong in ([a, 3], [a, b], "ab"):
    try:
        torch.ops.mix.blend(wrong, [1.0] if wrong == "ab" else ["x"])
    except (TypeError, RuntimeError) as error:
        print(type(error).__name__ in ("TypeError", "RuntimeError"))
print(torch.library.infer_schema(blend._init_fn, mutates_args=()))
