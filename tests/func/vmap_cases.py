"""Calls of an entry in vmap: its samples, of which some tensors stand for several. The value to expect is the loop's.

`python -m tests.func.vmap_cases` counts which entries have a rule; with `--against torch` it compares with torch.vmap.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from catalogue.kinds import Entry
from tests import support
from tests.support import Call, array, assert_close, dtype_of, make, outputs

SIZE = 2


def variants(call: Call) -> Iterator[tuple[str, list[int | None]]]:
    """Which tensors are batched, and along which of their dims."""
    n = len(call.tensors)
    if n == 0:
        return
    yield "all", [0] * n
    if "strided" not in call.entry.name:  # which looks at memory
        yield "last", [-1] * n
    if n > 1:
        for k in range(min(n, 4)):
            yield f"only {k}", [0 if i == k else None for i in range(n)]


def sample_of(t: Any, k: int) -> Any:
    """Another tensor of the same kind: what holds for t's values, such as being positive, holds for its."""
    if k == 0:
        return t
    if t.is_floating_point() or t.is_complex():
        return (t * 0.75).to(t.dtype)
    return t.flip(0) if t.dim() else t


def batches(call: Call, dims: list[int | None]) -> list[Any]:
    stack = call.module.stack
    return [
        t if d is None else stack([sample_of(t, k) for k in range(SIZE)], d)
        for t, d in zip(call.tensors, dims, strict=True)
    ]


def with_tensors(call: Call, tensors: list[Any]) -> Call:
    """The call with these tensors in the place of its own."""
    items = iter(tensors)
    return call.map(lambda _: next(items))


def sample(call: Call, t: Any, dim: int | None, k: int) -> Any:
    if dim is None:
        return t
    one = t.select(dim, k)
    return one.clone() if "strided" in call.entry.name else one  # with memory of its own


def looped(call: Call, dims: list[int | None], given: list[Any]) -> list[list[Any]]:
    """The outputs for each sample."""
    return [
        outputs(call.module, with_tensors(call, [sample(call, t, d, k) for t, d in zip(given, dims, strict=True)])())
        for k in range(SIZE)
    ]


def in_vmap(call: Call, dims: list[int | None], given: list[Any]) -> list[Any]:
    def run(*tensors: Any) -> tuple[Any, ...]:
        return tuple(outputs(call.module, with_tensors(call, list(tensors))()))

    return list(call.module.vmap(run, in_dims=tuple(dims))(*given))


def check(entry: Entry, number: int, what: str) -> Counter[str]:
    """Every variant of a sample against the loop; how many went by rules alone ("rule"), or fell back ("loop")."""
    import vivace

    found: Counter[str] = Counter()
    for variant, dims in variants(make(vivace, entry, number)):
        call = make(vivace, entry, number)
        given = batches(call, dims)
        try:
            want = looped(call, dims, given)
        except Exception:
            continue
        if not all(isinstance(w, vivace.Tensor) for row in want for w in row):
            continue
        if any(len({tuple(w.shape) for w in column}) > 1 for column in zip(*want, strict=True)):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            got = in_vmap(call, dims, given)
        found["loop" if any("performance drop" in str(w.message) for w in caught) else "rule"] += 1
        assert len(got) == len(want[0])
        for g, column in zip(got, zip(*want, strict=True), strict=True):
            assert dtype_of(g) == dtype_of(column[0]), f"{what} {variant}: {dtype_of(g)}, not {dtype_of(column[0])}"
            for k in range(SIZE):
                assert_close(array(g[k]), array(column[k]), dtype_of(g), f"{what} {variant} {k}", 4.0)
    return found


def number_of(outs: list[Any]) -> Any:
    """One number that depends on all of what a call gives."""
    found = [o.abs() if o.is_complex() else o for o in outs if o.is_floating_point() or o.is_complex()]
    return sum((o * o.cos()).sum() for o in found)


def check_gradients(entry: Entry, number: int, what: str) -> bool:
    """grad in vmap, and vmap over the vectors of vjp, against loops; False if there is nothing to differentiate."""
    import vivace

    call = make(vivace, entry, number)
    at = tuple(i for i, t in enumerate(call.tensors) if t.is_floating_point())
    if not at or any(t.is_complex() for t in call.tensors) or "strided" in entry.name:
        return False

    def run(*tensors: Any) -> list[Any]:
        return [o for o in outputs(vivace, with_tensors(call, list(tensors))()) if isinstance(o, vivace.Tensor)]

    def direct(*tensors: Any) -> Any:
        return number_of(run(*tensors))

    def real(*tensors: Any) -> tuple[Any, ...]:
        full = list(call.tensors)
        for i, t in zip(at, tensors, strict=True):
            full[i] = t
        return tuple(o for o in run(*full) if o.is_floating_point())

    given = batches(call, [0] * len(call.tensors))
    gradient = vivace.func.grad(direct, at)
    try:
        want = [gradient(*[t[k] for t in given]) for k in range(SIZE)]
    except Exception:
        return False
    assert_samples(vivace.vmap(gradient)(*given), want, f"{what} gradient")
    inputs = [call.tensors[i] for i in at]
    if real(*inputs):
        found, pull = vivace.func.vjp(real, *inputs)
        vectors = [vivace.stack([vivace.ones_like(o), o.cos()]) for o in found]
        want = [pull(tuple(v[k] for v in vectors)) for k in range(SIZE)]
        assert_samples(vivace.vmap(lambda *v: pull(v))(*vectors), want, f"{what} vjp")
    return True


def assert_samples(got: Any, want: list[Any], what: str) -> None:
    for g, *column in zip(got, *want, strict=True):
        for k, w in enumerate(column):
            assert_close(array(g[k]), array(w), dtype_of(g), what, 20.0)


def against(entry: Entry, number: int, torch: Any) -> str:
    """How vmap compares with PyTorch's for all variants of a sample: "same", "differs", "both refuse", ..."""
    import vivace

    worst = "same"
    order = ("same", "both refuse", "torch refuses", "refused", "differs")
    for _, dims in variants(make(vivace, entry, number)):
        results = []
        for module in (vivace, torch):
            call = make(module, entry, number)
            try:
                results.append(in_vmap(call, dims, batches(call, dims)))
            except Exception:
                results.append(None)
        ours, theirs = results
        if ours is None or theirs is None:
            verdict = "both refuse" if ours is theirs else "refused" if ours is None else "torch refuses"
        else:
            verdict = "same"
            try:
                for a, b in zip(ours, theirs, strict=True):
                    assert dtype_of(a) == dtype_of(b)
                    assert_close(array(a), array(b), dtype_of(a), "", 16.0)
            except (AssertionError, ValueError):
                verdict = "differs"
        worst = max(worst, verdict, key=order.index)
    return worst


def verdict(entry: Entry) -> str:
    """Of an entry: "rule"; "loop"; "random"; "refused", in words of vmap; "no tensors". Throws where values differ."""
    import vivace

    total: Counter[str] = Counter()
    try:
        if support.draws_numbers(make(vivace, entry, 0)):
            return "random"
        for number, what in itertools.islice(support.numbered(entry), 8):
            total += check(entry, number, what)
    except RuntimeError as error:
        if "randomness error mode" in str(error):
            return "random"
        if str(error).startswith("vmap:"):
            return "refused"
        raise
    return "loop" if total["loop"] else "rule" if total["rule"] else "no tensors"


def compare(entries: tuple[Entry, ...]) -> None:
    import torch

    counts: Counter[str] = Counter()
    order = ("same", "both refuse", "torch refuses", "refused", "differs")
    for entry in entries:
        found = [against(entry, number, torch) for number, _ in itertools.islice(support.numbered(entry), 4)]
        worst = max(found, key=order.index)
        counts[worst] += 1
        if worst != "same":
            print(f"{entry.id}: {worst}")
    print(dict(counts))


def main() -> None:
    entries = support.entries()
    if sys.argv[1:] == ["--against", "torch"]:
        return compare(entries)
    counts: Counter[str] = Counter()
    differentiable: Counter[str] = Counter()
    for entry in entries:
        found = verdict(entry)
        counts[found] += 1
        if any(s.requires_grad for s in support.specs(entry, 0)):
            differentiable[found] += 1
        if found in ("loop", "refused"):
            print(f"{entry.id}: {found}")
    print("all:", dict(counts))
    print("differentiable:", dict(differentiable))
    return None


if __name__ == "__main__":
    main()
