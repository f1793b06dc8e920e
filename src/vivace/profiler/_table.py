"""Events as a table, laid out as PyTorch's."""

_WIDTH = 12
_GAP = "  "
_FLOPS = ["FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"]


def time_text(microseconds):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


def memory_text(count):
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def _share(part, whole):
    return f"{100 * part / whole:.2f}%" if whole else "NAN"


def _cut(text, limit):
    return text if limit is None or len(text) <= limit else text[: limit - 3] + "..."


def _cut_path(path, width):
    return path if len(path) <= width else "..." + path[len(path) - width + 3 :]


def _fit(texts, limit):
    """The width of a column for these texts."""
    width = max(map(len, texts), default=0) + 4
    return width if limit is None else min(width, limit)


def _columns(events, whole, max_src, max_name, max_shapes):
    """(title, width, text of an event) of each column."""
    columns = [
        ("Name", _fit([e.key for e in events], max_name), lambda e: _cut(e.key, max_name)),
        ("Self CPU %", _WIDTH, lambda e: _share(e.self_cpu_time_total, whole)),
        ("Self CPU", _WIDTH, lambda e: time_text(e.self_cpu_time_total)),
        ("CPU total %", _WIDTH, lambda e: _share(e.cpu_time_total, whole)),
        ("CPU total", _WIDTH, lambda e: time_text(e.cpu_time_total)),
        ("CPU time avg", _WIDTH, lambda e: time_text(e.cpu_time)),
    ]
    if events._profile_memory:
        columns.append(("CPU Mem", _WIDTH, lambda e: memory_text(e.cpu_memory_usage)))
        columns.append(("Self CPU Mem", _WIDTH, lambda e: memory_text(e.self_cpu_memory_usage)))
    columns.append(("# of Calls", _WIDTH, lambda e: str(e.count)))
    shapes = [str(e.input_shapes) for e in events if e.input_shapes]
    if shapes:
        columns.append(("Input Shapes", _fit(shapes, max_shapes), lambda e: _cut(str(e.input_shapes), max_shapes)))
    entries = [entry for e in events for entry in e.stack or ()]
    if entries:
        width = _fit(entries, max_src)
        columns.append(("Source Location", width, lambda e: _cut_path(e.stack[0], width) if e.stack else ""))
    if events._with_flops:
        largest = max((e.flops for e in events), default=0)
        power = min((len(str(int(largest))) - 1) // 3, len(_FLOPS) - 1) if largest else 0
        columns.append(
            (f"Total {_FLOPS[power]}", _WIDTH, lambda e: f"{e.flops / 1000**power:8.3f}" if e.flops else "--")
        )
    return columns


def table(events, sort_by, row_limit, max_src, max_name, max_shapes, header, top_level_only):
    """The text."""
    if not events:
        return ""
    rows = list(events)
    if sort_by is not None:
        rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
    if top_level_only:
        rows = [e for e in rows if e.cpu_parent is None]
    whole = events.self_cpu_time_total
    columns = _columns(events, whole, max_src, max_name, max_shapes)
    places = [title for title, *_ in columns]
    source = places.index("Source Location") if "Source Location" in places else None
    widths = [width for _, width, _ in columns]

    def line(cells):
        return "".join(f"{cell:>{width}}{_GAP}" for cell, width in zip(cells, widths, strict=True))

    rule = line(["-" * width for width in widths])
    lines = []
    double_rule = "=" * (len(rule) - len(_GAP))
    if header:
        lines += [double_rule, header]
    if top_level_only:
        lines += [double_rule, "This report only display top-level ops statistics"]
    lines += [rule, line(places), rule]
    for event in rows[: row_limit if row_limit >= 0 else None]:
        lines.append(line([text(event) for *_, text in columns]))
        if source is not None:
            for entry in [*(event.stack or ())[1:], ""]:
                cells = [""] * len(columns)
                cells[source] = _cut_path(entry, widths[source])
                lines.append(line(cells))
    lines += [rule, f"Self CPU time total: {time_text(whole)}", ""]
    return "\n".join(lines)
