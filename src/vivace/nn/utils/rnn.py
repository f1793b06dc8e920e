"""Sequences of different lengths: packed one time step after the other, or padded to one length."""

from collections import namedtuple
from itertools import pairwise

import vivace

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]  # fmt: skip


def invert_permutation(permutation):
    """The permutation that undoes another."""
    if permutation is None:
        return None
    inverse = vivace.empty_like(permutation)
    inverse.scatter_(0, permutation, vivace.arange(permutation.numel(), device=permutation.device))
    return inverse


class PackedSequence(namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    """The steps of a batch of sequences, longest first, unpadded; batch_sizes counts those left at each step."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if isinstance(data, (list, tuple)) and batch_sizes is None:
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually."
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else PackedSequence(data, *self[1:])

    def _converted(self, method):
        return PackedSequence(getattr(self.data, method)(), *self[1:])

    def double(self):
        return self._converted("double")

    def float(self):
        return self._converted("float")

    def half(self):
        return self._converted("half")

    def long(self):
        return self._converted("long")

    def int(self):
        return self._converted("int")

    def cpu(self):
        return self

    @property
    def is_cuda(self):
        return self.data.is_cuda


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded batch."""
    lengths = vivace.as_tensor(lengths, dtype=vivace.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = vivace.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    sizes = lengths.tolist()
    padded = input.transpose(0, 1) if batch_first else input
    if len(sizes) != padded.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={padded.size(1)})"
        )
    if not sizes or sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in pairwise(sizes)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not "
            "need ONNX exportability."
        )
    if sizes[0] > padded.size(0):
        raise RuntimeError(f"Expected lengths of at most {padded.size(0)}, the length of the input, but got {sizes[0]}")
    left = [sum(n > t for n in sizes) for t in range(sizes[0])]
    data = vivace.cat([padded[t, :n] for t, n in enumerate(left)])
    return PackedSequence(data, vivace.tensor(left, dtype=vivace.int64), sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch of a packed one, and the lengths."""
    left = sequence.batch_sizes.tolist()
    steps = len(left)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    rows = []
    for part in sequence.data.split(left):
        missing = left[0] - part.size(0)
        if missing:
            part = vivace.cat((part, part.new_full((missing, *part.shape[1:]), padding_value)))
        rows.append(part)
    while len(rows) < steps:
        rows.append(rows[0].new_full(rows[0].shape, padding_value))
    padded = vivace.stack(rows, 0)
    lengths = vivace.tensor([sum(n > i for n in left) for i in range(left[0])], dtype=vivace.int64)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """A list of tensors of different lengths as one padded tensor."""
    if not isinstance(sequences, (list, tuple, vivace.Tensor)):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        missing = longest - s.size(0)
        if missing:
            filler = s.new_full((missing, *s.shape[1:]), padding_value)
            s = vivace.cat((s, filler) if padding_side == "right" else (filler, s))
        rows.append(s)
    return vivace.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The list of tensors that pad_sequence was given."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows, lengths, strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of tensors of different lengths."""
    lengths = vivace.tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of tensors that pack_sequence was given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
