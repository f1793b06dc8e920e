"""Searching in sorted sequences, and sets."""

import vivace
from vivace.func._rules.table import rule


@rule("searchsorted.Tensor")
def searchsorted(info, in_dims, sorted_sequence, self, **options):
    if options.get("sorter") is not None:
        return NotImplemented
    size = info.batch_size
    shared = in_dims[0] is None and sorted_sequence.dim() == 1
    if shared:
        return vivace.searchsorted(sorted_sequence, self, **options), 0
    sequence, values = (
        t if d is not None else t.unsqueeze(0).expand(size, *t.shape)
        for t, d in zip((sorted_sequence, self), in_dims, strict=True)
    )
    if sequence.dim() > 2:
        return vivace.searchsorted(sequence.contiguous(), values.contiguous(), **options), 0
    flat = values.reshape(size, -1)
    return vivace.searchsorted(sequence.contiguous(), flat.contiguous(), **options).view(values.shape), 0


@rule("isin.Tensor_Tensor")
def isin(info, in_dims, elements, test_elements, *, assume_unique=False, invert=False):
    elements = elements if in_dims[0] is not None else elements.unsqueeze(0)
    flat = test_elements.reshape(info.batch_size, *[1] * (elements.dim() - 1), -1)
    found = (elements.unsqueeze(-1) == flat).any(-1)
    return ~found if invert else found, 0
