"""How tensors print: character for character what PyTorch prints.

Values are read as nested lists, summarised where needed; from there on everything is text.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass

from vivace import _C

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


@dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
PRINT_OPTS = _Options()


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Sets how tensors print.

    precision: digits after the point; threshold: above so many elements only the edges are shown, `edgeitems` of them
    at both ends; linewidth: characters in a line; profile: "default", "short" or "full"; sci_mode: always (True) or
    never (False) 1.5e+03, or as the values demand (None).
    """
    options = vars(PRINT_OPTS)
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions: profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
        options.update(vars(_PROFILES[profile]))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    options.update({k: v for k, v in given.items() if v is not None}, sci_mode=sci_mode)


def get_printoptions():
    """The options in force, as a dictionary."""
    return dict(vars(PRINT_OPTS))


@contextmanager
def printoptions(**kwargs):
    """set_printoptions for a with block."""
    saved = get_printoptions()
    set_printoptions(**({"sci_mode": saved["sci_mode"]} | kwargs))
    try:
        yield
    finally:
        vars(PRINT_OPTS).update(saved)


class _Ellipsis:
    """Stands between the edges of a summarised dimension."""


_ELLIPSIS = _Ellipsis()


def _flatten(values):
    if isinstance(values, list):
        for value in values:
            yield from _flatten(value)
    elif values is not _ELLIPSIS:
        yield values


def _read(t, summarize):
    """The tensor as nested lists; with `summarize`, long dimensions have only their edges."""
    edge = PRINT_OPTS.edgeitems
    if t.dim() == 0:
        return t.item()
    n = t.size(0)
    cut = summarize and n > 2 * edge
    if t.dim() == 1:
        if not cut:
            return t.tolist()
        return [*t[:edge].tolist(), _ELLIPSIS, *(t[n - edge :].tolist() if edge else [])]
    if not summarize:
        return t.tolist()
    rows = [*range(edge), None, *range(n - edge, n)] if cut else range(n)
    return [_ELLIPSIS if i is None else _read(t[i], summarize) for i in rows]


class _RealFormatter:
    """Chooses one notation and one width for all elements."""

    def __init__(self, values, floating):
        self.floating = floating
        self.whole = True  # all finite values are integers: 3.
        self.scientific = False
        self.width = 1
        if not floating:
            self.width = max((len(str(v)) for v in values), default=1)
            return
        finite = [v for v in values if v != 0 and math.isfinite(v)]
        if not finite:
            return
        self.whole = all(v == math.ceil(v) for v in finite)
        largest, smallest = max(map(abs, finite)), min(map(abs, finite))
        wide = largest / smallest > 1000 or largest > 1e8
        self.scientific = wide or (not self.whole and smallest < 1e-4)
        if PRINT_OPTS.sci_mode is not None:
            self.scientific = PRINT_OPTS.sci_mode
        self.width = max(1, *(len(self._text(v)) for v in finite))

    def _text(self, value):
        if self.scientific:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if self.whole:
            return f"{value:.0f}" if math.isinf(value) or math.isnan(value) else f"{value:.0f}."
        return f"{value:.{PRINT_OPTS.precision}f}"

    def __call__(self, value):
        return (self._text(value) if self.floating else str(value)).rjust(self.width)


class _ComplexFormatter:
    def __init__(self, values):
        values = list(values)
        self.real = _RealFormatter([v.real for v in values], True)
        self.imag = _RealFormatter([v.imag for v in values], True)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value):
        imag = self.imag(value.imag).lstrip() + "j"
        sign = "" if imag[0] in "+-" else "+"
        return self.real(value.real) + sign + imag


def _vector(values, indent, formatter):
    # An element takes its own width, a comma and a space.
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (formatter.width + 2))
    gap = " ..." if len(values) > 1 else "..."
    texts = [gap if v is _ELLIPSIS else formatter(v) for v in values]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)] or [""]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(values, dim, indent, formatter):
    if dim == 0:
        return formatter(values)
    if dim == 1:
        return _vector(values, indent, formatter)
    parts = ["..." if v is _ELLIPSIS else _nested(v, dim - 1, indent + 1, formatter) for v in values]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(parts) + "]"


def _tensor_str(t, indent):
    """The values alone."""
    if t.numel() == 0:
        return "[]"
    values = _read(t, t.numel() > PRINT_OPTS.threshold)
    if t.dtype.is_complex:
        formatter = _ComplexFormatter(_flatten(values))
    else:
        formatter = _RealFormatter(list(_flatten(values)), t.dtype.is_floating_point)
    return _nested(values, t.dim(), indent, formatter)


def _add_suffixes(text, suffixes, indent, force_newline=False):
    """Appends `, suffix` for each, on a new line where the last one is full."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            length, force_newline = indent + len(suffix), False
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _is_default_dtype(dtype):
    default = _C.get_default_dtype()
    return dtype in (default, _C.int64, _C.bool) or (dtype.is_complex and dtype.to_real() == default)


def _str(self, *, tensor_contents=None):
    """What repr(self) is. `tensor_contents` replaces the values. Modes don't see what is done for it."""
    if _C._len_torch_dispatch_stack():
        from vivace.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes():
            return _str_intern(self, tensor_contents=tensor_contents)
    return _str_intern(self, tensor_contents=tensor_contents)


def _str_intern(self, *, tensor_contents=None):
    if level := _C._vmap_level(self):
        values = repr(_C._vmap_physical(self)).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={level}, bdim=0, value=\n    {values}\n)"
    plain = type(self) in (_C.Tensor, _C.Parameter)
    prefix = "tensor(" if plain else type(self).__name__ + "("
    indent = len(prefix)
    suffixes = []
    t = self.detach()
    meta = t.device.type == "meta"
    elsewhere = t.device.type not in ("cpu", "meta")
    if elsewhere:
        suffixes.append(f"device='{t.device}'")
        t = t.cpu()
    if meta:
        suffixes += ["device='meta'", f"size={tuple(t.shape)}"]
    elif (t.numel() == 0 and t.dim() != 1) or (t.numel() > 0 and not PRINT_OPTS.edgeitems):
        suffixes.append(f"size={tuple(t.shape)}")
    default_dtype = t.dtype == _C.get_default_dtype() if t.numel() == 0 or meta else _is_default_dtype(t.dtype)
    if not default_dtype:
        suffixes.append(f"dtype={t.dtype}")
    text = tensor_contents
    if text is None:
        text = "..." if meta else _tensor_str(t, indent)
    if self.grad_fn is not None:
        suffixes.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
    elif self.requires_grad:
        suffixes.append("requires_grad=True")
    if tangents := _C._tangents(self):
        suffixes.append(f"tangent={tangents[-1][1]!r}")
    text = _add_suffixes(prefix + text, suffixes, indent)
    return text if plain or not isinstance(self, _C.Parameter) else f"Parameter({text})"


def _repr(self, *, tensor_contents=None):
    """repr(self), of Parameter too."""
    text = _str(self, tensor_contents=tensor_contents)
    return "Parameter containing:\n" + text if issubclass(type(self), _C.Parameter) else text
