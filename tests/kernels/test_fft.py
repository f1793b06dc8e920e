"""Fourier transforms against NumPy's, for lengths of every kind of factor; short-time transforms; gradients."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import signal

import vivace as torch

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 25, 31, 37, 64, 74, 97, 100, 143, 210, 1000, 1009, 4096]
RNG = np.random.RandomState(0)


def complex_numbers(*shape: int) -> np.ndarray:
    return RNG.randn(*shape) + 1j * RNG.randn(*shape)


def close(got: torch.Tensor, want: np.ndarray, tolerance: float = 1e-12) -> None:
    got = got.resolve_conj().numpy()
    assert got.shape == want.shape and np.iscomplexobj(got) == np.iscomplexobj(want)
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1.0, np.abs(want).max(initial=0)))


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n: int) -> None:
    z, x = complex_numbers(2, n), RNG.randn(2, n)
    close(torch.fft.fft(torch.from_numpy(z)), np.fft.fft(z))
    close(torch.fft.ifft(torch.from_numpy(z)), np.fft.ifft(z))
    close(torch.fft.rfft(torch.from_numpy(x)), np.fft.rfft(x))
    close(torch.fft.irfft(torch.fft.rfft(torch.from_numpy(x)), n), x)
    close(torch.fft.irfft(torch.from_numpy(z), n), np.fft.irfft(z, n))
    close(torch.fft.hfft(torch.from_numpy(z), n), np.fft.hfft(z, n))
    close(torch.fft.ihfft(torch.from_numpy(x)), np.fft.ihfft(x))
    single = torch.from_numpy(z.astype(np.complex64))
    close(torch.fft.fft(single), np.fft.fft(z).astype(np.complex64), 2e-6)
    close(torch.fft.rfft(torch.from_numpy(x.astype(np.float32))), np.fft.rfft(x).astype(np.complex64), 2e-6)


@pytest.mark.parametrize("n", [1, 6, 7, 13, 37, 64, 100, 256, 289, 320, 1009, 2022, 2310])
@pytest.mark.parametrize("lines", [1, 5, 16, 19])
def test_batches(n: int, lines: int) -> None:
    z, x = complex_numbers(lines, n), RNG.randn(lines, n)
    for kind, tolerance in ((np.complex128, 1e-12), (np.complex64, 2e-6)):
        whole = torch.from_numpy(z.astype(kind))
        columns = whole.t().contiguous()
        real = torch.from_numpy(x).to(whole.real.dtype)
        for name in ("fft", "ifft"):
            want = getattr(np.fft, name)(z).astype(kind)
            transform = getattr(torch.fft, name)
            close(transform(whole), want, tolerance)
            close(transform(columns, dim=0), want.T, tolerance)
            close(transform(whole.t(), dim=0), want.T, tolerance)
            close(transform(columns.unsqueeze(0).expand(3, n, lines), dim=1)[2], want.T, tolerance)
        out = torch.empty(n, lines, dtype=whole.dtype).t()
        assert torch.fft.fft(whole, out=out) is out
        close(out, np.fft.fft(z).astype(kind), tolerance)
        close(torch.fft.fft2(whole), np.fft.fft2(z).astype(kind), tolerance)
        close(torch.fft.rfft(real), np.fft.rfft(x).astype(kind), tolerance)
        close(torch.fft.rfft(real.t(), dim=0), np.fft.rfft(x).T.astype(kind), tolerance)
        close(torch.fft.irfft(whole, 2 * n - 1), np.fft.irfft(z, 2 * n - 1).astype(real.numpy().dtype), tolerance)
        if n > 1:
            close(torch.fft.irfft(columns, dim=0), np.fft.irfft(z).T.astype(real.numpy().dtype), tolerance)


@pytest.mark.parametrize("n", [65536, 99999, 100003])
def test_long_lines(n: int) -> None:
    z = complex_numbers(n)
    close(torch.fft.fft(torch.from_numpy(z)), np.fft.fft(z))
    close(torch.fft.fft(torch.from_numpy(z.astype(np.complex64))), np.fft.fft(z).astype(np.complex64), 2e-6)
    close(torch.fft.irfft(torch.fft.rfft(torch.from_numpy(z.real.copy())), n), z.real)


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_instruction_sets(isa: str) -> None:
    script = (
        "import numpy as np, vivace\n"
        "for n in (30, 37, 320, 1000):\n"
        "    z = np.random.RandomState(n).randn(9, n, 2).astype(np.float32).view(np.complex64)[..., 0]\n"
        "    for x, dim in ((z, 1), (z.T.copy(), 0)):\n"
        "        t = vivace.from_numpy(x)\n"
        "        for name, arg in (('fft', t), ('ifft', t), ('rfft', t.real), ('irfft', t)):\n"
        "            want = getattr(np.fft, name)(arg.numpy(), axis=dim)\n"
        "            got = getattr(vivace.fft, name)(arg, dim=dim).numpy()\n"
        "            assert abs(got - want).max() <= 2e-6 * abs(want).max(), (n, dim, name)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | {"VIVACE_ISA": isa})


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_several_dims(norm: str | None) -> None:
    z, x = complex_numbers(3, 4, 6), RNG.randn(3, 4, 6)
    for got, want in ((torch.from_numpy(z), z), (torch.from_numpy(z.T.copy()).permute(2, 1, 0), z)):
        close(torch.fft.fftn(got, norm=norm), np.fft.fftn(want, norm=norm))
        close(torch.fft.ifft2(got, (5, 3), (0, 1), norm), np.fft.ifft2(want, (5, 3), (0, 1), norm))
        close(torch.fft.irfftn(got, norm=norm), np.fft.irfftn(want, norm=norm))
        close(torch.fft.irfft2(got, (2, 5), norm=norm), np.fft.irfft2(want, (2, 5), norm=norm))
    close(torch.fft.rfftn(torch.from_numpy(x), (4, 7), norm=norm), np.fft.rfftn(x, (4, 7), (1, 2), norm))
    close(torch.fft.rfft2(torch.from_numpy(x), dim=(0, 1), norm=norm), np.fft.rfft2(x, axes=(0, 1), norm=norm))
    close(torch.fft.ihfftn(torch.from_numpy(x), norm=norm), _ihfftn(x, norm))
    close(torch.fft.hfftn(torch.fft.ihfftn(torch.from_numpy(x), norm=norm), x.shape, norm=norm), x)


def _ihfftn(x: np.ndarray, norm: str | None) -> np.ndarray:
    return np.fft.ifftn(np.fft.ihfft(x, norm=norm), axes=(0, 1), norm=norm)


def test_types_and_errors() -> None:
    x = torch.rand(3, 4)
    assert torch.fft.fft(torch.ones(4, dtype=torch.int64)).tolist() == [4, 0, 0, 0]
    assert torch.fft.fft(torch.empty(0, 3)).shape == (0, 3)
    assert torch.fft.fftn(x, s=(-1, 2)).shape == (3, 2)
    assert torch.fft.fft(x.to("meta"), 7).shape == (3, 7) and torch.fft.rfft(x.to("meta")).shape == (3, 3)
    out = torch.empty(0, dtype=torch.complex64)
    assert torch.fft.rfft(x, out=out) is out and out.shape == (3, 3)
    for error, text, call in [
        (RuntimeError, "Invalid number of data points \\(0\\)", lambda: torch.fft.fft(x, 0)),
        (RuntimeError, "Invalid number of data points \\(0\\)", lambda: torch.fft.irfft(x[:, :1])),
        (RuntimeError, "Unsupported dtype Half", lambda: torch.fft.fft(x.half())),
        (RuntimeError, "Invalid normalization mode", lambda: torch.fft.fft(x, norm="x")),
        (RuntimeError, "FFT dims must be unique", lambda: torch.fft.fftn(x, dim=(0, -2))),
        (RuntimeError, "must have the same length", lambda: torch.fft.fftn(x, s=(2,), dim=(0, 1))),
        (RuntimeError, "Got shape with 3 values", lambda: torch.fft.fftn(x, s=(2, 2, 2))),
        (RuntimeError, "rfft expects a real input tensor, but got ComplexFloat", lambda: torch.fft.rfft(x + 1j)),
        (RuntimeError, "at least one axis", lambda: torch.fft.irfftn(x, dim=())),
        (IndexError, "Dimension out of range", lambda: torch.fft.fft(x, dim=2)),
        (IndexError, "tensor has no dimensions", lambda: torch.fft.fft(torch.tensor(1.0))),
    ]:
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [4, 5, 8])
def test_gradients(name: str, n: int) -> None:
    z = RNG.randn(2, 5) if name in ("rfft", "ihfft") else complex_numbers(2, 5)
    transform = getattr(torch.fft, name)
    x = torch.from_numpy(z).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: transform(t, n), (x,))
    assert torch.autograd.gradgradcheck(lambda t: transform(t, n), (x,))


def test_shifts_and_frequencies() -> None:
    x = RNG.randn(4, 5)
    for dim in (None, 0, (1,), (0, 1)):
        close(torch.fft.fftshift(torch.from_numpy(x), dim), np.fft.fftshift(x, dim))
        close(torch.fft.ifftshift(torch.from_numpy(x), dim), np.fft.ifftshift(x, dim))
    for n in (1, 4, 5, 8):
        np.testing.assert_allclose(torch.fft.fftfreq(n, 0.3, dtype=torch.float64).numpy(), np.fft.fftfreq(n, 0.3))
        np.testing.assert_allclose(torch.fft.rfftfreq(n, 0.3, dtype=torch.float64).numpy(), np.fft.rfftfreq(n, 0.3))


@pytest.mark.parametrize("n_fft", [15, 16])
@pytest.mark.parametrize("onesided", [True, False])
def test_short_time_transform(n_fft: int, onesided: bool) -> None:
    x, window = RNG.randn(2, 100), np.hanning(n_fft) + 0.1
    tensor, w = torch.from_numpy(x), torch.from_numpy(window)
    got = torch.stft(tensor, n_fft, 4, window=w, center=False, onesided=onesided, return_complex=True)
    frames = np.stack([x[:, i : i + n_fft] * window for i in range(0, 100 - n_fft + 1, 4)], -1)
    want = (np.fft.rfft if onesided else np.fft.fft)(frames, axis=1)
    close(got, want)
    whole = torch.stft(tensor, n_fft, 4, window=w, onesided=onesided, return_complex=True, normalized=True)
    back = torch.istft(whole, n_fft, 4, window=w, onesided=onesided, length=100, normalized=True)
    close(back, x)
    assert torch.stft(tensor, n_fft, window=w, return_complex=False).shape[-1] == 2
    with pytest.raises(RuntimeError, match="requires the return_complex parameter"):
        torch.stft(tensor, n_fft)
    with pytest.raises(RuntimeError, match="window overlap add min"):
        torch.istft(whole, n_fft, 4, window=w * 0, onesided=onesided)


def test_windows() -> None:
    for name, kind in (("hann", "hann"), ("hamming", "hamming"), ("blackman", "blackman"), ("bartlett", "bartlett")):
        for periodic in (True, False):
            got = getattr(torch, f"{name}_window")(9, periodic, dtype=torch.float64).numpy()
            np.testing.assert_allclose(got, signal.get_window(kind, 9, periodic), atol=1e-12)
    np.testing.assert_allclose(
        torch.kaiser_window(9, False, 8.6, dtype=torch.float64).numpy(), np.kaiser(9, 8.6), rtol=1e-12
    )
    assert torch.hann_window(0).shape == (0,) and torch.hann_window(1).tolist() == [1]
    with pytest.raises(RuntimeError, match="non-negative window_length"):
        torch.hann_window(-1)
