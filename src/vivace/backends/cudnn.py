"""There is no cuDNN; its switches can be set."""

enabled = True
deterministic = False
benchmark = False
benchmark_limit = 10
allow_tf32 = True


def is_available():
    return False


def version():
    return None
