"""The memory of a profile as a picture: bytes over time by who holds them, and who held what at the peak."""

import math
from html import escape

from vivace.profiler._table import memory_text
from vivace.viz._picture import Picture, number, shortened, text, text_width

_WIDTH, _HEIGHT = 760, 260  # of the chart
_LEFT, _TOP, _RIGHT = 76, 48, 24
_ROW = 20
_COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#d6b01f", "#9d755d")
_OTHERS = "#b8bec6"
_INK, _SOFT, _GRID = "#1e293b", "#64748b", "#e5e9f0"


def _ticks(highest, base, least=0.0):
    """Round numbers up to `highest`, of units that are powers of `base`; `least` apart."""
    unit = base ** max(0, int(math.log(highest, base))) if highest >= 1 else 1
    rough = max(highest / 5, least) / unit
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough) * unit
    return [i * step for i in range(int(highest / step) + 1)]


def _changes(blocks):
    """(time, bytes that came or went, number of the block), in order; what goes comes first."""
    steps = [(b.start, b.bytes, i) for i, b in enumerate(blocks)]
    return sorted(steps + [(b.end, -b.bytes, i) for i, b in enumerate(blocks) if b.end is not None])


def _groups(timeline, steps):
    """{(operator, line): most that it held at once} of those who held most, and the place of each block's among them,
    the last for the rest."""
    keys = [(b.operator, b.line) for b in timeline.blocks]
    now, most = dict.fromkeys(keys, 0), dict.fromkeys(keys, 0)
    for _, size, i in steps:
        now[keys[i]] += size
        most[keys[i]] = max(most[keys[i]], now[keys[i]])
    largest = dict(sorted(most.items(), key=lambda item: -item[1])[: len(_COLORS)])
    places = {key: i for i, key in enumerate(largest)}
    return largest, [places.get(key, len(largest)) for key in keys]


def _columns(timeline, steps, places, groups):
    """For each column of pixels the bytes of each group at the moment when they are most, drawn from the bottom in the
    order of how long and how much they hold."""
    scale = _WIDTH / max(timeline.duration, 1e-9)
    columns, now, total, at = [], [0] * groups, 0, 0
    for column in range(_WIDTH):
        highest, kept = total, list(now)
        while at < len(steps) and int(steps[at][0] * scale) <= column:
            _, size, i = steps[at]
            now[places[i]] += size
            total += size
            at += 1
            if total > highest:
                highest, kept = total, list(now)
        columns.append(kept)
    order = sorted(range(groups), key=lambda g: -sum(c[g] for c in columns))
    return columns, order


def _areas(columns, order, y_of):
    """A closed path for each group, upon those drawn before."""
    below = [0] * len(columns)
    for group in order:
        above = [low + column[group] for low, column in zip(below, columns, strict=True)]
        if above != below:
            yield group, _steps(above, y_of, False) + "L" + _steps(below, y_of, True)[1:] + "Z"
        below = above


def _steps(values, y_of, backwards):
    points = []
    for i, value in enumerate(values):
        if not 0 < i < len(values) - 1 or value != values[i - 1] or value != values[i + 1]:
            points += [(_LEFT + i, y_of(value)), (_LEFT + i + 1, y_of(value))]
    if backwards:
        points.reverse()
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def _time_text(microseconds, longest):
    unit, size = ("s", 1e6) if longest >= 2e6 else ("ms", 1e3) if longest >= 2e3 else ("µs", 1)
    return f"{microseconds / size:.6g} {unit}"


def _axes(timeline, highest, y_of):
    parts = []
    for value in map(int, _ticks(highest, 1024, least=1)):
        y = y_of(value)
        parts.append(f'<path d="M{_LEFT} {number(y)}h{_WIDTH}" stroke="{_GRID}"/>')
        parts.append(text(_LEFT - 8, y + 4, memory_text(value).replace(".00", ""), 10, _SOFT, anchor="end"))
    for value in _ticks(max(timeline.duration, 1e-3), 1000):
        x = _LEFT + value / max(timeline.duration, 1e-9) * _WIDTH
        parts.append(f'<path d="M{number(x)} {_TOP + _HEIGHT}v4" stroke="{_SOFT}"/>')
        parts.append(text(x, _TOP + _HEIGHT + 17, _time_text(value, timeline.duration), 10, _SOFT))
    return parts


def _peak(timeline, highest, y_of):
    x = _LEFT + timeline.peak_time / max(timeline.duration, 1e-9) * _WIDTH
    label = f"peak {memory_text(timeline.peak_bytes)}"
    half = text_width(label, 11, bold=True) / 2
    middle = min(max(x, _LEFT + half), _LEFT + _WIDTH - half)
    return [
        f'<path d="M{number(x)} {_TOP - 6}V{_TOP + _HEIGHT}" stroke="{_INK}" stroke-dasharray="3 3"/>',
        text(middle, _TOP - 12, label, 11, _INK, bold=True),
    ]


def _rows(timeline, largest):
    """The table under the chart: who holds what at the peak, and at most."""
    held = {(operator, line): (size, blocks) for size, blocks, operator, line in timeline.holders()}
    rows = [
        (_COLORS[i], *held.get(key, (0, 0)), memory_text(most), *key) for i, (key, most) in enumerate(largest.items())
    ]
    rest = [value for key, value in held.items() if key not in largest]
    if rest:
        rows.append((_OTHERS, sum(size for size, _ in rest), sum(n for _, n in rest), "", f"{len(rest)} others", ""))
    rows.sort(key=lambda row: (row[0] == _OTHERS, -row[1]))
    y = _TOP + _HEIGHT + 48
    parts = [text(_LEFT + 120, y, "at the peak", 10, _SOFT, anchor="end")]
    parts.append(text(_LEFT + 196, y, "at most", 10, _SOFT, anchor="end"))
    for color, size, blocks, most, operator, line in rows:
        y += _ROW
        share = f"{100 * size / timeline.peak_bytes:.0f} %"
        many = f", {blocks} blocks" if blocks > 1 else ""
        ink = _INK if size else _SOFT
        parts.append(f'<rect x="{_LEFT}" y="{y - 10}" width="12" height="12" rx="3" fill="{color}"/>')
        parts.append(text(_LEFT + 84, y, memory_text(size), 11, ink, anchor="end"))
        parts.append(text(_LEFT + 120, y, share, 11, _SOFT, anchor="end"))
        if most:
            parts.append(text(_LEFT + 196, y, most, 11, _SOFT, anchor="end"))
        parts.append(text(_LEFT + 214, y, operator[:38] + many, 11, ink, bold=True, anchor="start"))
        if line:
            parts.append(text(_LEFT + 500, y, shortened(line, 42), 10, _SOFT, anchor="start"))
    return parts, y


def memory(profile):
    """A Picture of the memory that tensors took while a profile with `profile_memory=True` ran, by the operator and the
    line that allocated it. `profile` may be its MemoryTimeline as well."""
    timeline = profile.memory_timeline() if hasattr(profile, "memory_timeline") else profile
    steps = _changes(timeline.blocks)
    largest, places = _groups(timeline, steps)
    columns, order = _columns(timeline, steps, places, len(largest) + 1)
    names = [f"{line}: {operator}" if line else operator for operator, line in largest]
    highest = max(timeline.peak_bytes, 1) * 1.04

    def y_of(value):
        return _TOP + _HEIGHT * (1 - value / highest)

    parts = _axes(timeline, highest, y_of)
    for group, path in _areas(columns, order, y_of):
        color, name = (_COLORS[group], escape(names[group])) if group < len(largest) else (_OTHERS, "others")
        parts.append(
            f'<path d="{path}" fill="{color}" fill-opacity="0.85" stroke="#ffffff" stroke-width="0.4">'
            f"<title>{name}</title></path>"
        )
    parts.append(f'<path d="M{_LEFT} {_TOP}v{_HEIGHT}h{_WIDTH}" fill="none" stroke="{_SOFT}"/>')
    bottom = _TOP + _HEIGHT + 30
    if timeline.peak_bytes:
        parts += _peak(timeline, highest, y_of)
        rows, bottom = _rows(timeline, largest)
        parts += rows
    width = _LEFT + _WIDTH + _RIGHT
    return Picture(width, bottom + 16, parts, f"Memory of tensors, at most {memory_text(timeline.peak_bytes)}")
