"""torch._foreach_add and its kin: one operator on each tensor of a list, as optimizers call it.

An argument that is a list has one item for each tensor; any other stands for all of them. The tensors' own operators do
the work, so types, derivatives and errors are theirs.
"""

from itertools import repeat

from vivace import _C

__all__ = ["functions"]

_UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip

# What follows the list of tensors, by PyTorch's names; several for one argument are those of its forms.
_ARGUMENTS = {
    **dict.fromkeys(_UNARY, ()),
    **dict.fromkeys(
        ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_max", "clamp_min"),
        (("other", "scalar", "scalars"),),
    ),
    **dict.fromkeys(("addcdiv", "addcmul"), (("tensor1",), ("tensor2",), ("value", "scalars"))),
    "lerp": (("tensors1",), ("weight", "weights")),
    "pow": (("exponent",),),
}
_OUT_OF_PLACE_ONLY = {
    "clone": (),
    "max": (),
    "mm": (("mat2",),),
    "norm": (("ord",), ("dtype",)),
    "powsum": (("ord",), ("dtype",)),
}


def _with_value(method):
    """addcmul and addcdiv, whose number is a keyword of the tensor's method."""
    return lambda tensor, first, second, value=1: method(tensor, first, second, value=value)


def _extreme(method, with_number):
    """maximum and minimum, which as operators take no numbers."""

    def call(tensor, other):
        return method(tensor, other) if isinstance(other, _C.Tensor) else with_number(tensor, other)

    return call


def _power(tensor, exponent):
    return tensor**exponent


def _norm(tensor, ord=2, dtype=None):
    from vivace.linalg import vector_norm

    return vector_norm(tensor, ord, dtype=dtype)


def _power_sum(tensor, ord=2, dtype=None):
    return tensor.abs().pow(ord).sum(dtype=dtype)


def _operator(name):
    method = getattr(_C.Tensor, name, None)
    end = "_" if name.endswith("_") else ""
    if name.startswith("addc"):
        return _with_value(method)
    if name.startswith(("maximum", "minimum")):
        number = getattr(_C.Tensor, f"clamp_{'min' if name.startswith('max') else 'max'}{end}")
        return _extreme(number if end else method, number)
    return {"pow": _power, "norm": _norm, "powsum": _power_sum}.get(name, method)


def _column(argument, count, scalars):
    """One item of an argument for each tensor."""
    if isinstance(argument, (list, tuple)):
        if len(argument) == count:
            return argument
        if argument and isinstance(argument[0], _C.Tensor):
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(argument)}")
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    if isinstance(argument, _C.Tensor) and argument.dim():
        if scalars:  # one tensor that holds the numbers
            return _column(argument.tolist(), count, scalars)
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {argument.dim()} dimensions and "
            f"{argument.numel()} elements."
        )
    return repeat(argument, count)


def _function(name, arguments):
    operator = _operator(name)
    full = "_foreach_" + name
    in_place = name.endswith("_")

    def call(self, *args, **kwargs):
        if not isinstance(self, (list, tuple)):
            if name != "pow":
                raise TypeError(f"{full}(): argument 'self' must be tuple of Tensors, not {type(self).__name__}")
            self = [self] * len(args[0])  # one number to the power of each tensor
        count = len(self)
        if not count:
            raise RuntimeError("Tensor list must have at least one tensor.")
        given = list(args)
        for names in arguments[len(args) :]:
            named = [kwargs.pop(n) for n in names if n in kwargs]
            if not named:
                break
            given += named
        columns = [_column(a, count, name.startswith("addc") and i == 2) for i, a in enumerate(given)]
        results = [operator(*row, **kwargs) for row in zip(self, *columns, strict=True)]
        return self if in_place else tuple(results)

    call.__module__, call.__name__, call.__qualname__ = "vivace", full, full
    call.__doc__ = f"{name} of each tensor of a list."
    return call


def functions():
    """All of them by name."""
    in_place = {name + "_": arguments for name, arguments in _ARGUMENTS.items()}
    in_place |= {"zero_": (), "copy_": (("src",),)}
    every = _ARGUMENTS | _OUT_OF_PLACE_ONLY | in_place
    return {"_foreach_" + name: _function(name, arguments) for name, arguments in every.items()}
