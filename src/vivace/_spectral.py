"""Short-time Fourier transforms and the windows that they use."""

import math
import warnings

import vivace
from vivace._C import overridable


def _fitting_window(window, win_length, n_fft, like):
    """The window with zeros on both sides, n_fft long; ones where none was given."""
    real = like.real.dtype if like.is_complex() else like.dtype
    if window is None:
        window = vivace.ones(win_length, dtype=real, device=like.device)
    left = (n_fft - win_length) // 2
    return vivace.constant_pad_nd(window, [left, n_fft - win_length - left])


@overridable
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """Fourier transforms of overlapping windows of a signal: (batch, frequency, window)."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError("stft: expected a tensor of floating point or complex values")
    if input.dim() not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, got {list(input.shape)}")
    signal = input if input.dim() == 2 else input.unsqueeze(0)
    if center:
        pad = n_fft // 2
        signal = vivace.nn.functional.pad(signal.unsqueeze(0), [pad, pad], pad_mode).squeeze(0)
    if not 0 < n_fft <= signal.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {signal.shape[-1]}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and window.shape != (win_length,):
        raise RuntimeError(
            f"stft: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )
    if onesided is None:
        onesided = not is_complex
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if align_to_window and win_length < n_fft:  # windows, not what is padded around them, start at the first element
        left = (n_fft - win_length) // 2
        signal = vivace.constant_pad_nd(signal, [left, n_fft - win_length - left])
    frames = signal.unfold(-1, n_fft, hop_length) * _fitting_window(window, win_length, n_fft, input)
    transform = vivace.fft.rfft if onesided else vivace.fft.fft
    result = transform(frames, norm="ortho" if normalized else None).transpose(1, 2)
    result = result if input.dim() == 2 else result.squeeze(0)
    return result if return_complex else vivace.view_as_real(result)


def _overlapping_sums(frames, hop_length):
    """The sum of frames (batch, size, frame) that lie hop_length apart."""
    _, size, count = frames.shape
    length = size + hop_length * (count - 1)
    return vivace.nn.functional.fold(frames, (1, length), (1, size), stride=(1, hop_length)).reshape(-1, length)


def _complex_overlapping_sums(frames, hop_length):
    if not frames.is_complex():
        return _overlapping_sums(frames, hop_length)
    return vivace.complex(_overlapping_sums(frames.real, hop_length), _overlapping_sums(frames.imag, hop_length))


@overridable
def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal whose stft() the input is closest to."""
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if input.dim() not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {input.dim()}")
    if input.numel() == 0:
        raise RuntimeError("istft: input tensor cannot be empty.")
    bins = input.shape[-2]
    if onesided is None:
        onesided = bins != n_fft
    if bins != (n_fft // 2 + 1 if onesided else n_fft):
        raise RuntimeError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{'n_fft / 2 + 1' if onesided else 'n_fft'} when onesided={onesided}, but got {bins}"
        )
    if not 0 < hop_length <= win_length:
        raise RuntimeError(f"istft: expected 0 < hop_length <= win_length, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"istft: expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and window.shape != (win_length,):
        raise RuntimeError("istft: Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex:
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
    elif window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    window = _fitting_window(window, win_length, n_fft, input)
    frames = (input if input.dim() == 3 else input.unsqueeze(0)).transpose(1, 2)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = vivace.fft.ifft(frames, norm=norm)
    else:
        frames = vivace.fft.irfft(frames if onesided else frames[..., : n_fft // 2 + 1], n_fft, norm=norm)
    count = frames.shape[1]
    signal = _complex_overlapping_sums((frames * window).transpose(1, 2), hop_length)
    squares = (window * window).reshape(1, n_fft, 1).expand(1, n_fft, count)
    envelope = _complex_overlapping_sums(squares, hop_length)
    start = n_fft // 2 if center else 0
    if length is not None:
        end = start + length
    else:
        end = signal.shape[-1] - (n_fft // 2 if center else 0)
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    least = envelope.abs().min() if envelope.numel() else 1
    if not least > 1e-11:
        raise RuntimeError(f"istft: window overlap add min: {float(least)}")
    result = signal / envelope
    if end - start > result.shape[-1]:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
            "tail. Please check your center and hop_length settings.",
            stacklevel=2,
        )
        result = vivace.constant_pad_nd(result, [0, end - start - result.shape[-1]])
    return result if input.dim() == 3 else result.squeeze(0)


def _window(name, length, periodic, shape, dtype, device, requires_grad):
    """shape(k, n) for k from 0 to n, which is the length, or one less for a symmetric window."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    dtype = vivace.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 2:
        return vivace.ones(length, dtype=dtype, device=device, requires_grad=requires_grad)
    wide = dtype if dtype == vivace.float64 else vivace.float32
    steps = vivace.arange(length, dtype=wide, device=device)
    return shape(steps, length if periodic else length - 1).to(dtype).requires_grad_(requires_grad)


def _cosines(*weights):
    """weights[0] - weights[1] cos(2 pi k / n) + weights[2] cos(4 pi k / n) ..."""
    return lambda k, n: sum((-1) ** i * w * (k * (2 * math.pi * i / n)).cos() for i, w in enumerate(weights))


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    """A raised cosine: sin^2(pi k / n)."""
    return _window("hann_window", window_length, periodic, _cosines(0.5, 0.5), dtype, device, requires_grad)


def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, requires_grad=False
):
    """alpha - beta cos(2 pi k / n)"""
    return _window("hamming_window", window_length, periodic, _cosines(alpha, beta), dtype, device, requires_grad)


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi k / n) + 0.08 cos(4 pi k / n)"""
    shape = _cosines(0.42, 0.5, 0.08)
    return _window("blackman_window", window_length, periodic, shape, dtype, device, requires_grad)


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    """A triangle."""
    return _window(
        "bartlett_window", window_length, periodic, lambda k, n: 1 - (k * (2 / n) - 1).abs(), dtype, device,
        requires_grad,
    )  # fmt: skip


def kaiser_window(
    window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, requires_grad=False
):
    """i0(beta sqrt(1 - (2 k / n - 1)^2)) / i0(beta)"""

    def shape(k, n):
        inner = (1 - (k * (2 / n) - 1).square()).clamp(min=0).sqrt() * beta
        return vivace.i0(inner) / vivace.i0(vivace.tensor(beta, dtype=k.dtype))

    return _window("kaiser_window", window_length, periodic, shape, dtype, device, requires_grad)
