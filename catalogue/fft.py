"""Discrete Fourier transforms: three operators over contiguous choices of dims, and torch.fft's forms of them."""

from catalogue.kinds import composite, op
from codegen.expr import cpp

fft_c2c = op(
    "_fft_c2c(Tensor self, int[] dim, float scale, bool forward) -> Tensor",
    kernel="_fft_c2c",
    namespace="private",
    linear=("self",),
    grad=lambda g, dim, scale, forward: cpp.fft_c2c_backward(g, dim, scale, forward),
    doc="The transform of a complex tensor along `dim`, or its unscaled inverse, times `scale`.",
)
fft_r2c = op(
    "_fft_r2c(Tensor self, int[] dim, float scale) -> Tensor",
    kernel="_fft_r2c",
    namespace="private",
    linear=("self",),
    grad=lambda g, self_sizes, dim, scale: cpp.fft_r2c_backward(g, self_sizes, dim, scale),
    doc="The transform of a real tensor; of the last of `dim` the first half, which says all.",
)
fft_c2r = op(
    "_fft_c2r(Tensor self, int[] dim, float scale, int last_dim_size) -> Tensor",
    kernel="_fft_c2r",
    namespace="private",
    linear=("self",),
    grad=lambda g, dim, scale: cpp.fft_c2r_backward(g, dim, scale),
    doc="The unscaled inverse of _fft_r2c, times `scale`.",
)

_ONE = "int? n=None, int dim=-1, str? norm=None"
_TWO = "int[1]? s=None, int[1] dim=[-2, -1], str? norm=None"
_ANY = "int[1]? s=None, int[1]? dim=None, str? norm=None"
_REAL_INPUT = ("rfft", "ihfft")
for _name, _doc in {
    "fft": "The discrete Fourier transform",
    "ifft": "The inverse transform",
    "rfft": "The first half of the transform of real numbers",
    "irfft": "Real numbers from the first half of their transform",
    "hfft": "The real transform of what is given by its first half",
    "ihfft": "The first half of the inverse transform of real numbers",
}.items():
    _dtype = "float32" if _name in _REAL_INPUT else "complex64"
    composite(
        f"{_name}(Tensor self, {_ONE}) -> Tensor",
        kernel=_name,
        namespace="fft",
        autocast="float32",
        out=True,
        samples=lambda s, dtype=_dtype: [
            s(s.t(2, 6, dtype=dtype)),
            s(s.t(5, 3, dtype=dtype), 7, 0),
            s(s.t(2, 9, dtype=dtype), 6, norm="ortho"),
            s(s.t(37, dtype=dtype), norm="forward"),
        ],
        doc=f"{_doc} along one dim, cut or padded with zeros to n.",
    )
    composite(
        f"{_name}2(Tensor self, {_TWO}) -> Tensor",
        kernel=f"{_name}2",
        namespace="fft",
        autocast="float32",
        out=True,
        samples=lambda s, dtype=_dtype: [s(s.t(2, 4, 6, dtype=dtype)), s(s.t(3, 4, 2, dtype=dtype), (5, 3), (0, 1))],
        doc=f"{_doc} along two dims.",
    )
    composite(
        f"{_name}n(Tensor self, {_ANY}) -> Tensor",
        kernel=f"{_name}n",
        namespace="fft",
        autocast="float32",
        out=True,
        samples=lambda s, dtype=_dtype: [
            s(s.t(3, 4, 6, dtype=dtype)),
            s(s.t(3, 4, 2, dtype=dtype), (5, -1), norm="ortho"),
            s(s.t(3, 4, 2, dtype=dtype), None, (0, -1), "forward"),
        ],
        doc=f"{_doc} along several dims (all of them), the last one first cut or completed.",
    )
for _name, _doc in (("fftshift", "Moves the frequency 0 to the middle"), ("ifftshift", "Undoes fftshift()")):
    composite(
        f"{_name}(Tensor self, int[1]? dim=None) -> Tensor",
        kernel=_name,
        namespace="fft",
        samples=lambda s: [s(s.t(4, 5)), s(s.t(4, 5), 1)],
        doc=f"{_doc} along some dims (all of them).",
    )
