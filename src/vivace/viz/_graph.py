"""The autograd graph as a picture: forward goes down, leaves stand above what uses them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

import vivace
from vivace import _C
from vivace.viz._layers import Layout, find_ranks
from vivace.viz._picture import Picture, curve, number, shortened, text, text_width

_MARGIN = 16
_LEGEND = 30
_STYLES = {  # fill, border, text
    "operator": ("#f1f4f9", "#94a3b8", "#1e293b"),
    "parameter": ("#e3f4e8", "#4c9f70", "#14532d"),
    "leaf": ("#e2effc", "#4a8fd0", "#123a63"),
    "output": ("#fdebd9", "#e0873a", "#7a3b06"),
    "saved": ("#fdf8e1", "#c7a93b", "#6b560b"),
    "more": ("#ffffff", "#b6bec9", "#64748b"),
}
_FAR = 2  # a leaf whose uses are more layers apart is drawn at each of them


@dataclass
class Box:
    """What is drawn for a node, a leaf, a saved tensor or an output: a bold line and others."""

    kind: str
    name: str
    notes: list = field(default_factory=list)  # shape, then the forward line
    tip: str = ""

    @property
    def size(self):
        widths = [text_width(self.name, 12, bold=True)] + [text_width(note, 10) for note in self.notes]
        return max(widths) + 20, 21 + 13 * len(self.notes)


def _shape(shape, dtype):
    suffix = "" if dtype == vivace.float32 else f" {str(dtype).removeprefix('torch.')}"
    return f"{tuple(shape) or 'scalar'}{suffix}"


def _named(tensors):
    """(name, tensor) of what may be a dict, a module or pairs."""
    if isinstance(tensors, vivace.nn.Module):
        tensors = dict(tensors.named_parameters())
    return list(tensors.items() if isinstance(tensors, Mapping) else tensors or ())


def _outputs(outputs):
    if isinstance(outputs, vivace.Tensor):
        return [("output", outputs)]
    if isinstance(outputs, Mapping):
        return list(outputs.items())
    return [(f"output {i}", t) for i, t in enumerate(outputs)]


class _Drawing:
    """Boxes and edges between them, by number; an edge is (from, to, kind)."""

    def __init__(self, names, saved, lines, limit):
        self.names = {id(t): name for name, t in names}
        self.show_saved = saved
        self.lines = lines
        self.limit = limit
        self.boxes = []
        self.edges = []
        self._known = {}  # node to the number of its box
        self._leaves = {}  # leaf to the numbers of the boxes that use it
        self._nodes = []  # keeps them, so that no other object gets their identity

    def add(self, box):
        self.boxes.append(box)
        return len(self.boxes) - 1

    def draw(self, outputs):
        roots = []
        for name, t in outputs:
            if not t.requires_grad:
                raise ValueError(f"viz.graph: {name} does not require grad, so there is no graph behind it")
            one = t.numel() == 1 and not t.dtype.is_complex and _readable(t)
            box = self.add(Box("output", name, [f"{t.item():.5g}" if one else _shape(t.shape, t.dtype)]))
            node = _C._gradient_node(t)
            roots.append((node, t.output_nr, box))
        pending = [(node, self._enter(node, nr, box)) for node, nr, box in roots]
        pending = [node for node, new in pending if new]
        while pending:
            pending.sort(key=_age)
            self._expand(pending)
        self._draw_leaves()
        return self

    def _enter(self, node, nr, user):
        """Draws an edge from a node to a box that uses it; whether the node was new."""
        if isinstance(node, _C._AccumulateGrad):
            self._leaves.setdefault(id(node.variable), (node.variable, []))[1].append(user)
            self._nodes.append(node)
            return False
        new = id(node) not in self._known
        if new:
            self._known[id(node)] = self.add(
                self._operator(node) if len(self._nodes) < self.limit else Box("more", "…")
            )
            self._nodes.append(node)
        several = len(_outputs_of(node)) > 1
        self.edges.append((self._known[id(node)], user, str(nr) if several else ""))
        return new and self.boxes[self._known[id(node)]].kind == "operator"

    def _expand(self, pending):
        node = pending.pop()
        box = self._known[id(node)]
        for other, nr in node.next_functions:
            if other is not None and self._enter(other, nr, box):
                pending.append(other)
        if self.show_saved:
            self._draw_saved(node, box)

    def _operator(self, node):
        shapes = [_shape(m.shape, m.dtype) for m in _outputs_of(node)]
        line = node.forward_line or ""
        notes = [", ".join(shapes[:2]) + (", …" if len(shapes) > 2 else "")] if shapes else []
        if self.lines and line:
            notes.append(_brief(line))
        return Box("operator", node.name(), notes, "\n".join([node.name(), *shapes, line]))

    def _draw_saved(self, node, user):
        for attribute in dir(node):
            if not attribute.startswith("_saved_"):
                continue
            try:
                value = getattr(node, attribute)
            except RuntimeError:
                continue  # released by a backward
            for i, t in enumerate(value if isinstance(value, tuple) else (value,)):
                if not isinstance(t, vivace.Tensor):
                    continue
                name = attribute.removeprefix("_saved_") + (f"[{i}]" if isinstance(value, tuple) else "")
                known = self.names.get(id(t))
                tip = f"saved for backward: {name}, {t.nbytes} bytes"
                box = Box("saved", f"{name}: {known}" if known else name, [_shape(t.shape, t.dtype)], tip)
                self.edges.append((self.add(box), user, "saved"))

    def _leaf(self, leaf, uses):
        known = self.names.get(id(leaf))
        kind = "parameter" if isinstance(leaf, vivace.nn.Parameter) else "leaf"
        notes = [_shape(leaf.shape, leaf.dtype)]
        tip = f"{known or kind}, a leaf of the graph" + (f", used {uses} times" if uses > 1 else "")
        return Box(kind, known or kind, notes, tip)

    def _draw_leaves(self):
        ranks = find_ranks(len(self.boxes), [edge[:2] for edge in self.edges])
        for leaf, users in self._leaves.values():
            apart = max(ranks[u] for u in users) - min(ranks[u] for u in users) > _FAR
            box = None
            for user in users:
                if box is None or apart:
                    box = self.add(self._leaf(leaf, len(users)))
                self.edges.append((box, user, ""))


def _age(node):
    return node._sequence_nr()


def _readable(t):
    return t.device.type == "cpu" and type(t) in (vivace.Tensor, vivace.nn.Parameter)


def _outputs_of(node):
    """What is known of the outputs that have gradients."""
    return [m for m in node._input_metadata if m is not None]


def _brief(line):
    """ "folder/file.py:12 in Class.function.<locals>.inner" as "file.py:12 in Class.function.inner"."""
    place, _, function = line.partition(" in ")
    place = shortened(place.rpartition("/")[2], 28)
    if function in ("", "<module>"):
        return place
    return f"{place} in {shortened(function.replace('<locals>.', ''), 28)}"


def _legend(kinds):
    parts, x = [], _MARGIN
    for kind, (fill, border, _) in _STYLES.items():
        if kind not in kinds or kind == "more":
            continue
        label = "saved for backward" if kind == "saved" else kind
        parts.append(
            f'<rect x="{number(x)}" y="{_MARGIN - 5}" width="12" height="12" rx="3" fill="{fill}" stroke="{border}"/>'
        )
        parts.append(text(x + 18, _MARGIN + 5, label, 11, "#475569", anchor="start"))
        x += 18 + text_width(label, 11) + 16
    return parts, x


def _draw_box(box, x, y):
    """`x` and `y` of the center."""
    width, height = box.size
    fill, border, ink = _STYLES[box.kind]
    left, top = x - width / 2, y - height / 2
    round_ = 4 if box.kind in ("operator", "saved") else height / 2
    dashes = ' stroke-dasharray="3 2"' if box.kind == "saved" else ""
    parts = [f"<g><title>{escape(box.tip)}</title>" if box.tip else "<g>"]
    parts.append(
        f'<rect x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}" '
        f'rx="{number(min(round_, 14))}" fill="{fill}" stroke="{border}"{dashes}/>'
    )
    parts.append(text(x, top + 15, box.name, 12, ink, bold=True))
    parts += [text(x, top + 28 + 13 * i, note, 10, "#64748b") for i, note in enumerate(box.notes)]
    parts.append("</g>")
    return parts


def graph(outputs, params=None, *, saved=False, lines=True, limit=1000):
    """A Picture of the graph behind a tensor, several, or a dict of them.

    params: names of leaves, such as `dict(model.named_parameters())`, or the model; saved: shows the tensors that the
    nodes keep for backward; lines: shows where in the program the forward operators were called; limit: how many nodes
    are drawn, the newest first. A leaf that is used in distant places is drawn at each of them.
    """
    drawing = _Drawing(_named(params), saved, lines, limit).draw(_outputs(outputs))
    layout = Layout([box.size for box in drawing.boxes], [edge[:2] for edge in drawing.edges])
    legend, legend_width = _legend({box.kind for box in drawing.boxes})
    dx, dy = _MARGIN, _MARGIN + _LEGEND
    width = max(layout.width + 2 * _MARGIN, legend_width)
    dx += (width - 2 * _MARGIN - layout.width) / 2
    parts = [
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0.8L7.5 4L0 7.2z" fill="#7c8a9c"/></marker></defs>',
        *legend,
    ]
    labels = []
    for (_, _, note), points in zip(drawing.edges, layout.routes(), strict=True):
        moved = [(x + dx, y + dy) for x, y in points]
        style = ' stroke-dasharray="3 3" stroke="#c7a93b"' if note == "saved" else ' stroke="#7c8a9c"'
        parts.append(f'<path d="{curve(moved)}" fill="none"{style} stroke-width="1.2" marker-end="url(#arrow)"/>')
        if note not in ("", "saved"):
            labels.append(text(moved[0][0] + 3, moved[0][1] + 10, note, 8, "#64748b", anchor="start"))
    for i, box in enumerate(drawing.boxes):
        x, y = layout.center(i)
        parts += _draw_box(box, x + dx, y + dy)
    nodes = sum(box.kind == "operator" for box in drawing.boxes)
    return Picture(width, layout.height + dy + _MARGIN, parts + labels, f"Autograd graph of {nodes} nodes")
