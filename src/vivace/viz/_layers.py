"""Layered layout of directed graphs: each edge goes down, nodes of one layer stand beside each other.

Layers by the longest path to the end, so that what a node needs stands right above it; long edges get a place in each
layer that they cross; orders by barycenters and swaps; places in a layer by least squares to what they connect to.
"""

from bisect import bisect_right
from itertools import pairwise

_BESIDE = 22  # between boxes of a layer
_BELOW = 34  # between layers
_PATH = 8  # width of a long edge in the layers that it crosses
_SWEEPS = 12


def find_ranks(count, edges):
    """For each node how many edges the longest path from it to an end has."""
    above = [[] for _ in range(count)]
    missing = [0] * count
    for a, b in edges:
        above[b].append(a)
        missing[a] += 1
    ranks = [0] * count
    ready = [n for n in range(count) if missing[n] == 0]
    for node in ready:  # grows
        for other in above[node]:
            ranks[other] = max(ranks[other], ranks[node] + 1)
            missing[other] -= 1
            if missing[other] == 0:
                ready.append(other)
    return ranks


class Layout:
    """Centers of nodes, and of each edge the points that it goes through."""

    def __init__(self, sizes, edges):
        self._sizes = list(sizes)
        self._real = len(self._sizes)
        self._rank = find_ranks(self._real, edges)
        self._split(edges)
        self._order()
        self._place()

    def _split(self, edges):
        """Puts a node of its own where an edge crosses a layer."""
        self._up = [[] for _ in self._sizes]  # neighbours in the layer above, by node
        self._down = [[] for _ in self._sizes]
        self._paths = []
        for a, b in edges:
            path = [a]
            for rank in range(self._rank[a] - 1, self._rank[b], -1):
                path.append(len(self._sizes))
                self._sizes.append((_PATH, 0))
                self._rank.append(rank)
                self._up.append([])
                self._down.append([])
            path.append(b)
            self._paths.append(path)
            for upper, lower in pairwise(path):
                self._down[upper].append(lower)
                self._up[lower].append(upper)

    # ---- orders

    def _order(self):
        """As the nodes are met going up from the last, then with fewer crossings."""
        self._layers = [[] for _ in range(max(self._rank, default=-1) + 1)]  # by rank: from the end
        seen = [False] * len(self._sizes)
        stack = [n for n in range(self._real - 1, -1, -1) if self._rank[n] == 0]
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            self._layers[self._rank[node]].append(node)
            stack += reversed(self._up[node])
        self._at = [0] * len(self._sizes)
        for layer in self._layers:
            self._number(layer)
        best, fewest = [list(layer) for layer in self._layers], self._crossings()
        for sweep in range(_SWEEPS):
            if fewest == 0:
                break
            upward = sweep % 2 == 0
            neighbours = self._down if upward else self._up
            for layer in self._layers if upward else reversed(self._layers):
                self._sort(layer, neighbours)
            self._swap()
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self._layers], crossings
        self._layers = best
        for layer in self._layers:
            self._number(layer)

    def _number(self, layer):
        for i, node in enumerate(layer):
            self._at[node] = i

    def _sort(self, layer, neighbours):
        def middle(node):
            others = neighbours[node]
            return sum(self._at[o] for o in others) / len(others) if others else self._at[node]

        layer.sort(key=middle)
        self._number(layer)

    def _pair_crossings(self, left, right):
        count = 0
        for neighbours in (self._up, self._down):
            ends = sorted(self._at[o] for o in neighbours[right])
            for other in neighbours[left]:
                count += bisect_right(ends, self._at[other] - 1)
        return count

    def _swap(self):
        """Swaps neighbours while that saves crossings."""
        for _ in range(4):
            better = False
            for layer in self._layers:
                for i in range(len(layer) - 1):
                    a, b = layer[i], layer[i + 1]
                    if self._pair_crossings(b, a) < self._pair_crossings(a, b):
                        layer[i], layer[i + 1] = b, a
                        self._at[a], self._at[b] = i + 1, i
                        better = True
            if not better:
                return

    def _crossings(self):
        count = 0
        for layer in self._layers:
            ends = []  # sorted
            for node in layer:
                places = [self._at[o] for o in self._up[node]]
                count += sum(len(ends) - bisect_right(ends, p) for p in places)
                for p in places:
                    ends.insert(bisect_right(ends, p), p)
        return count

    # ---- places

    def _weight(self, a, b):
        """How much an edge wants to be straight: long ones most, then chains; those from where nothing comes hardly."""
        long = (a >= self._real) + (b >= self._real)
        if long:
            return (2.0, 8.0)[long - 1]
        if not self._up[a]:
            return 0.002
        chained = len(self._down[a]) == 1 and sum(bool(self._up[o]) for o in self._up[b]) == 1
        return 4.0 if chained else 1.0

    def _place(self):
        self._x = [0.0] * len(self._sizes)
        for layer in self._layers:
            self._fit(layer, [0.0] * len(layer), [1.0] * len(layer))
        for sweep in range(2 * _SWEEPS):
            if sweep % 2 == 0:
                self._align(self._layers, down=True, up=False)
            else:
                self._align(reversed(self._layers), down=False, up=True)
        for _ in range(_SWEEPS):
            self._align(self._layers, down=True, up=True)
            self._align(reversed(self._layers), down=True, up=True)
        self._align(self._layers, down=True, up=False)  # so that chains are straight
        left = min((self._x[n] - self._sizes[n][0] / 2 for n in range(len(self._sizes))), default=0)
        self._x = [x - left for x in self._x]
        self.width = max((self._x[n] + self._sizes[n][0] / 2 for n in range(len(self._sizes))), default=0)
        self._y = [0.0] * len(self._layers)
        self._tall = [max((self._sizes[n][1] for n in layer), default=0) for layer in self._layers]
        y = 0.0
        for rank in range(len(self._layers) - 1, -1, -1):
            self._y[rank] = y + self._tall[rank] / 2
            y += self._tall[rank] + _BELOW
        self.height = max(0.0, y - _BELOW)

    def _align(self, layers, down, up):
        """Moves nodes, layer by layer, to the middle of what they connect to."""
        for layer in layers:
            wanted, weights = [], []
            for node in layer:
                pairs = [(self._x[o], self._weight(node, o)) for o in self._down[node]] if down else []
                if up:
                    pairs += [(self._x[o], self._weight(o, node)) for o in self._up[node]]
                weight = sum(w for _, w in pairs)
                wanted.append(sum(x * w for x, w in pairs) / weight if pairs else self._x[node])
                weights.append(weight or 0.1)
            self._fit(layer, wanted, weights)

    def _fit(self, layer, wanted, weights):
        """The places nearest to the wanted ones at which nodes in this order don't overlap: pools of nodes that touch
        are moved as one."""
        offsets = [0.0]
        for a, b in pairwise(layer):
            thin = (a >= self._real) + (b >= self._real)
            gap = (_BESIDE, _BESIDE / 2, _PATH / 2)[thin]
            offsets.append(offsets[-1] + (self._sizes[a][0] + self._sizes[b][0]) / 2 + gap)
        pools = []  # [sum of weights, mean of place less offset, how many]
        for x, weight, offset in zip(wanted, weights, offsets, strict=True):
            pools.append([weight, x - offset, 1])
            while len(pools) > 1 and pools[-2][1] > pools[-1][1]:
                w, mean, n = pools.pop()
                last = pools[-1]
                last[1] = (last[0] * last[1] + w * mean) / (last[0] + w)
                last[0] += w
                last[2] += n
        at = iter(zip(layer, offsets, strict=True))
        for _, mean, n in pools:
            for _ in range(n):
                node, offset = next(at)
                self._x[node] = mean + offset

    # ---- results

    def center(self, node):
        return self._x[node], self._y[self._rank[node]]

    def routes(self):
        """For each edge its points: from the lower border of a node to the upper border of another, and in each layer
        between where it comes in and goes out."""
        ports = {}
        for side, neighbours in ((1, self._down), (-1, self._up)):
            for node in range(self._real):
                others = sorted(neighbours[node], key=lambda o: self._x[o])
                main = [i for i, o in enumerate(others) if self._up[o]]
                middle = main[0] if side < 0 and len(main) == 1 else (len(others) - 1) / 2
                step = min(14.0, 0.42 * self._sizes[node][0] / max(middle, len(others) - 1 - middle, 1))
                for i, other in enumerate(others):
                    ports.setdefault((side, node, other), []).append(self._x[node] + (i - middle) * step)
        routes = []
        for path in self._paths:
            first, last = path[0], path[-1]
            points = [(ports[1, first, path[1]].pop(0), self._y[self._rank[first]] + self._sizes[first][1] / 2)]
            for node in path[1:-1]:
                middle, half = self._y[self._rank[node]], self._tall[self._rank[node]] / 2
                points += [(self._x[node], middle - half), (self._x[node], middle + half)]
            points.append((ports[-1, last, path[-2]].pop(0), self._y[self._rank[last]] - self._sizes[last][1] / 2))
            routes.append(points)
        return routes
