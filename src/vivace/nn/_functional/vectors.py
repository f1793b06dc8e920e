"""Functions of rows and pairs of vectors."""

import vivace

from . import native as _nn

__all__ = [
    "bilinear",
    "cosine_similarity",
    "local_response_norm",
    "normalize",
    "one_hot",
    "pairwise_distance",
]


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """The input over its norm along `dim`, which counts as at least eps."""
    size = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / size if out is None else vivace.div(input, size, out=out)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along `dim`; norms count as at least eps."""
    shape = (x1 * x2).shape
    x1, x2 = x1.expand(shape), x2.expand(shape)
    if not (x1.is_floating_point() or x1.is_complex()):
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {x1.dtype}")

    def unit(x):
        size = x.norm(2, dim, keepdim=True)
        return x / size.clamp_min(eps)

    return (unit(x1) * unit(x2)).sum(dim)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The norm p of x1 - x2 + eps along the last dim."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def one_hot(input, num_classes=-1):
    if input.dtype != vivace.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if input.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return vivace.zeros(*input.shape, num_classes, dtype=vivace.int64)
    if input.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(input.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif input.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (input.unsqueeze(-1) == vivace.arange(num_classes)).long()


def bilinear(input1, input2, weight, bias=None):
    """x1 @ weight[k] @ x2 for each output k, plus the bias; weight is (out, in1, in2)."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: got {input1.shape} and {input2.shape}")
    if input1.size(-1) != weight.size(1) or input2.size(-1) != weight.size(2):
        raise RuntimeError(
            f"bilinear(): input sizes do not match weight size: got {input1.size(-1)} and {input2.size(-1)} "
            f"but expected {weight.size(1)} and {weight.size(2)}"
        )
    product = (input1.unsqueeze(-2).unsqueeze(-2) @ weight).squeeze(-2)  # (..., out, in2)
    result = (product * input2.unsqueeze(-2)).sum(-1, dtype=product.dtype)
    return result if bias is None else result + bias


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Each element over (k + alpha * mean of squares of `size` neighbouring channels)**beta."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = _nn.pad(input.mul(input).movedim(1, -1), (size // 2, (size - 1) // 2))
    total = squares.unfold(-1, size, 1).sum(-1).movedim(-1, 1)
    mean = total / size if input.is_floating_point() else total.div(size, rounding_mode="trunc")
    return input / mean.mul(alpha).add(k).pow(beta)
