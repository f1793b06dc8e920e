"""What a notebook shows of a tensor: shape, range, mean, how many NaNs, a histogram, some values.

Of more than a million elements the histogram, and what would take long, are those of a sample.
"""

import math
from html import escape

import vivace

_ALL = 1 << 20  # up to so many elements all are looked at
_QUICK = 1 << 25  # up to so many, sums and extremes of floats are
_RUNS, _RUN = 256, 256  # of a sample
_BINS = 32
_FEW = 16  # of fewer there is no histogram
_EDGE = 3  # rows and columns that are shown at each end
_BOX = (
    "display:inline-block;border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:8px 12px;"
    "font:12px/1.5 -apple-system,'Segoe UI','Helvetica Neue',Arial,sans-serif"
)
_SOFT = "opacity:.65"
_CELL = "padding:1px 7px;text-align:right;border:0;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:11px"
_NAME = f"padding:1px 8px 1px 0;text-align:left;border:0;{_SOFT}"
_VALUE = "padding:1px 0;text-align:right;border:0;white-space:nowrap"


def _sample(t):
    """All elements if they are few, else runs of them, evenly spread: single ones would miss the cache."""
    n = t.numel()
    if n <= _ALL:
        return t.reshape(-1)
    if t.is_contiguous():
        return t.as_strided((_RUNS, _RUN), ((n - _RUN) // (_RUNS - 1), 1)).reshape(-1)
    while t.numel() > _RUNS * _RUN:
        longest = max(range(t.dim()), key=t.size)
        t = t[(slice(None),) * longest + (slice(None, None, 2),)]
    return t.reshape(-1)


def _not_finite(t):
    """How many NaNs and infinities; in pieces, of which those with a finite sum have none."""
    nan = inf = 0
    for piece in t.reshape(-1).split(1 << 16):
        if not math.isfinite(float(piece.sum())):
            nan += int((piece != piece).sum())
            inf += int((piece.abs() == math.inf).sum())
    return nan, inf


class _Numbers:
    """What there is to say about the elements: (name, text) pairs, and the heights of a histogram."""

    def __init__(self, t):
        self.rows = []
        self.bins = None
        sample = _sample(t)
        self.sampled = sample.numel() < t.numel()
        if t.dtype == vivace.bool:
            self._of_bools(t, sample)
        elif t.dtype.is_complex:
            self._of_numbers(sample.abs(), sample.abs(), " of |z|")
        else:
            self._of_numbers(t, sample, "")

    def _of_bools(self, t, sample):
        true = int(sample.count_nonzero())
        share = f" ({100 * true / sample.numel():.3g} %)"
        self.rows = [("True", share.strip(" ()") if self.sampled else f"{true:,}{share}")]

    def _of_numbers(self, t, sample, of):
        """Sums and extremes are those of all elements where these are few, or plain floats, and finite."""
        floats = t.dtype in (vivace.float32, vivace.float64)
        values = sample.double()
        whole = t if self.sampled and floats and t.is_contiguous() and t.numel() <= _QUICK else values
        var, mean = vivace.var_mean(whole, correction=int(whole.numel() > 1))
        nan = inf = 0
        if not math.isfinite(float(mean + var)):
            nan, inf = _not_finite(whole)
            whole = values = values[values.isfinite()]
            if values.numel():
                var, mean = vivace.var_mean(values, correction=int(values.numel() > 1))
        about = "≈ " if whole.numel() < t.numel() - nan - inf else ""
        if values.numel():
            low, high = (float(x) for x in whole.aminmax())
            moments = {"min": low, "max": high, "mean": float(mean), "std": math.sqrt(float(var))}
            self.rows = [(name + of, about + _text(value)) for name, value in moments.items()]
            self._find_bins(values, sample.dtype)
        self.rows += [(name, f"{count:,}") for name, count in (("NaN", nan), ("inf", inf)) if count]
        zeros = int((sample == 0).count_nonzero())
        if zeros:
            self.rows.append(("zeros", f"{'≈ ' if self.sampled else ''}{100 * zeros / sample.numel():.3g} %"))

    def _find_bins(self, values, dtype):
        low, high = (float(x) for x in values.aminmax())
        if values.numel() < _FEW or low == high or not math.isfinite(high - low):
            return
        bins = min(_BINS, int(2 * math.sqrt(values.numel())))
        if not dtype.is_floating_point and high - low < bins:
            bins = int(high - low) + 1
        self.bins = vivace.histc(values, bins, low, high).tolist()


def _text(value):
    if isinstance(value, complex):
        return f"{value:.3g}"
    if isinstance(value, float):
        return f"{int(value)}" if value.is_integer() and abs(value) < 1e6 else f"{value:.4g}"
    return str(value)


def _histogram(bins):
    step = max(5, 100 // len(bins))
    width, height = step * len(bins), 56
    most = max(bins)
    bars = "".join(
        f'<rect x="{step * i}" y="{height - h:.1f}" width="{step - 1}" height="{h:.1f}" fill="#5b8fd6"/>'
        for i, count in enumerate(bins)
        if (h := height * count / most) > 0
    )
    return (
        f'<svg width="{width}" height="{height + 1}" role="img"><title>histogram</title>{bars}'
        f'<rect y="{height}" width="{width}" height="1" fill="#8896a8"/></svg>'
    )


def _places(n):
    """Which of n rows or columns are shown; None stands for those left out."""
    return list(range(n)) if n <= 2 * _EDGE + 2 else [*range(_EDGE), None, *range(n - _EDGE, n)]


def _tint(value, largest):
    """A background: red for what is above zero, blue below, yellow for what is no number."""
    if isinstance(value, (bool, complex)):
        return ""
    if not math.isfinite(value):
        return "background:rgba(240,200,60,.55)"
    if not largest:
        return ""
    color = "214,96,77" if value > 0 else "67,147,195"
    return f"background:rgba({color},{0.45 * abs(value) / largest:.2f})"


def _values(t):
    """A table of the values at the edges: of the last two dimensions, at the start of the others."""
    place = ""
    if t.dim() > 2:
        place = f"<div style='{_SOFT}'>[{', '.join(['0'] * (t.dim() - 2))}, :, :]</div>"
        t = t[(0,) * (t.dim() - 2)]
    t = t.reshape(1, -1) if t.dim() < 2 else t
    columns = _places(t.size(1))
    rows = [None if i is None else [None if j is None else t[i, j].item() for j in columns] for i in _places(t.size(0))]
    shown = [v for row in rows if row for v in row if isinstance(v, (int, float)) and math.isfinite(v)]
    largest = max(map(abs, shown), default=0)
    lines = []
    for row in rows:
        left_out = f"<td style='{_CELL};{_SOFT}'>{'⋮' if row is None else '…'}</td>"
        cells = [
            left_out if v is None else f"<td style='{_CELL};{_tint(v, largest)}'>{_text(v)}</td>"
            for v in row or [None] * len(columns)
        ]
        lines.append(f"<tr style='background:none'>{''.join(cells)}</tr>")
    table = f"<table style='border-collapse:separate;border-spacing:1px;margin:0'>{''.join(lines)}</table>"
    return f"<div>{place}{table}</div>"


def _head(t):
    size = t.nbytes
    unit = 0
    while size >= 1024 and unit < 4:
        size, unit = size / 1024, unit + 1
    parts = [
        f"{tuple(t.shape)}",
        str(t.dtype).removeprefix("torch."),
        f"{size:.3g} {('B', 'KB', 'MB', 'GB', 'TB')[unit]}",
    ]
    if t.device.type != "cpu":
        parts.append(str(t.device))
    if not t.is_contiguous():
        parts.append(f"strides {t.stride()}")
    if t.grad_fn is not None:
        parts.append(f"grad_fn={type(t.grad_fn).__name__}")
    elif t.requires_grad:
        parts.append("requires_grad")
    text = " · ".join(escape(part) for part in parts)
    return f"<div><b>{escape(type(t).__name__)}</b> <span style='{_SOFT}'>{text}</span></div>"


def _body(t):
    if t.device.type == "meta" or t.numel() == 0:
        return ""
    parts = []
    if t.numel() > 1:
        numbers = _Numbers(t)
        rows = "".join(
            f"<tr style='background:none'><td style='{_NAME}'>{name}</td><td style='{_VALUE}'>{text}</td></tr>"
            for name, text in numbers.rows
        )
        if rows:
            parts.append(f"<table style='border-collapse:collapse;margin:0'>{rows}</table>")
        if numbers.bins:
            parts.append(_histogram(numbers.bins))
    parts.append(_values(t))
    cells = "".join(f"<td style='padding:6px 20px 0 0;border:0;vertical-align:middle'>{part}</td>" for part in parts)
    return f"<table style='border-collapse:collapse;margin:0'><tr style='background:none'>{cells}</tr></table>"


def html(t):
    """The summary. What can't be read, such as a class with values of its own kind, is shown as text."""
    try:
        with vivace.no_grad():
            body = _body(t.detach())
        return f'<div style="{_BOX}">{_head(t)}{body}</div>'
    except Exception:
        return f"<pre>{escape(_plain(t))}</pre>"


def _plain(t):
    try:
        return repr(t)
    except Exception as error:
        return f"<{type(t).__name__}: {type(error).__name__}: {error}>"
