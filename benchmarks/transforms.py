"""torch.func beside PyTorch: gradients of each sample, Jacobians, Hessians, ensembles.

`python -m benchmarks.transforms`. Times are the least of several rounds, in which both take turns; PyTorch's column
needs PyTorch.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 0.3


def cases(torch: Any) -> dict[str, Callable[[], Any]]:
    func, vmap = torch.func, torch.vmap
    t = lambda *shape: torch.from_numpy(numbers(*shape))
    functional = importlib.import_module(f"{torch.__name__}.nn.functional")

    def mlp(parameters: Any, x: Any) -> Any:
        (w1, b1), (w2, b2) = parameters
        return functional.linear(functional.linear(x, w1, b1).tanh(), w2, b2)

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        return ((mlp(parameters, x) - y) ** 2).sum()

    small = ((t(16, 8), t(16)), (t(4, 16), t(4)))
    x, y = t(64, 8), t(64, 4)
    each = vmap(func.grad(loss), in_dims=(None, 0, 0))

    def cnn_loss(parameters: Any, image: Any, target: Any) -> Any:
        k1, k2, w = parameters
        h = functional.max_pool2d(functional.conv2d(image[None], k1).relu(), 2)
        h = functional.max_pool2d(functional.conv2d(h, k2).relu(), 2)
        return functional.cross_entropy(functional.linear(h.flatten(1), w), target[None])

    cnn = (t(8, 1, 3, 3), t(16, 8, 3, 3), t(10, 400))
    images, targets = t(16, 1, 28, 28), torch.arange(16) % 10
    each_image = vmap(func.grad(cnn_loss), in_dims=(None, 0, 0))

    large = ((t(100, 100), t(100)), (t(100, 100), t(100)))
    point = t(100)
    jacobian = func.jacrev(lambda z: mlp(large, z))
    forward = func.jacfwd(lambda z: mlp(large, z))
    square = ((t(30, 30), t(30)), (t(1, 30), t(1)))
    hessian = func.hessian(lambda z: mlp(square, z).sum())
    place = t(30)

    models = [torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)) for _ in range(10)]
    state, buffers = func.stack_module_state(models)
    ensemble = vmap(lambda p, b, z: func.functional_call(models[0], (p, b), (z,)), in_dims=(0, 0, None))
    a, b = t(100, 3), t(100, 3)
    tiny = vmap(lambda p, q: (p.sin() * q).sum() / (q.norm() + 1))

    return {
        "vmap of a small function, 100 samples": lambda: tiny(a, b),
        "gradients of each of 64 samples, MLP 8-16-4": lambda: each(small, x, y),
        "gradients of each of 16 images, CNN": lambda: each_image(cnn, images, targets),
        "jacrev, MLP 100-100-100": lambda: jacobian(point),
        "jacfwd, MLP 100-100-100": lambda: forward(point),
        "hessian, MLP 30-30-1": lambda: hessian(place),
        "ensemble of 10 MLPs, batch of 64": lambda: ensemble(state, buffers, x),
    }


def leaves(result: Any) -> list[Any]:
    return [leaf for r in result for leaf in leaves(r)] if isinstance(result, tuple) else [result.detach().numpy()]


def seconds(call: Callable[[], Any], target: float = 0.05) -> float:
    start = time.perf_counter()
    call()
    count = max(1, int(target / max(time.perf_counter() - start, 1e-6)))
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def main() -> None:
    modules = []
    for name in ("torch", "vivace"):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        module.set_num_threads(1)
        module.manual_seed(0)
        modules.append((name, cases(module)))
        for call in modules[-1][1].values():
            call()
    for title in modules[-1][1]:
        best = {name: min(seconds(calls[title]) for _ in range(5)) for name, calls in modules}
        if len(modules) == 2 and not title.startswith("ensemble"):
            for a, b in zip(leaves(modules[0][1][title]()), leaves(modules[1][1][title]()), strict=True):
                np.testing.assert_allclose(a, b, 1e-3, 1e-4)
        row = "".join(f"{name} {best[name] * 1e6:10.1f} us  " for name, _ in reversed(modules))
        ratio = f"{best['torch'] / best['vivace']:.1f}x" if "torch" in best else ""
        print(f"{title:48}{row}{ratio}")


if __name__ == "__main__":
    main()
