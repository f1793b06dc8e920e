"""Parameters as one vector, and back."""

import vivace

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """All parameters, flattened, one after the other."""
    return vivace.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Gives each parameter its slice of the vector as its data."""
    if not isinstance(vec, vivace.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {vivace.typename(vec)}")
    start = 0
    for p in parameters:
        end = start + p.numel()
        p.data = vec[start:end].view_as(p).data
        start = end
