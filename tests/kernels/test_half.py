"""Half types compute in float32 and round once: each result equals the rounded float32 one."""

import pytest

CALLS = {
    "conv2d": lambda F, t: F.conv2d(t(2, 3, 6, 6), t(4, 3, 3, 3), t(4)),
    "conv_transpose2d": lambda F, t: F.conv_transpose2d(t(2, 3, 4, 4), t(3, 2, 3, 3)),
    "avg_pool2d": lambda F, t: F.avg_pool2d(t(2, 3, 6, 6), 2),
    "adaptive_avg_pool2d": lambda F, t: F.adaptive_avg_pool2d(t(2, 3, 6, 6), 4),
    "layer_norm": lambda F, t: F.layer_norm(t(3, 5), (5,), t(5), t(5)),
    "group_norm": lambda F, t: F.group_norm(t(2, 4, 5), 2),
    "batch_norm": lambda F, t: F.batch_norm(t(3, 4, 9), None, None, training=True),
    "softmax": lambda F, t: F.softmax(t(3, 40), 0),
    "attention": lambda F, t: F.scaled_dot_product_attention(t(1, 2, 5, 4), t(1, 2, 6, 4), t(1, 2, 6, 4)),
    "huber_loss": lambda F, t: F.huber_loss(t(3, 4), t(3, 4), reduction="none"),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_rounds_once(module, name, dtype):
    half = getattr(module, dtype)
    results = []
    for widened in (False, True):
        module.manual_seed(0)

        def tensor(*shape, widened=widened):
            t = module.randn(*shape).to(half)
            return t.float() if widened else t

        results.append(CALLS[name](module.nn.functional, tensor))
    assert results[0].dtype == half
    assert module.allclose(results[0].float(), results[1].to(half).float(), rtol=1e-2, atol=1e-2)
