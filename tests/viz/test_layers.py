"""Layered layout: edges go down, nothing overlaps, few edges cross."""

import random
from itertools import combinations, pairwise

import pytest

from vivace.viz._layers import Layout


def graph(seed, n=40):
    """A random graph without cycles, of nodes of different sizes."""
    draw = random.Random(seed)
    sizes = [(draw.randint(20, 160), draw.randint(15, 50)) for _ in range(n)]
    edges = [(draw.randrange(b), b) for b in range(1, n) for _ in range(draw.randint(1, 2))]
    return sizes, edges


@pytest.mark.parametrize("seed", range(8))
def test_nothing_overlaps_and_edges_go_down(seed):
    sizes, edges = graph(seed)
    layout = Layout(sizes, edges)
    boxes = [(*layout.center(i), *size) for i, size in enumerate(sizes)]
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert abs(x - x2) >= (w + w2) / 2 + 10 or abs(y - y2) >= (h + h2) / 2 + 10
    for x, y, w, h in boxes:
        assert w / 2 - 1e-6 <= x <= layout.width - w / 2 + 1e-6 and h / 2 <= y <= layout.height - h / 2 + 1e-6
    for (a, b), points in zip(edges, layout.routes(), strict=True):
        assert all(y <= y2 for (_, y), (_, y2) in pairwise(points))
        for (x, y), node, side in ((points[0], a, 1), (points[-1], b, -1)):
            box = boxes[node]
            assert abs(x - box[0]) < box[2] / 2 and y == pytest.approx(box[1] + side * box[3] / 2)
        for x, y in points[1:-1]:  # where it crosses a layer it is beside all boxes
            assert all(abs(x - bx) > w / 2 or abs(y - by) > h / 2 + 1e-6 for bx, by, w, h in boxes)


def test_a_chain_is_straight():
    layout = Layout([(100, 30), (40, 30), (80, 30)], [(0, 1), (1, 2)])
    assert len({layout.center(i)[0] for i in range(3)}) == 1
    assert [layout.center(i)[1] for i in range(3)] == sorted(layout.center(i)[1] for i in range(3))


def test_crossings_are_taken_out():
    top, bottom = range(6), range(6, 12)
    edges = [(t, 11 - t) for t in top] + [(b, 12) for b in bottom]
    layout = Layout([(30, 20)] * 13, edges)
    assert layout._crossings() == 0


def test_nothing_and_alone():
    assert (Layout([], []).width, Layout([], []).height) == (0, 0)
    assert Layout([(10, 20)], []).center(0) == (5, 10)
