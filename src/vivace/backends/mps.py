"""There is no Metal backend."""


def is_built():
    return False


def is_available():
    return False
