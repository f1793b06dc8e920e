"""Errors of accelerators, which nothing raises here; programs name them in `except` clauses."""


class AcceleratorError(RuntimeError):
    """A device reports an error."""


class OutOfMemoryError(RuntimeError):
    """A device has too little memory."""
