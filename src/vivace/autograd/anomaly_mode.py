"""Anomaly mode: a backward that computes a NaN raises, and says at which operator."""

from vivace import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Switches anomaly mode on or off: for good, or for a `with` block."""

    def __init__(self, mode, check_nan=True):
        self.prev, self.prev_check_nan = _C._get_anomaly()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _C._set_anomaly(self.prev, self.prev_check_nan)


class detect_anomaly:
    """A context in which a NaN gradient raises an error that names the operator whose backward made it, and the line
    of its forward call. The lines are in all errors of backward, in this mode or not.
    """

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        self.before = _C._get_anomaly()
        _C._set_anomaly(True, self.check_nan)

    def __exit__(self, *exc):
        _C._set_anomaly(*self.before)
