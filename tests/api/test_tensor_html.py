"""What notebooks show of tensors: a summary that is right, quick and never an error."""

import math
import time
from html.parser import HTMLParser
from itertools import pairwise

import pytest

import vivace as torch


class Reader(HTMLParser):
    """The texts of all cells and other elements; notes tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.open = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_data(self, data):
        self.texts.append(data)


def texts(t):
    return Reader(t._repr_html_()).texts


NUMBERS = ("min", "max", "mean", "std", "NaN", "inf", "zeros", "True")


def rows(t):
    """Name to text of the numbers."""
    found = {}
    shown = texts(t)
    for name, text in pairwise(shown):
        if name.split(" ")[0] in NUMBERS:
            found.setdefault(name, text)
    return found


def test_numbers():
    t = torch.tensor([[1.0, -3.0, 0.5], [2.0, 0.0, 4.5]])
    assert rows(t) == {
        "min": "-3", "max": "4.5", "mean": "0.8333", "std": f"{t.std().item():.4g}", "zeros": "16.7 %"
    }  # fmt: skip
    assert {"Tensor", "(2, 3) · float32 · 24 B", "0.5", "4.5"} <= set(texts(t))
    assert rows(torch.arange(-5, 5)) == {"min": "-5", "max": "4", "mean": "-0.5", "std": "3.028", "zeros": "10 %"}


def test_not_finite():
    t = torch.tensor([math.nan, math.inf, -math.inf, 1.0, 3.0])
    assert rows(t) == {"min": "1", "max": "3", "mean": "2", "std": "1.414", "NaN": "1", "inf": "2"}
    assert rows(torch.full((4,), math.nan)) == {"NaN": "4"}
    assert rows(torch.tensor([3e38, -3e38]))["std"] == "4.243e+38"
    assert rows(torch.tensor([6e4] * 9, dtype=torch.float16))["mean"] in ("60000", "6e+04")


def test_kinds():
    assert rows(torch.tensor([True, False, True])) == {"True": "2 (66.7 %)"}
    assert rows(torch.tensor([3 + 4j, 0j]))["max of |z|"] == "5"
    for t in (torch.empty(0, 3), torch.empty(2, 3, device="meta")):
        assert rows(t) == {} and str(tuple(t.shape)) in "".join(texts(t))
    assert "3.25" in texts(torch.tensor(3.25)) and rows(torch.tensor(3.25)) == {}
    assert "18446744073709551615" in texts(torch.tensor(2**64 - 1, dtype=torch.uint64))
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.float64, torch.bfloat16, torch.uint16):
        assert rows(torch.ones(20, dtype=dtype))["mean"] == "1"


def test_gradients_and_layout():
    a = torch.ones(2, 3, requires_grad=True)
    assert "requires_grad" in " ".join(texts(a))
    assert "grad_fn=MulBackward0" in " ".join(texts(a * 2))
    assert "Parameter" in texts(torch.nn.Parameter(torch.ones(2)))
    assert "strides (1, 2)" in " ".join(texts(torch.ones(3, 2).t()))


def test_edges_of_values():
    found = texts(torch.arange(10_000).view(100, 100))
    assert {"0", "102", "9999", "…", "⋮"} <= set(found) and "50" not in found
    assert "[0, 0, :, :]" in texts(torch.ones(2, 3, 4, 5))
    assert "histogram" in texts(torch.randn(100)) and "histogram" not in texts(torch.ones(100))


def test_samples_of_large_tensors():
    torch.manual_seed(0)
    t = torch.randn(3_000_000)
    found = rows(t)
    assert found["max"] == f"{t.max().item():.4g}" and float(found["std"]) == pytest.approx(1, abs=0.01)
    t[123_456] = math.nan
    found = rows(t)
    assert found["NaN"] == "1" and found["mean"].startswith("≈")
    half = rows(t.nan_to_num().half())
    assert abs(float(half["mean"].removeprefix("≈ "))) < 0.05
    assert rows(torch.randn(1500, 1500).t())["std"].startswith("≈")
    columns = torch.arange(1024.0).repeat(2000, 1).half()
    assert float(rows(columns)["mean"].removeprefix("≈ ")) == pytest.approx(511.5, rel=0.05)


def test_it_is_quick():
    t = torch.randn(10_000_000)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        t._repr_html_()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05  # 3 ms where nothing else runs


def test_never_an_error():
    class Named(torch.Tensor):
        pass

    Named.__name__ = "<b>"
    assert "<b>" in texts(torch.ones(2).as_subclass(Named))

    class Broken(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise ValueError("no <function> works")

    text = torch.ones(2).as_subclass(Broken)._repr_html_()
    assert text.startswith("<pre>") and "no &lt;function&gt; works" in text
    sparse = torch.eye(3).to_sparse()
    assert "indices=" in sparse._repr_html_()
