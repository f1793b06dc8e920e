"""Rules of operators in vmap, by topic."""

from vivace.func._rules import (
    convolution,
    indexing,
    letters,
    losses,
    norms,
    products,
    random,
    reductions,
    refused,
    shapes,
    sorting,
)
from vivace.func._rules.table import install

# They write into a copy of an argument that need not be batched.
install(("select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter"))
