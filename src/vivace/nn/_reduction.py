"""The `reduction` of losses, and the pair of flags that it replaced."""


def get_enum(reduction):
    """0 for "none", 1 for "mean", 2 for "sum"."""
    if reduction == "elementwise_mean":
        reduction = "mean"
    try:
        return ("none", "mean", "sum").index(reduction)
    except ValueError:
        raise ValueError(f"{reduction} is not a valid value for reduction") from None


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The reduction that the old flags mean."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    reduction = ("mean" if size_average else "sum") if reduce else "none"
    if emit_warning:
        import warnings

        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    return reduction


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of the reduction that the old flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
