"""Flatten and Unflatten."""

from .module import Module


class Flatten(Module):
    """Makes one dimension of a range of them."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes several dimensions of one."""

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if isinstance(dim, int):
            _require_items("tuple of ints", int, unflattened_size, tuple, list)
        elif isinstance(dim, str):
            _require_items("tuple of tuples", tuple, unflattened_size, tuple)
        else:
            raise TypeError("invalid argument type for dim parameter")
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _require_items(expected, item_type, sizes, *types):
    if not isinstance(sizes, types):
        raise TypeError(f"unflattened_size must be a {expected}, but found type {type(sizes).__name__}")
    for position, item in enumerate(sizes):
        if not isinstance(item, item_type):
            raise TypeError(
                f"unflattened_size must be {expected}, but found element of type {type(item).__name__} at pos "
                f"{position}"
            )
