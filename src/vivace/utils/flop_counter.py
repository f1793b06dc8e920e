"""FlopCounterMode: floating-point operations of products, convolutions and attention, by module and operator.

Counts and names are PyTorch's, so that tables compare. The operators that vivace has in place of several of PyTorch's
are counted under the names of these.
"""

import warnings
from collections import defaultdict
from functools import wraps
from math import prod

import vivace
from vivace import _C
from vivace.utils._python_dispatch import TorchDispatchMode
from vivace.utils._pytree import tree_map
from vivace.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = vivace.ops.aten
flop_registry = {}


def get_shape(value):
    """The shape of a tensor; what is no tensor as it is."""
    return value.shape if isinstance(value, vivace.Tensor) else value


def shape_wrapper(formula):
    """A formula of shapes as one of tensors."""

    @wraps(formula)
    def wrapped(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return wrapped


def register_flop_formula(targets, get_raw=False):
    """Registers a formula for an operator or several: `formula(*args, out_shape=..., **kwargs)`, where shapes stand for
    tensors; with `get_raw` it gets the tensors, and the result as `out_val`."""

    def register(formula):
        counted = formula if get_raw else shape_wrapper(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = counted
        return formula

    return register


# ---- formulas


@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    m, k = a_shape
    return m * b_shape[1] * 2 * k


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    b, m, k = a_shape
    return b * m * b_shape[2] * 2 * k


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Of a convolution: each element of the result, or of what a transposed one reads, with each of a filter."""
    conv_shape = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(conv_shape) * prod(w_shape)


@register_flop_formula(aten.convolution)
def conv_flop(x_shape, w_shape, bias, stride, padding, dilation, transposed, *args, out_shape=None, **kwargs):
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


@register_flop_formula(aten.convolution_backward, get_raw=True)
def conv_backward_flop(grad, x, weight, *args, out_val=None):
    *_, transposed, _, _, mask = args
    by_input = conv_flop_count(grad.shape, weight.shape, x.shape, not transposed) if mask[0] else 0
    ends = (x.shape, grad.shape) if transposed else (grad.shape, x.shape)
    return by_input + (_conv_weight_flop(*ends, out_shape=weight.shape) if mask[1] else 0)


@register_flop_formula(aten.conv_input_grad)
def _conv_input_flop(grad_shape, w_shape, *args, out_shape=None, **kwargs):
    return conv_flop_count(grad_shape, w_shape, out_shape, transposed=True)


@register_flop_formula(aten.conv_weight_grad)
def _conv_weight_flop(grad_shape, x_shape, *args, out_shape=None, **kwargs):
    """As PyTorch, a convolution of the input with the gradients, in which all channels meet, whatever the groups."""
    return 2 * x_shape[1] * prod(out_shape[2:]) * prod(grad_shape)


def sdpa_flop_count(query_shape, key_shape, value_shape):
    """Of attention: the scores, and the values weighed by them."""
    *batch, queries, width = query_shape
    keys = key_shape[-2]
    return 2 * prod(batch) * queries * keys * (width + value_shape[-1])


@register_flop_formula(aten._scaled_dot_product_flash_attention_for_cpu)
def sdpa_flop(query_shape, key_shape, value_shape, *args, **kwargs):
    return sdpa_flop_count(query_shape, key_shape, value_shape)


@register_flop_formula(aten.recurrence)
def _recurrence_flop(gates_shape, h0_shape, c0_shape, weight_shape, bias_shape, projection_shape, *args, **kwargs):
    """The products of all steps with the hidden state; those with the inputs are a `linear` before."""
    return 2 * prod(gates_shape[:-1]) * (prod(weight_shape) + (prod(projection_shape) if projection_shape else 0))


# ---- names


def _convolution_name(*args):
    in_backward = _C._current_run() != 0 and not vivace.is_grad_enabled()
    return aten.convolution_backward if in_backward else aten.convolution


_NAMES = {  # of operators that PyTorch has not: what their work is there; texts stand for operators that vivace has not
    aten.convolution: _convolution_name,
    aten.conv_input_grad: _convolution_name,
    aten.conv_weight_grad: _convolution_name,
    aten._scaled_dot_product_flash_attention_for_cpu: lambda *args: "aten._scaled_dot_product_flash_attention",
    aten.recurrence: lambda *args: aten.mm,
}


# ---- tables

_SUFFIXES = ("", "K", "M", "B", "T")


def _number_text(count, power):
    return f"{count / 1000**power:.3f}{_SUFFIXES[power]}" if power else str(count)


def _table(rows):
    """Rows of three texts under their titles."""
    titles = ("Module", "FLOP", "% Total")
    widths = [
        max(len(title) + 2, *map(len, column)) for title, column in zip(titles, zip(*rows, strict=True), strict=True)
    ]
    lines = [titles, tuple("-" * width for width in widths), *rows]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in lines
    )


# ---- the mode


class FlopCounterMode:
    """A with block in which operations are counted. `depth`: how many levels of modules the table shows, which is
    printed at the end if `display`; custom_mapping: formulas by operator, which are used before those registered.
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode = None
        self.mod_tracker = ModuleTracker()
        custom = {
            packet: formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
            for packet, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **custom}

    def get_total_flops(self):
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """{module: {operator: count}}"""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        """The counts as text: of all and of modules, `depth` levels of them."""
        depth = self.depth if depth is None else depth
        whole = self.get_total_flops()
        power = max(0, min(len(_SUFFIXES) - 1, (len(str(whole)) - 2) // 3))

        def row(name, count):
            return name, _number_text(count, power), f"{count / whole:.2%}" if whole else "0%"

        def rows_of(module):
            counts = self.flop_counts[module]
            return [row(module, sum(counts.values())), *(row(f"- {name}", count) for name, count in counts.items())]

        modules = [m for m in sorted(self.flop_counts) if m != "Global" and m.count(".") < depth]
        rows = [line for module in modules for line in rows_of(module)]
        if not any(sum(self.flop_counts[m].values()) >= whole for m in modules) and self.flop_counts["Global"]:
            rows = rows_of("Global") + rows
        return _table(rows or [("Global", "0", "0%")])

    def _count(self, packet, args, kwargs, out):
        if packet not in self.flop_registry:
            return
        count = self.flop_registry[packet](*args, **kwargs, out_val=out)
        name = _NAMES[packet](*args) if packet in _NAMES else packet
        for module in self.mod_tracker.parents:
            self.flop_counts[module][name] += count

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Mode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exception):
        self.mode.__exit__(*exception)
        self.mode = None
        self.mod_tracker.__exit__(*exception)
        if self.display:
            print(self.get_table())
        return False


class _Mode(TorchDispatchMode):
    """Hands each operator to a counter."""

    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        self.counter._count(func.overloadpacket, args, kwargs, out)
        return out
