"""Kinds of events: those of the native recorder, in its order, and what Python adds."""

OPERATOR, EVALUATE, APPLY, ACCUMULATE, RANGE, INSTANT = range(6)
