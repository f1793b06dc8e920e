"""Kinds of events: those of the native recorder, in its order, and what Python adds; kinds of devices."""

import enum

OPERATOR, EVALUATE, APPLY, ACCUMULATE, RANGE, INSTANT = range(6)


class DeviceType(enum.Enum):
    """Where an event ran; here always on the CPU."""

    CPU = 0
    CUDA = 1
    XPU = 12
    Meta = 14
    PrivateUse1 = 20
