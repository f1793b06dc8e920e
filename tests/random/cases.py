"""What is drawn in tests/random: functions of the module, each with whether its numbers are PyTorch's bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SEEDS = (0, 42, 2**40 + 7)
SIZES = (0, 1, 15, 16, 17, 33, 700)
Case = tuple[bool, Callable[[Any], Any]]


def _sized(make: Callable[[Any, int], Any], sizes: tuple[int, ...] = SIZES) -> dict[str, Callable[[Any], Any]]:
    return {f"_{n}": lambda torch, n=n: make(torch, n) for n in sizes}


def _all() -> dict[str, Case]:
    cases: dict[str, Case] = {}

    def add(name: str, exact: bool, make: Callable[[Any, int], Any], sizes: tuple[int, ...] = SIZES) -> None:
        cases.update({name + suffix: (exact, f) for suffix, f in _sized(make, sizes).items()})

    add("rand", True, lambda torch, n: torch.rand(n))
    add("rand_double", True, lambda torch, n: torch.rand(n, dtype=torch.float64))
    add("rand_half", True, lambda torch, n: torch.rand(n, dtype=torch.float16))
    add("rand_complex", True, lambda torch, n: torch.rand(n, dtype=torch.complex64), (4, 9))
    add("rand_like", True, lambda torch, n: torch.rand_like(torch.empty(n, 3).t()), (5,))
    add("uniform", True, lambda torch, n: torch.empty(n).uniform_(-1.3, 2.7))
    add("uniform_narrow", True, lambda torch, n: torch.empty(n).uniform_(100.24, 100.2402), (200,))
    add("uniform_transposed", True, lambda torch, n: torch.empty(n, 5).t().uniform_(), (3, 20))
    add("uniform_gaps", True, lambda torch, n: torch.empty(n, 6)[:, ::2].uniform_(), (3, 20))
    add("randn", False, lambda torch, n: torch.randn(n))
    add("randn_double", False, lambda torch, n: torch.randn(n, dtype=torch.float64))
    add("randn_half", False, lambda torch, n: torch.randn(n, dtype=torch.float16))
    add("randn_bfloat16", False, lambda torch, n: torch.randn(n, dtype=torch.bfloat16))
    add("randn_complex", False, lambda torch, n: torch.randn(n, dtype=torch.complex64), (4, 9, 20))
    add("normal_transposed", False, lambda torch, n: torch.empty(n, 5).t().normal_(2, 3), (3, 20))
    add("normal_tensors", False, lambda torch, n: torch.normal(torch.zeros(n), torch.ones(n)), (5, 20))
    add("normal_means", False, lambda torch, n: torch.normal(torch.arange(float(n)), 2.0), (5, 20))
    add("normal_numbers", False, lambda torch, n: torch.normal(1.0, 2.0, (n,)), (5, 20))
    add("randint", True, lambda torch, n: torch.randint(10, (n,)))
    add("randint_negative", True, lambda torch, n: torch.randint(-5, 5, (n,), dtype=torch.int32), (9,))
    add("randint_below_2_28", True, lambda torch, n: torch.randint(2**28 - 1, (n,)), (9,))
    add("randint_2_28", True, lambda torch, n: torch.randint(2**28, (n,)), (9,))
    add("randint_2_62", True, lambda torch, n: torch.randint(-(2**62), 2**62, (n,)), (9,))
    add("randint_float", True, lambda torch, n: torch.randint(0, 100, (n,), dtype=torch.float32), (9,))
    add("random_all", True, lambda torch, n: torch.empty(n, dtype=torch.int64).random_(-(2**63), None), (9,))
    for dtype in ("bool", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"):
        add(f"random_{dtype}", True, lambda torch, n, d=dtype: torch.empty(n, dtype=getattr(torch, d)).random_(), (9,))
    add("randperm", True, lambda torch, n: torch.randperm(n))
    add("randperm_int32", True, lambda torch, n: torch.randperm(n, dtype=torch.int32), (9,))
    add("bernoulli_number", True, lambda torch, n: torch.empty(n).bernoulli_(0.3), (100,))
    add("bernoulli_int", True, lambda torch, n: torch.empty(n, dtype=torch.int64).bernoulli_(0.7), (100,))
    add("bernoulli", True, lambda torch, n: torch.bernoulli(torch.linspace(0, 1, n)), (100,))
    add("bernoulli_double", True, lambda torch, n: torch.bernoulli(torch.linspace(0, 1, n).double()), (100,))
    add("bernoulli_tensor", True, lambda torch, n: torch.empty(n, 3).t().bernoulli_(torch.linspace(0, 1, n)), (50,))
    add("bernoulli_p", True, lambda torch, n: torch.bernoulli(torch.empty(n), 0.2), (100,))
    add("multinomial_one", True, lambda torch, n: torch.multinomial(torch.linspace(1, 2, n), 1), (20,))
    add("multinomial", True, lambda torch, n: torch.multinomial(torch.linspace(1, 2, 3 * n).view(3, n), 5), (20,))
    add("multinomial_one_again", True, lambda torch, n: torch.multinomial(torch.linspace(1, 2, n), 1, True), (20,))
    add("gamma", False, lambda torch, n: torch._standard_gamma(torch.logspace(-1.5, 2, n)), (100,))
    add(
        "gamma_double",
        False,
        lambda torch, n: torch._standard_gamma(torch.linspace(0.1, 9, n, dtype=torch.float64)),
        (100,),
    )
    add("dirichlet", False, lambda torch, n: torch._sample_dirichlet(torch.linspace(0.1, 9, n).view(-1, 5)), (100,))
    add("poisson", True, lambda torch, n: torch.poisson(torch.linspace(0, 40, n)), (200,))
    add("binomial", True, lambda torch, n: torch.binomial(torch.arange(float(n)), torch.linspace(0, 1, n)), (200,))
    add("multinomial_again", True, lambda torch, n: torch.multinomial(torch.linspace(0, 2, n), 50, True), (20,))
    add("exponential", False, lambda torch, n: torch.empty(n).exponential_(1.7), (50,))
    add("geometric", True, lambda torch, n: torch.empty(n).geometric_(0.3), (50,))
    add("log_normal", False, lambda torch, n: torch.empty(n).log_normal_(0.3, 0.5), (50,))
    add("cauchy", False, lambda torch, n: torch.empty(n).cauchy_(1, 2), (50,))
    add("dropout", True, lambda torch, n: torch.nn.functional.dropout(torch.ones(n), 0.3), (100,))
    return cases


CASES = _all()


def values(t: Any) -> list[Any]:
    """All elements; of long tensors the ends. Complex ones as pairs."""
    flat = t.flatten().tolist()
    flat = [part for x in flat for part in (x.real, x.imag)] if t.dtype.is_complex else flat
    return flat if len(flat) <= 24 else flat[:8] + flat[-18:]


def digest(torch: Any, name: str, seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    t = CASES[name][1](torch)
    after = torch.rand(2, dtype=torch.float64).tolist()  # shows that as much of the stream was used
    return {"shape": list(t.shape), "dtype": str(t.dtype), "values": values(t), "after": after}
