"""The schema of a Python function, from its annotations."""

import collections.abc
import inspect
import typing

import vivace
from vivace.types import Number

_BASES = {
    vivace.Tensor: ("Tensor", "list optional-items"),
    int: ("SymInt", "list optional-list"),
    float: ("float", "list optional-list"),
    bool: ("bool", "list optional-list"),
    str: ("str", ""),
    Number: ("Scalar", "list"),
    vivace.dtype: ("ScalarType", ""),
    vivace.device: ("Device", ""),
}
_RETURNS = {
    vivace.Tensor: "Tensor",
    list[vivace.Tensor]: "Tensor[]",
    typing.List[vivace.Tensor]: "Tensor[]",  # noqa: UP006
    int: "SymInt",
    float: "float",
    bool: "bool",
    Number: "Scalar",
}


def _parameter_types():
    table = {}
    for base, (name, forms) in _BASES.items():
        optional = typing.Optional[base]  # noqa: UP045
        table[base], table[optional] = name, f"{name}?"
        for sequence in (typing.Sequence, typing.List, collections.abc.Sequence, list):  # noqa: UP006
            if "list" in forms:
                table[sequence[base]] = f"{name}[]"
            if "optional-items" in forms:
                table[sequence[optional]] = f"{name}?[]"
            if "optional-list" in forms:
                table[typing.Optional[sequence[base]]] = f"{name}[]?"  # noqa: UP045
    return table


_PARAMETERS = _parameter_types()


def _evaluated(annotation, function, fail):
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, function.__globals__)
    except Exception as error:
        fail(f"Unsupported type annotation {annotation}. It is not a type. ({type(error).__name__}: {error})")


def _default_text(name, value, fail):
    if value is None or isinstance(value, int | float):
        return str(value)
    if isinstance(value, str | vivace.device):
        return f'"{value}"'
    if isinstance(value, vivace.dtype):
        return str(value).removeprefix("torch.")
    fail(f"Parameter {name} has an unsupported default value type {type(value)}.")


def _return_text(annotation, fail):
    if annotation is None:
        return "()"
    if annotation is inspect.Signature.empty:
        fail("No return type annotation was provided. Please add one.")
    parts = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else None
    for part in (annotation,) if parts is None else parts:
        if part not in _RETURNS:
            fail(f"Return has unsupported type {annotation}. The valid types are: {list(_RETURNS)}.")
    if parts is None:
        return _RETURNS[annotation]
    return "(" + ", ".join(_RETURNS[part] for part in parts) + ")"


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """`(Tensor x, SymInt n=1) -> Tensor` of a function with annotations. `mutates_args` names the arguments that it
    writes to, or is "unknown": any tensor.
    """
    signature = inspect.signature(prototype_function)

    def fail(what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    unknown = mutates_args == "unknown"
    if isinstance(mutates_args, str) and not unknown:
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
            "'unknown'. "
        )
    mutated = () if unknown else tuple(mutates_args)
    texts = []
    keyword_only = False
    for position, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            texts.append("*")
        if parameter.annotation is parameter.empty:
            fail(f"Parameter {name} must have a type annotation.")
        annotation = _evaluated(parameter.annotation, prototype_function, fail)
        type_ = _PARAMETERS.get(annotation)
        if type_ is None:
            hint = " Tuples are not supported; use a list." if typing.get_origin(annotation) is tuple else ""
            fail(
                f"Parameter {name} has unsupported type {parameter.annotation}.{hint} "
                f"The valid types are: {list(_PARAMETERS)}."
            )
        is_tensor = type_.startswith("Tensor")
        if name in mutated and not is_tensor:
            fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        if name in mutated or (unknown and is_tensor):
            type_ = f"Tensor(a{position}!)" + type_.removeprefix("Tensor")
        text = f"{type_} {name}"
        if parameter.default is not parameter.empty:
            text += "=" + _default_text(name, parameter.default, fail)
        texts.append(text)
    missing = set(mutated) - set(signature.parameters)
    if missing:
        fail(
            f"{missing} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    returned = _return_text(_evaluated(signature.return_annotation, prototype_function, fail), fail)
    return f"{op_name or ''}({', '.join(texts)}) -> {returned}"
