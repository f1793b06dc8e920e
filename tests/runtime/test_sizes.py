"""Sizes and counts beyond what memory or int64 holds are refused before memory is touched, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import resolve
from tools.fuzz_calls import entries

HUGE = 2**62
REFUSED: list[Callable[[Any], Any]] = [
    lambda m: m.zeros(HUGE),  # the bytes overflow, the elements don't
    lambda m: m.zeros(HUGE, dtype=m.int64, device="meta"),
    lambda m: m.arange(HUGE),
    lambda m: m.logspace(0, 2, HUGE),
    lambda m: m.empty_strided([2], [HUGE]),
    lambda m: m.zeros(3).resize_(HUGE),
    lambda m: m.ones(1).expand(HUGE, 4),
    lambda m: m.triu_indices(2**63 - 1, 5, -(2**62)),
    lambda m: m.tril_indices(2**63 - 1, 5),
    lambda m: m.zeros(*[1] * 65),
    lambda m: m.repeat_interleave(m.tensor([2**62] * 4)),
    lambda m: m.nn.functional.pad(m.ones(5), (2**63 - 1, 2**63 - 1)),
    lambda m: m.ones(6).repeat_interleave(2**62),
    lambda m: m.diag_embed(m.ones(5), 2**63 - 3),
    lambda m: m.as_strided(m.ones(5), [2**61 + 2], [1], 0),
    lambda m: m.chunk(m.ones(0), 2**62),
]


@pytest.mark.parametrize("call", REFUSED)
def test_too_large(module: Any, call: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError, match=r"overflow|memory|too far|too many|at most 64|Storage size"):
        call(module)


def test_sizes_of_parts_that_come_round_to_the_whole(module: Any) -> None:
    for size, parts in ((0, [2**62] * 4), (3, [2**63 - 1, 2**63 - 1, 5])):
        with pytest.raises(RuntimeError, match="sum exactly to"):
            module.ones(size).split(parts)
    assert [t.numel() for t in module.ones(3).split([1, 0, 2])] == [1, 0, 2]


def test_strides_beyond_a_dim_of_size_0_wrap(module: Any) -> None:
    assert module.empty(2**62, 2**62, 2**62, 0).numel() == module.zeros(0, 2**62, 8).numel() == 0


def test_images_that_unpooling_has_no_room_for(module: Any) -> None:
    unpool = resolve(module, entries()["_max_unpool"])
    for sizes in ([5], [5, 1, 2], [0, 1, 2], [1, 2]):
        with pytest.raises(RuntimeError, match="has no images"):
            unpool(module.ones(1), module.zeros(1, dtype=module.int64), sizes)


def test_resampling_by_what_can_not_be(module: Any) -> None:
    resample, x = resolve(module, entries()["_resample"]), module.ones(2, 3, 5)
    for dim, size, scale in ((-(2**31), 2, 0.5), (3, 2, 0.5), (2, -1, 0.5), (2, 7, -2.5), (2, 7, float("nan"))):
        with pytest.raises(RuntimeError, match="interpolate"):
            resample(x, dim, size, "nearest-exact", scale, True)


def test_more_chunks_than_elements(module: Any) -> None:
    assert [t.tolist() for t in module.arange(3).chunk(2**63 - 1)] == [[0], [1], [2]]


@pytest.mark.parametrize("rows", [0, 1, 4, 6])
@pytest.mark.parametrize("columns", [0, 1, 3, 5])
def test_indices_of_triangles(module: Any, rows: int, columns: int) -> None:
    for offset in (-(2**63), -7, -2, -1, 0, 1, 2, 7, 2**63 - 1):
        for lower in (True, False):
            indices = module.tril_indices if lower else module.triu_indices
            inside = [
                (r, c) for r in range(rows) for c in range(columns) if (c - r <= offset if lower else c - r >= offset)
            ]
            assert [tuple(p) for p in indices(rows, columns, offset).T.tolist()] == inside


def test_the_upper_triangle_of_many_rows_ends_early(module: Any) -> None:
    assert module.triu_indices(2**40, 2).tolist() == [[0, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("name", ["reshape", "view", "expand", "repeat", "tile", "resize_", "permute", "broadcast_to"])
def test_lists_longer_than_a_tensor_has_dims(module: Any, name: str) -> None:
    with pytest.raises(RuntimeError):
        getattr(module.ones(1), name)([1] * 160)
    assert len(module.ones(100).split([1] * 100)) == 100


def test_a_failed_tensor_frees_nothing_of_the_one_before_it(module: Any) -> None:
    """Six dims lie on the heap; the tensor that takes the object over fails before it has any."""
    for _ in range(50):
        module.zeros(1, 1, 1, 1, 1, 1)
        with pytest.raises(RuntimeError, match="at most 64"):
            module.zeros([1] * 80)
    kept = [module.zeros(1, 1, 1, 1, 1, i) for i in range(50)]
    assert [t.shape[-1] for t in kept] == list(range(50))


@pytest.mark.parametrize("name", ["conv1d", "conv2d", "conv_transpose2d", "max_pool1d", "max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize("huge", [2**31, 2**62, 2**63 - 1])
@pytest.mark.parametrize("which", range(4))
def test_windows_beyond_32_bits(module: Any, name: str, huge: int, which: int) -> None:
    """Twice a padding and a dilation times a kernel must not overflow."""
    function = getattr(module.nn.functional, name)
    x = module.ones(*[1, 2] + [5] * int(name[-2]))
    if name.startswith("conv"):
        weight = module.ones(*[2, 2] + [3] * int(name[-2]))
        argument = ("stride", "padding", "dilation", "output_padding" if "transpose" in name else "padding")[which]
        with pytest.raises(RuntimeError):
            function(x, weight, **{argument: huge})
    else:
        numbers = [3, 1, 1, 1]
        numbers[which] = huge
        with pytest.raises((RuntimeError, TypeError)):
            function(x, *numbers)


def test_strides_beyond_the_input(module: Any) -> None:
    x, w = module.ones(1, 2, 5, 5, requires_grad=True), module.ones(2, 2, 3, 3)
    y = module.nn.functional.conv2d(x, w, stride=2**31 - 1)
    y.sum().backward()
    assert y.shape == (1, 2, 1, 1)
    assert x.grad.sum().item() == 36
    three = module.ones(1, 1, 2, 2, 2), module.ones(1, 1, 1, 1, 1)
    with pytest.raises(RuntimeError, match="memory"):
        module.nn.functional.conv3d(*three, stride=2**31 - 1, padding=2**31 - 1)


@pytest.mark.parametrize("n", [2**45, 2**50])
def test_too_large_a_tensor_is_a_runtime_error(module: Any, n: int) -> None:
    """In the words that programs look for which try a smaller batch then."""
    text = f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {4 * n} bytes"
    for make in (
        lambda: module.empty(n),
        lambda: module.zeros(1).expand(n).clone(),
        lambda: module.empty(0).resize_(n),
    ):
        with pytest.raises(RuntimeError, match=text):
            make()


NEAR_THE_ENDS: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda m: m.ones(2, 3).roll(-(2**63), 1), [[1.0] * 3] * 2),
    (lambda m: m.ones(2, 2).tril(2**63 - 1), [[1.0] * 2] * 2),
    (lambda m: m.ones(2, 2).triu(-(2**63)), [[1.0] * 2] * 2),
    (lambda m: m.arange(3.0)[1 :: 2**62], [1.0]),
    (lambda m: m.arange(3.0).unfold(0, 2, 2**63 - 1), [[0.0, 1.0]]),
    (lambda m: m.zeros(0, 3).sum(0), [0.0] * 3),
    (lambda m: m.zeros(0).view(0, 3, 2**63 - 1), []),
    (
        lambda m: m.tensor([2, 3], dtype=m.uint16).index_reduce(
            0, m.tensor([0]), m.tensor([65535], dtype=m.uint16), "prod"
        ),
        [65534, 3],
    ),
]


@pytest.mark.parametrize(("call", "expected"), NEAR_THE_ENDS)
def test_numbers_near_the_ends_of_int64(module: Any, call: Callable[[Any], Any], expected: Any) -> None:
    assert call(module).tolist() == expected


REFUSED_NEAR_THE_ENDS: list[Callable[[Any], Any]] = [
    lambda m: m.bincount(m.tensor([2**63 - 1])),
    lambda m: m.nn.functional.one_hot(m.tensor([2**63 - 1])),
    lambda m: m.gather(m.ones(3), 0, m.tensor([-(2**63)])),
    lambda m: m.histogram(m.ones(3), 2**63 - 1),
    lambda m: m.zeros(3, 0).unflatten(1, [2, 2**63 - 1]),
    lambda m: m.rot90(m.ones(2, 2), 1, [0, -(2**63)]),
    lambda m: m.nn.functional.ctc_loss(m.ones(2, 2, 3), m.ones(2, 1).long(), [2, 2], [2**63 - 1, 2**63 - 1]),
    lambda m: m.rnn_tanh(m.ones(1, 1, 1), m.ones(1, 1, 1), [m.ones(1, 1)] * 2, False, 2**62, 0.0, False, False, False),
]


@pytest.mark.parametrize("call", REFUSED_NEAR_THE_ENDS)
def test_refused_near_the_ends_of_int64(module: Any, call: Callable[[Any], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError), match=r"\w"):
        call(module)
