"""torch.testing: comparisons that say where two results differ."""

from vivace.testing._comparison import assert_allclose, assert_close

__all__ = ["assert_allclose", "assert_close"]
