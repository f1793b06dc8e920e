"""Threads are here, though not those of OpenMP."""


def is_available():
    return True
