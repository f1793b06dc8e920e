"""The memory of tensors while a profile ran: what came when, through which operator, and who held it at the peak."""

import json

from vivace.profiler._kinds import ACCUMULATE, APPLY, EVALUATE, RANGE
from vivace.profiler._table import memory_text
from vivace.profiler._trace import open_text

# In the order of the columns in PyTorch's files.
CATEGORIES = (
    "parameter",
    "optimizer state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd detail",
    "other",
)


class Block:
    """Memory of one storage; times in microseconds since the profile began."""

    __slots__ = ("bytes", "end", "event", "start")

    def __init__(self, size, start, event):
        self.bytes = size
        self.start = start  # 0 for what was there before
        self.end = None  # None for what was there when the profile ended
        self.event = event  # the FunctionEvent in which it came, or None

    def _caller(self):
        """The outermost operator that led here, or the part of backward; None outside of all."""
        found, event = None, self.event
        while event is not None and event.kind not in (EVALUATE, RANGE):
            found, event = event, event.cpu_parent
        return found or self.event

    @property
    def operator(self):
        """The name of the operator, node of backward or range that it came in."""
        caller = self._caller()
        return caller.name if caller else "outside of operators" if self.start else "before the profile"

    @property
    def line(self):
        """The nearest line of Python outside vivace, as "file(line): function"; "" if stacks were not recorded."""
        stack = self.event.stack if self.event else ()
        return stack[0] if stack else ""

    @property
    def category(self):
        """What it is for, as far as it can be told from where it came and went: an entry of CATEGORIES."""
        caller = self._caller()
        if caller is None:
            return "input" if self.start else "other"
        event, backward = self.event, False
        while event is not None:
            backward |= event.kind in (APPLY, ACCUMULATE, EVALUATE)
            if event.kind == RANGE and event.name.startswith("Optimizer."):
                return "optimizer state"
            event = event.cpu_parent
        if self.end is not None and self.end <= caller.time_range.end:
            return "temporary"
        return "gradient" if backward else "activation"


class MemoryTimeline:
    """Blocks in the order in which they came, and the bytes in use after each change, as far as the profile saw: what
    was allocated before it counts if it was freed in it."""

    def __init__(self, changes, events_by_thread, duration):
        self.duration = duration  # microseconds
        self.blocks = []
        live = {}
        early = []
        for at, address, size, thread, number in changes:
            event = events_by_thread[thread][number] if number >= 0 else None
            block = live.pop(address, None)
            held = (block.bytes if block else 0) + size
            if block:
                block.end = at / 1000
            if held < 0:
                early.append(Block(-held, 0, None))
                early[-1].end = at / 1000
            elif held > 0:
                live[address] = Block(held, at / 1000, event)
                self.blocks.append(live[address])
        self.blocks[:0] = early
        self._find_totals()

    def _find_totals(self):
        steps = [(b.start, b.bytes) for b in self.blocks] + [
            (b.end, -b.bytes) for b in self.blocks if b.end is not None
        ]
        steps.sort()  # at one time what goes comes first
        self.times, self.totals = [0.0], [0]
        self.peak_bytes, self.peak_time = 0, 0.0
        for at, size in steps:
            total = self.totals[-1] + size
            if at == self.times[-1]:
                self.totals[-1] = total
            else:
                self.times.append(at)
                self.totals.append(total)
            if total > self.peak_bytes:
                self.peak_bytes, self.peak_time = total, at

    def at(self, time):
        """The blocks in use at a time, largest first."""
        found = [b for b in self.blocks if b.start <= time and (b.end is None or time < b.end)]
        return sorted(found, key=lambda b: -b.bytes)

    def holders(self, time=None):
        """[(bytes, blocks, operator, line)] of what is in use at a time, by default the peak; largest first."""
        sums = {}
        for block in self.at(self.peak_time if time is None else time):
            entry = sums.setdefault((block.operator, block.line), [0, 0])
            entry[0] += block.bytes
            entry[1] += 1
        return sorted(((size, n, *key) for key, (size, n) in sums.items()), key=lambda h: -h[0])

    def table(self, row_limit=20):
        """Who holds the memory at the peak, as text."""
        holders = self.holders()
        rows = [
            (memory_text(size), f"{100 * size / self.peak_bytes:.1f}%", str(n), operator, line)
            for size, n, operator, line in holders[:row_limit]
        ]
        titles = ("Memory", "%", "Blocks", "Operator", "Line")
        widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
        rule = "  ".join("-" * w for w in widths)
        lines = []
        for row in (titles, *rows):
            numbers = [text.rjust(w) for text, w in zip(row[:3], widths[:3], strict=True)]
            lines.append("  ".join([*numbers, row[3].ljust(widths[3]), row[4]]).rstrip())
        peak = f"Peak: {memory_text(self.peak_bytes)}, {self.peak_time / 1000:.3f} ms after the profile began"
        return "\n".join([peak, rule, lines[0], rule, *lines[1:], rule])

    def by_category(self):
        """(times, for each time the bytes of each of CATEGORIES)"""
        column = {name: i for i, name in enumerate(CATEGORIES)}
        steps = []
        for block in self.blocks:
            place = column[block.category]
            steps.append((block.start, block.bytes, place))
            if block.end is not None:
                steps.append((block.end, -block.bytes, place))
        steps.sort()
        times, rows, now = [], [], [0] * len(CATEGORIES)
        for at, size, place in steps:
            now[place] += size
            if not times or at != times[-1]:
                times.append(at)
                rows.append(None)
            rows[-1] = list(now)
        return times, rows

    def export(self, path, wall_ns=0):
        """Writes what the file's name asks for: *.json the bytes of each category over time, *.raw.json each change,
        *.html and *.svg a picture."""
        name = str(path)
        bare = name.removesuffix(".gz")
        if bare.endswith(".raw.json"):
            data = [[b.start, "create", b.bytes, b.category, b.operator, b.line] for b in self.blocks]
            data += [
                [b.end, "destroy", b.bytes, b.category, b.operator, b.line] for b in self.blocks if b.end is not None
            ]
            data = sorted(data, key=lambda row: (row[0], row[1] == "create"))
        elif bare.endswith((".html", ".svg")):
            from vivace import viz

            viz.memory(self).save(path)
            return
        else:
            times, rows = self.by_category()
            data = [[int(wall_ns / 1000 + t) for t in times], [[0, *row] for row in rows]]
        with open_text(path) as file:
            json.dump(data, file)
