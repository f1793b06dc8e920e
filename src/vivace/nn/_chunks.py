"""How linear_cross_entropy divides a batch."""

import dataclasses
import math

import vivace


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How many rows of a batch have their logits in memory at once: `batch_chunk_size`, or what `chunking_method`
    makes of the sizes. The others are taken and change nothing: chunks are computed in the dtype of the input, and
    backward may always run twice."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: vivace.dtype | None = None

    def rows(self, batch, in_features, classes):
        """The rows of a chunk."""
        if self.batch_chunk_size is not None:
            return self.batch_chunk_size
        if self.chunking_method is None:
            return max(batch, 1)
        parts = 2 if self.chunking_method == "auto" else int(self.chunking_method.partition(":")[2] or 1)
        rows = math.ceil(batch / math.ceil(classes / in_features))
        return max(1, (1 << max(rows - 1, 0).bit_length()) // parts)
