"""assert_close: numbers, tensors and containers of them, compared element by element."""

import cmath
import collections.abc
import contextlib
import math
import numbers

import vivace

# rtol and atol where the caller gives none; 0 for the types that are not here.
_TOLERANCES = {
    vivace.float16: (1e-3, 1e-5),
    vivace.bfloat16: (1.6e-2, 1e-5),
    vivace.float32: (1.3e-6, 1e-5),
    vivace.float64: (1e-7, 1e-7),
    vivace.complex64: (1.3e-6, 1e-5),
    vivace.complex128: (1e-7, 1e-7),
}


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere."""
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    options |= {"check_device": check_device, "check_dtype": check_dtype, "check_stride": check_stride}
    problem = _compare(actual, expected, "", allow_subclasses, options)
    if problem is not None:
        raise AssertionError(problem if msg is None else msg(problem) if callable(msg) else msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old form of assert_close, which looks at values only."""
    if not isinstance(actual, vivace.Tensor):
        actual = vivace.tensor(actual)
    if not isinstance(expected, vivace.Tensor):
        expected = vivace.tensor(expected, dtype=actual.dtype)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _compare(actual, expected, where, allow_subclasses, options):
    """None, or what is wrong."""
    if isinstance(actual, collections.abc.Mapping) and isinstance(expected, collections.abc.Mapping):
        if actual.keys() != expected.keys():
            missing = sorted(map(str, expected.keys() - actual.keys()))
            extra = sorted(map(str, actual.keys() - expected.keys()))
            return f"The keys of the mappings do not match{where}: missing {missing}, additional {extra}"
        pairs = [(actual[k], expected[k], _item(where, k)) for k in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch{where}: {len(actual)} != {len(expected)}"
        pairs = [(a, e, _item(where, i)) for i, (a, e) in enumerate(zip(actual, expected, strict=True))]
    else:
        return _compare_values(actual, expected, where, allow_subclasses, options)
    for a, e, place in pairs:
        problem = _compare(a, e, place, allow_subclasses, options)
        if problem is not None:
            return problem
    return None


def _item(where, key):
    return f"{where or chr(10) + chr(10) + 'The failure occurred for item '}[{key!r}]"


def _is_sequence(x):
    return isinstance(x, collections.abc.Sequence) and not isinstance(x, str)


def _compare_values(actual, expected, where, allow_subclasses, options):
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch{where}: {actual} is not {expected}"
    if all(isinstance(x, (int, float, complex)) for x in (actual, expected)):
        return _compare_numbers(actual, expected, where, options)
    tensors = _as_tensors(actual, expected, where)
    if not allow_subclasses and type(actual) is not type(expected):
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}{where}."
        )
    return _compare_tensors(*tensors, where, options)


def _as_tensors(actual, expected, where):
    """The two as tensors, if they are of kinds that go together: tensors, or what torch.as_tensor takes of one type."""
    if all(isinstance(x, vivace.Tensor) for x in (actual, expected)):
        return actual, expected
    if type(actual) is type(expected) or all(isinstance(x, numbers.Number) for x in (actual, expected)):
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            return vivace.as_tensor(actual), vivace.as_tensor(expected)
    raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}{where}.")


def _compare_numbers(actual, expected, where, options):
    if options["check_dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match{where}: {type(actual)} != {type(expected)}."
    dtypes = {int: vivace.int64, float: vivace.float64, complex: vivace.complex128, bool: vivace.bool}
    rtol, atol = _tolerances(dtypes[type(actual)], dtypes[type(expected)], options)
    if actual == expected or (options["equal_nan"] and cmath.isnan(actual) and cmath.isnan(expected)):
        return None
    difference = abs(actual - expected)
    if math.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return None
    kind = "Booleans" if isinstance(actual, bool) else "Scalars"
    if rtol == atol == 0:
        return (
            f"{kind} are not equal!{where}\n\nExpected {expected} but got {actual}.\nAbsolute difference: {difference}"
        )
    relative = difference / abs(expected) if expected else math.inf
    return (
        f"{kind} are not close!{where}\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference} (up to {atol} allowed)\n"
        f"Relative difference: {relative} (up to {rtol} allowed)"
    )


def _tolerances(a, b, options):
    if options["rtol"] is not None:
        return options["rtol"], options["atol"]
    given = [_TOLERANCES.get(d, (0.0, 0.0)) for d in (a, b)]
    return max(given[0][0], given[1][0]), max(given[0][1], given[1][1])


def _compare_tensors(actual, expected, where, options):
    actual, expected = actual.detach(), expected.detach()
    if actual.shape != expected.shape:
        return f"The values for attribute 'shape' do not match{where}: {actual.shape} != {expected.shape}."
    for name in ("device", "dtype"):
        a, e = getattr(actual, name), getattr(expected, name)
        if options[f"check_{name}"] and a != e:
            return f"The values for attribute '{name}' do not match{where}: {a} != {e}."
    if options["check_stride"] and actual.stride() != expected.stride():
        return f"The values for attribute 'stride()' do not match{where}: {actual.stride()} != {expected.stride()}."
    rtol, atol = _tolerances(actual.dtype, expected.dtype, options)
    if actual.dtype != expected.dtype:
        common = vivace.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    matches = vivace.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=options["equal_nan"])
    if bool(matches.all()):
        return None
    return _describe_tensors(actual, expected, matches, rtol, atol, where)


def _describe_tensors(actual, expected, matches, rtol, atol, where):
    total = matches.numel()
    wrong = total - int(matches.sum())
    exact = rtol == atol == 0
    text = f"Tensor-likes are not {'equal' if exact else 'close'}!{where}\n\n"
    if total == 1:
        return text + f"Expected {expected.item()} but got {actual.item()}."
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(vivace.int64), expected.to(vivace.int64)
    difference = (actual - expected).abs()
    relative = difference / expected.abs()
    text += f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"
    for name, values, bound in (("absolute", difference, atol), ("relative", relative, rtol)):
        masked = vivace.where(matches, vivace.zeros_like(values), values).flatten()
        flat = int(masked.argmax())
        index = tuple(flat // math.prod(actual.shape[d + 1 :]) % n for d, n in enumerate(actual.shape))
        allowed = "" if exact else f" (up to {bound} allowed)"
        text += f"\nGreatest {name} difference: {masked[flat].item()} at index {index}{allowed}"
    return text
