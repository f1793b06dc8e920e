"""torch.compiler: nothing is compiled, so its marks change nothing."""

from vivace._eager import compile as compile
from vivace._eager import unchanged

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "disable", "is_compiling", "is_dynamo_compiling"]

allow_in_graph = assume_constant_result = disable = substitute_in_graph = unchanged


def is_compiling():
    return False


def is_dynamo_compiling():
    return False


def is_exporting():
    return False


def reset():
    """Nothing to forget."""


def cudagraph_mark_step_begin():
    """There are no graphs."""


def set_stance(stance="default", **kwargs):
    """There is one way to run."""


def list_backends(exclude_tags=()):
    return ["eager"]
