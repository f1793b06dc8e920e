"""Marks functions that need float32 under autocast."""

names = set()


def in_float32(function):
    """Under autocast the function, as nn.functional has it, gets its floating tensors in float32."""
    names.add(function.__name__)
    return function
