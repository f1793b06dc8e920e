"""batch_norm of matrices and of images in both formats, with and without statistics of its own, against float64."""

import numpy as np
import pytest

SHAPES = [(2, 3), (9, 40), (70, 33), (130, 600), (5, 7, 3), (6, 4, 20), (3, 17, 5, 6), (2, 40, 9, 4), (2, 3, 2, 3, 4)]


def _reference(x, w, b, mean, var, g):
    """The result, and the gradients by input, weight and bias."""
    axes, shape = (0, *range(2, x.ndim)), [1, -1] + [1] * (x.ndim - 2)
    fixed = mean is not None
    mean, var = (mean, var) if fixed else (x.mean(axes), x.var(axes))
    rstd = 1 / np.sqrt(var + 1e-5)
    normal = (x - mean.reshape(shape)) * rstd.reshape(shape)
    dn = g * w.reshape(shape)
    dx = dn if fixed else dn - dn.mean(axes, keepdims=True) - normal * (dn * normal).mean(axes, keepdims=True)
    return normal * w.reshape(shape) + b.reshape(shape), dx * rstd.reshape(shape), (g * normal).sum(axes), g.sum(axes)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("last", [False, True], ids=["plain", "channels_last"])
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_batch_norm(module, shape, last, train, dtype):
    rng = np.random.default_rng(sum(shape))
    values = [rng.standard_normal(s) + 2 for s in (shape, shape[1], shape[1], shape[1], shape, shape[1])]
    values[5] = np.abs(values[5]) + 0.1
    x, w, b, mean, g, var = (module.tensor(v).to(getattr(module, dtype)) for v in values)
    if last and len(shape) in (4, 5):
        x = x.contiguous(memory_format=module.channels_last if len(shape) == 4 else module.channels_last_3d)
    for t in (x, w, b):
        t.requires_grad_()
    running = (mean.clone(), var.clone())
    y = module.nn.functional.batch_norm(x, *running, w, b, train, 0.2)
    assert y.stride() == x.stride()
    results = [y, *module.autograd.grad(y, (x, w, b), g)]
    wide = [t.detach().double().numpy() for t in (x, w, b)]
    fixed = (None, None) if train else (mean.double().numpy(), var.double().numpy())
    tolerance = {"float32": 2e-3, "float64": 1e-9, "bfloat16": 0.1}[dtype]
    for got, want in zip(results, _reference(*wide, *fixed, g.double().numpy()), strict=True):
        scale = max(1, np.abs(want).max())
        np.testing.assert_allclose(got.detach().double().numpy() / scale, want / scale, atol=tolerance, rtol=tolerance)
    if train:
        axes = (0, *range(2, len(shape)))
        for got, old, new in zip(running, (mean, var), (wide[0].mean(axes), wide[0].var(axes, ddof=1)), strict=True):
            want = 0.8 * old.double().numpy() + 0.2 * new
            np.testing.assert_allclose(got.double().numpy(), want, rtol=max(1e-5, tolerance / 5))
    else:
        assert module.equal(running[0], mean)


def test_threads_share_channels(module):
    x = module.tensor(np.random.default_rng(0).standard_normal((300, 700)))
    before, results = module.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            module.set_num_threads(threads)
            results.append(module.nn.functional.batch_norm(x, None, None, training=True))
    finally:
        module.set_num_threads(before)
    assert all(module.allclose(results[0], r, rtol=1e-12, atol=1e-12) for r in results)
