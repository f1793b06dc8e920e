"""viz.graph: what a picture of the autograd graph shows."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

import vivace as torch
from vivace import nn, viz

SVG = "{http://www.w3.org/2000/svg}"


def read(picture):
    """(texts, boxes as (left, top, right, bottom), number of edges)"""
    root = ET.fromstring(str(picture))
    texts = [t.text for t in root.iter(SVG + "text")]
    boxes = []
    for group in root.iter(SVG + "g"):
        r = group.find(SVG + "rect").attrib
        x, y = float(r["x"]), float(r["y"])
        boxes.append((x, y, x + float(r["width"]), y + float(r["height"])))
    return texts, boxes, sum("marker-end" in p.attrib for p in root.iter(SVG + "path"))


def mlp():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def test_names_shapes_and_lines():
    model = mlp()
    loss = model(torch.ones(2, 4)).sum()
    line = test_names_shapes_and_lines.__code__.co_firstlineno + 2
    picture = viz.graph(loss, params=dict(model.named_parameters()))
    texts, boxes, edges = read(picture)
    assert {"SumBackward0", "LinearBackward0", "ReluBackward0", "0.weight", "2.bias", "output"} <= set(texts)
    assert {"(8, 4)", "(2, 8)", "scalar", f"{loss.item():.5g}"} <= set(texts)
    assert f"test_graph.py:{line} in test_names_shapes_and_lines" in texts
    assert len(boxes) == 4 + 4 + 1 and edges == 8
    assert set(read(viz.graph(loss, model))[0]) == set(texts)
    assert "parameter" in read(viz.graph(loss))[0] and "0.weight" not in read(viz.graph(loss))[0]
    assert not any("test_graph.py" in t for t in read(viz.graph(loss, lines=False))[0])


def test_it_is_shown_and_saved(tmp_path):
    picture = viz.graph(torch.ones(2, requires_grad=True).exp().sum())
    assert picture._repr_svg_() == str(picture) and str(picture).startswith("<svg") and "Picture of" in repr(picture)
    picture.save(tmp_path / "graph.svg")
    picture.save(str(tmp_path / "graph.html"))
    assert (tmp_path / "graph.svg").read_text() == str(picture)
    assert (tmp_path / "graph.html").read_text().startswith("<!DOCTYPE html>")


def recurrent(steps):
    wx, wh = nn.Linear(4, 8), nn.Linear(8, 8)
    h, loss = torch.zeros(2, 8), 0
    for _ in range(steps):
        h = torch.tanh(wx(torch.ones(2, 4)) + wh(h))
        loss = loss + h.sum()
    return viz.graph(loss, {"W_x": wx.weight, "W_h": wh.weight, "b_x": wx.bias, "b_h": wh.bias})


def residual():
    x = torch.ones(2, 4, requires_grad=True)
    model = mlp()
    return viz.graph((model(x)[:, :2] + x[:, 2:]).mean(), {"x": x}, saved=True)


@pytest.mark.parametrize("picture", [lambda: recurrent(10), residual], ids=["recurrent", "residual"])
def test_nothing_overlaps_and_texts_fit(picture):
    root = ET.fromstring(str(picture()))
    _, boxes, _ = read(picture())
    for a, b in combinations(boxes, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    for group in root.iter(SVG + "g"):
        width = float(group.find(SVG + "rect").attrib["width"])
        for t in group.iter(SVG + "text"):
            size = float(t.attrib["font-size"]) * (1.05 if "font-weight" in t.attrib else 1)
            assert len(t.text) * 0.52 * size < width  # an average of what the letters of Helvetica take
    assert all(
        right <= float(root.attrib["width"]) and bottom <= float(root.attrib["height"]) for *_, right, bottom in boxes
    )


def test_a_leaf_with_distant_uses_stands_at_each():
    texts, _, _ = read(recurrent(10))
    assert texts.count("W_x") == 10
    w = torch.ones(2, requires_grad=True)
    assert read(viz.graph((w * w).sum(), {"w": w}))[0].count("w") == 1


def test_saved_tensors():
    a, b = torch.ones(2, requires_grad=True), torch.ones(3, 1)
    loss = (a * b).exp().sum()
    texts, _, _ = read(viz.graph(loss, {"a": a}, saved=True))
    assert "result" in texts and "saved for backward" in texts and any(t.startswith("other") for t in texts)
    loss.backward()
    assert "result" not in read(viz.graph(loss, saved=True))[0]


def test_several_outputs_and_outputs_of_nodes():
    a = torch.ones(4, 2, requires_grad=True)
    parts = a.unbind(0)
    texts, _, _ = read(viz.graph({"first": parts[0].sum(), "all": (parts[1] * parts[3]).sum()}))
    assert {"first", "all"} <= set(texts) and {"0", "1", "3"} <= set(texts)
    assert {"output 0", "output 1"} <= set(read(viz.graph([a.exp(), a.sin()]))[0])
    texts, _, _ = read(viz.graph(a.max(0).values.sum()))
    assert not any("bool" in t for t in texts)


def test_functions_and_escapes():
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    a = torch.ones(2, requires_grad=True)
    texts, _, _ = read(viz.graph(Odd.apply(a).double().sum(), {"<a & b>": a}))
    assert {"OddBackward", "<a & b>", "(2,) float64"} <= set(texts)


def test_leaves_and_what_has_no_graph():
    a = torch.ones(2, requires_grad=True)
    assert {"output", "leaf"} <= set(read(viz.graph(a))[0])
    with pytest.raises(ValueError, match="does not require grad"):
        viz.graph(torch.ones(2))


def test_limit():
    x = torch.ones(1, requires_grad=True)
    for _ in range(300):
        x = x.sin()
    texts, _, _ = read(viz.graph(x, limit=50))
    assert texts.count("SinBackward0") == 50 and "…" in texts
    assert re.search(r"Autograd graph of 50 nodes", str(viz.graph(x, limit=50)))


def test_metadata_of_nodes():
    values, _ = torch.ones(3, 2, dtype=torch.float64, requires_grad=True).max(dim=1)
    first, second = values.grad_fn._input_metadata
    assert first.shape == (3,) and first.dtype == torch.float64 and first.device == torch.device("cpu")
    assert second is None
