"""Files that other programs show: Chrome's trace format, and stacks for flame graphs."""

import gzip
import json
import os
import platform

from vivace.profiler._kinds import EVALUATE, INSTANT, OPERATOR, RANGE
from vivace.profiler._lines import short

_DEEPEST = 1 << 30
_CATEGORIES = {RANGE: "user_annotation"}


def open_text(path):
    """A file to write to, compressed if it is named *.gz."""
    return gzip.open(path, "wt", encoding="utf-8") if str(path).endswith(".gz") else open(path, "w", encoding="utf-8")


def _value(concrete):
    return "" if concrete is None else str(concrete)


def _arguments(event):
    """What a click on the event shows."""
    shown = {"External id": event.id + 1, "Record function id": 0, "Ev Idx": event.id}
    if event.sequence_nr >= 0:
        shown |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread}
    if event._arguments is not None:
        shown["Input Dims"] = event.structured_input_shapes
        shown["Input Strides"] = event.structured_input_strides
        shown["Input type"] = event.input_dtypes
        shown["Concrete Inputs"] = [_value(v) for v in event.concrete_inputs]
    if event.stack:
        shown["Call stack"] = ";".join(event.stack)
    return shown


def _python_calls(siblings, outer, lines):
    """(frame, depth, start, end) of the functions that called events which follow each other inside one event, whose
    own frames are the `outer` ones: from the first call of an operator in it to the end of the last."""
    running = []  # [frame, depth, start, end], outermost first
    for event in siblings:
        frames = lines.frames(event._stack, own=True)[::-1][outer:]
        same = 0
        while same < min(len(running), len(frames)) and running[same][0][0] is frames[same][0]:
            same += 1
            if running[same - 1][0] != frames[same - 1]:
                break  # another line of the same function: what it calls is another call
        yield from running[same:]
        del running[same:]
        for depth, frame in enumerate(frames):
            if depth == len(running):
                running.append([frame, outer + depth, event.time_range.start, 0])
            running[depth][0], running[depth][3] = frame, event.time_range.end
    yield from running


def _python_spans(events, lines):
    """(thread, depth, span) of the Python functions around the events."""
    top = {}
    for event in events:
        if event.cpu_parent is None and event.kind != INSTANT:
            top.setdefault(event.thread, []).append(event)
    groups = [(siblings, 0) for siblings in top.values()]
    while groups:
        siblings, outer = groups.pop()
        for (code, _), depth, start, end in _python_calls(siblings, outer, lines):
            name = f"{short(code.co_filename)}({code.co_firstlineno}): {code.co_name}"
            span = {"ph": "X", "cat": "python_function", "name": name, "ts": start, "dur": end - start}
            yield siblings[0].thread, depth, span
        groups += [(e.cpu_children, len(e._stack) // 2) for e in siblings if e.cpu_children]


def chrome_events(events, lines):
    """The list that a trace consists of."""
    pid = os.getpid()
    common = {"pid": pid, "tid": 0}
    yield {"ph": "M", "name": "process_name", "ts": 0, **common, "args": {"name": "python"}}
    yield {"ph": "M", "name": "process_labels", "ts": 0, **common, "args": {"labels": "CPU"}}
    for thread in sorted({e.thread for e in events}):
        name = {"name": f"thread {thread} (python)"}
        yield {"ph": "M", "name": "thread_name", "ts": 0, "pid": pid, "tid": thread, "args": name}
    shown = list(_python_spans(events, lines))
    made = {}  # sequence number to the operator that made the node
    for event in events:
        if event.kind == INSTANT:
            change = {"Bytes": event.cpu_memory_usage, "Device Type": 0, "Device Id": -1, "Ev Idx": event.id}
            shown.append((event.thread, _DEEPEST, {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": event.name,
                                                   "ts": event.time_range.start, "args": change}))  # fmt: skip
            continue
        span = {"ph": "X", "cat": _CATEGORIES.get(event.kind, "cpu_op"), "name": event.trace_name,
                "ts": event.time_range.start, "dur": event.cpu_time_total, "args": _arguments(event)}  # fmt: skip
        shown.append((event.thread, _DEEPEST, span))
        if event.sequence_nr < 0:
            continue
        if event.kind == OPERATOR:
            made.setdefault(event.sequence_nr, event)
        elif event.kind == EVALUATE and event.sequence_nr in made:
            forward = made[event.sequence_nr]
            flow = {"cat": "fwdbwd", "name": "fwdbwd", "id": event.sequence_nr}
            shown.append((forward.thread, _DEEPEST, {"ph": "s", "ts": forward.time_range.start, **flow}))
            shown.append((event.thread, _DEEPEST, {"ph": "f", "bp": "e", "ts": event.time_range.start, **flow}))
    shown.sort(key=lambda item: (item[2]["ts"], -item[2].get("dur", 0), item[1]))  # what encloses comes first
    for thread, _, event in shown:
        yield {"pid": pid, "tid": thread, **event}


def write_chrome_trace(events, path, lines, metadata):
    """See EventList.export_chrome_trace."""
    trace = {"schemaVersion": 1, "displayTimeUnit": "ms", "host_name": platform.node(), "traceName": str(path)}
    trace |= metadata
    trace["traceEvents"] = list(chrome_events(events, lines))
    with open_text(path) as file:
        json.dump(trace, file)


def write_stacks(events, path, metric):
    """See EventList.export_stacks."""
    spaces = str.maketrans(" ;\t\n", "____")
    with open(path, "w", encoding="utf-8") as file:
        for event in events:
            value = int(getattr(event, metric))
            if event.stack and value > 0:
                file.write(";".join(entry.translate(spaces) for entry in reversed(event.stack)) + f" {value}\n")
