"""How many operators of PyTorch's database have PyTorch's derivatives in forward mode.

    CONFORMANCE=folder python -m tools.forward_conformance [--ops REGEX] [--samples N] [--list]

Needs PyTorch, whose database it is, and the folder of opinfo_conformance.py, which turns its samples into vivace's
tensors. An operator counts if every sample has the tangents that PyTorch finds, in float64 and in complex128.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import os
import re
import signal
import sys
import time
import warnings
from collections import Counter
from typing import Any

import torch

import vivace

sys.path.insert(0, os.environ.get("CONFORMANCE", "../shared/conformance"))
harness: Any = importlib.import_module("opinfo_conformance")

SECONDS = 60
"""For all samples of one operator in one dtype."""


class JvpCheck(harness.GradCheck):  # type: ignore[misc]
    """Compares the tangents of the outputs, for fixed tangents of the tensors that OpInfo marks as differentiable."""

    def compute(self, adapter: Any, fn: Any, sample: Any) -> Any:
        forward_ad = importlib.import_module(f"{adapter.module.__name__}.autograd.forward_ad")
        tree = adapter.convert((sample.input, sample.args, sample.kwargs))
        generator = torch.Generator().manual_seed(0)
        with forward_ad.dual_level():
            duals = {}
            for leaf in adapter.tensors(tree):
                if leaf.requires_grad and id(leaf) not in duals:
                    dtype = getattr(torch, adapter.dtype_name(leaf.dtype))
                    tangent = adapter.convert(torch.randn(tuple(leaf.shape), dtype=dtype, generator=generator))
                    duals[id(leaf)] = forward_ad.make_dual(leaf.detach(), tangent)
            if not duals:
                raise harness.Skip("nothing to differentiate by")
            first, args, kwargs = replaced(tree, duals)
            wrapper = harness.rebind(self.op.gradcheck_wrapper, adapter.module)
            result = adapter.call(functools.partial(wrapper, fn), first, args, kwargs)
            outputs = adapter.tensors(harness.rebind(sample.output_process_fn_grad, adapter.module)(result))
            pairs = [forward_ad.unpack_dual(o) for o in outputs if o.is_floating_point() or o.is_complex()]
            tangents = [adapter.module.zeros_like(p) if t is None else t.clone() for p, t in pairs]
        return [], tangents

    def disagreement(self, adapter: Any, got: Any, want: Any, sample: Any, values: bool) -> Any:
        return self.differ(adapter, got[1], want[1], values, "tangents")


def replaced(tree: Any, duals: dict[int, Any]) -> Any:
    """The structure with dual tensors in the place of what they were made of."""
    if isinstance(tree, dict):
        return {k: replaced(v, duals) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "numel"):
        items = [replaced(v, duals) for v in tree]
        return items if isinstance(tree, list) else type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    return duals.get(id(tree), tree)


def out_of_time(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def measure(op: Any, dtype: str, samples: int, candidate: Any) -> tuple[Counter[str], str]:
    """How many samples pass, fail and are skipped, and what is wrong with the first that fails."""
    check = JvpCheck(op, "grad", dtype, candidate)
    counts: Counter[str] = Counter()
    problem = ""
    signal.alarm(SECONDS)
    try:
        config = argparse.Namespace(max_samples=samples)
        for index, outcome, reason in check.run(None, -1, config, lambda _: None):
            counts[outcome] += 1
            if outcome not in ("pass", "skip") and not problem:
                problem = f"{dtype}, sample {index}: {reason}"
    except TimeoutError as error:
        counts["fail"] += 1
        problem = problem or f"{dtype}: {error}"
    finally:
        signal.alarm(0)
    return counts, problem


def main() -> None:
    """Prints the operators that differ, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", default="", metavar="REGEX")
    parser.add_argument("--samples", type=int, default=12, metavar="N", help="per operator and dtype; 0: all")
    parser.add_argument("--list", action="store_true", help="say what is wrong with each operator that fails")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, out_of_time)
    candidate = harness.Adapter(vivace)
    start, totals, samples = time.time(), Counter[str](), Counter[str]()
    for op in harness.op_db:
        left_out = any(re.search(regex, op.name) for regex, _ in harness.EXCLUDED)
        if left_out or not op.supports_forward_ad or not re.search(options.ops, op.full_name):
            continue
        counts, problems = Counter[str](), []
        for dtype in ("float64", "complex128"):
            if getattr(torch, dtype) in op.backward_dtypes:
                found, problem = measure(op, dtype, options.samples, candidate)
                counts += found
                problems += [problem] if problem else []
        usable = counts["pass"] or problems
        totals["fails" if problems else "passes" if usable else "no usable sample"] += 1
        samples += counts
        if problems and options.list:
            print(f"{op.full_name}: {counts['pass']} of {counts['pass'] + counts['fail']}; {problems[0]}", flush=True)
    tried = totals["passes"] + totals["fails"]
    share = 100 * totals["passes"] / max(tried, 1)
    print(f"operators with PyTorch's tangents: {totals['passes']} of {tried}, {share:.1f} %")
    print(f"samples: {dict(itertools.islice(samples.most_common(), 5))}; {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
