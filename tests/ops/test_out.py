"""out= of every operator that has it in PyTorch: dtype and size of the result, and refusals."""

import pytest

import vivace as torch

F = torch.nn.functional

CALLS = {  # those whose out= the catalogue states, one by one
    "aminmax": lambda x, **out: torch.aminmax(x, **out),
    "avg_pool2d": lambda x, **out: F.avg_pool2d(x[None], 2, **out),
    "avg_pool3d": lambda x, **out: F.avg_pool3d(x[None, None], (1, 2, 2), **out),
    "diff": lambda x, **out: torch.diff(x, **out),
    "float_power": lambda x, **out: torch.float_power(x, 2, **out),
    "float_power of a number": lambda x, **out: torch.float_power(2, x, **out),
    "gelu": lambda x, **out: F.gelu(x, approximate="tanh", **out),
    "hardshrink": lambda x, **out: torch.hardshrink(x, 0.5, **out),
    "linear": lambda x, **out: F.linear(x, x, **out),
    "log_softmax": lambda x, **out: torch.log_softmax(x, 1, **out),
    "logsigmoid": lambda x, **out: F.logsigmoid(x, **out),
    "max": lambda x, **out: torch.max(x, **out),
    "mean": lambda x, **out: torch.mean(x, **out),
    "min": lambda x, **out: torch.min(x, **out),
    "msort": lambda x, **out: torch.msort(x, **out),
    "nanmean": lambda x, **out: torch.nanmean(x, 1, **out),
    "nansum": lambda x, **out: torch.nansum(x, 1, **out),
    "norm": lambda x, **out: torch.norm(x, 2, 1, **out),
    "norm of a matrix": lambda x, **out: torch.norm(x, "fro", **out),
    "range": lambda x, **out: torch.range(0, 3, **out),
    "slice_scatter": lambda x, **out: torch.slice_scatter(x, x * 2, **out),
    "softmax": lambda x, **out: torch.softmax(x, 1, **out),
    "softplus": lambda x, **out: F.softplus(x, 2, **out),
    "softshrink": lambda x, **out: F.softshrink(x, 0.5, **out),
    "std": lambda x, **out: torch.std(x, dim=1, unbiased=True, **out),
    "var": lambda x, **out: torch.var(x, 1, False, **out),
    "vector_norm": lambda x, **out: torch.linalg.vector_norm(x, **out),
}


@pytest.mark.parametrize("name", CALLS)
def test_result_goes_where_it_is_told(name):
    x = torch.tensor([[1.0, -2.0, 0.5, 3.0], [0.0, 4.0, -1.5, 2.5]])
    expected = CALLS[name](x)
    several = isinstance(expected, tuple)
    wanted = expected if several else (expected,)
    outs = tuple(torch.empty(0, dtype=t.dtype) for t in wanted)
    result = CALLS[name](x, out=outs if several else outs[0])
    for ours, out, want in zip(result if several else (result,), outs, wanted, strict=True):
        assert ours is out
        assert out.tolist() == want.tolist() and out.shape == want.shape


def test_norms_of_complex_tensors_go_into_real_ones():
    x = torch.tensor([3 + 4j, 0j])
    for norm in (torch.linalg.norm, torch.linalg.vector_norm, torch.norm):
        out = torch.empty(0)
        assert norm(x, out=out) is out and out.item() == 5
