"""Activation functions."""

import math

import numpy as np

from catalogue import complex_math as c
from catalogue import math as m
from catalogue.dtypes import floating, floating_or_complex, int_to_float, real
from catalogue.kinds import composite, pointwise, unary
from catalogue.pointwise.arith import sgn
from catalogue.pointwise.complex import conj
from catalogue.pointwise.exp_log import exp, log1p, sigmoid
from catalogue.pointwise.select import maximum, minimum, where
from catalogue.pointwise.slope import flat
from catalogue.pointwise.special import erf
from catalogue.pointwise.trig import tanh
from catalogue.samples import one
from catalogue.special_math import erf_short
from codegen.expr import ops

_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1 / math.sqrt(2 * math.pi)  # of the normal distribution at 0
_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_CUBIC = 0.044715
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _activation(name, kernel, grad, ref, doc, args="", samples=None, **options):
    """In nn.functional, with an in-place form."""
    options = {"dtypes": floating, "namespace": "nn.functional", "out": False} | options
    return unary(name, args=args, kernel=kernel, grad=grad, ref=ref, samples=samples or one(), doc=doc, **options)


relu = unary(
    "relu",
    aliases="nn.functional.relu",
    out=False,
    dtypes=real,
    kernel=lambda a: maximum(a, 0),
    integer=lambda a: a if a.type[0] == "u" else maximum(a, 0),
    grad=lambda g, y: flat(where(y <= 0, 0, g), y),
    ref=lambda a: np.maximum(a, 0),
    samples=one(),
    edges=(0.0, -0.0, float("inf"), -float("inf"), float("nan")),
    doc="a where positive, else 0.",
)
relu6 = _activation(
    "relu6",
    lambda a: minimum(maximum(a, 0), 6),
    lambda g, a: flat(where((a > 0) & (a < 6), g, 0), a),
    lambda a: np.clip(a, 0, 6),
    "a kept between 0 and 6.",
    samples=one(-3, 9),
    dtypes=real,
)
silu = _activation(
    "silu",
    lambda a: a * m.sigmoid(a),
    lambda g, a: g * conj(sigmoid(a) * (1 + a * (1 - sigmoid(a)))),
    lambda a: a / (1 + np.exp(-a)),
    "a * sigmoid(a)",
    dtypes=floating_or_complex,
    complex=lambda a: a * sigmoid(a),
)


def _mish(a):
    return a * m.tanh(m.softplus(a))


def _mish_grad(g, a):
    t = tanh(maximum(a, 0) + log1p(exp(-abs(a))))
    return g * (t + a * sigmoid(a) * (1 - t * t))


mish = _activation("mish", _mish, _mish_grad, lambda a: a * np.tanh(np.log1p(np.exp(a))), "a * tanh(log(1 + exp(a)))")
hardsigmoid = _activation(
    "hardsigmoid",
    lambda a: minimum(maximum(a + 3, 0), 6) / 6,
    lambda g, a: flat(where((a > -3) & (a < 3), g * (1 / 6), 0), a),
    lambda a: np.clip(a + 3, 0, 6) / 6,
    "min(max(a + 3, 0), 6) / 6",
    samples=one(-5, 5),
)
hardswish = _activation(
    "hardswish",
    lambda a: a * minimum(maximum(a + 3, 0), 6) / 6,
    lambda g, a: where(a <= -3, 0, where(a < 3, g * (a / 3 + 0.5), g)),
    lambda a: a * np.clip(a + 3, 0, 6) / 6,
    "a * hardsigmoid(a)",
    samples=one(-5, 5),
)


def _gelu(a, approximate):
    if approximate == "none":
        return a * 0.5 * (1 + erf_short(a * _ROOT_HALF))
    return a * 0.5 * (1 + m.tanh(_ROOT_2_OVER_PI * (a + _CUBIC * (a * a * a))))


def _gelu_grad(g, a, approximate):
    if approximate == "none":
        return g * (0.5 * (1 + erf(a * _ROOT_HALF)) + a * exp(a * a * -0.5) * _DENSITY)
    t = tanh(_ROOT_2_OVER_PI * (a + _CUBIC * (a * a * a)))
    slope = _ROOT_2_OVER_PI * (1 + 3 * _CUBIC * (a * a))
    return g * (0.5 * (1 + t) + 0.5 * a * (1 - t * t) * slope)


gelu = _activation(
    "gelu",
    _gelu,
    _gelu_grad,
    None,
    "a times the normal distribution function of a, or its approximation by tanh.",
    args="*, str approximate='none'",
    choices={"approximate": ("none", "tanh")},
    out=True,
    inplace=False,
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), approximate="tanh"), s(s.t()), s(s.t(0, 3))],
)


def _softplus(a, beta, threshold):
    x = a * beta
    return where(x > threshold, a, m.softplus(x) / beta)


softplus = _activation(
    "softplus",
    _softplus,
    lambda g, a, beta, threshold: where(a * beta > threshold, g, g * sigmoid(a * beta)),
    lambda a, beta=1, threshold=20: np.where(a * beta > threshold, a, np.log1p(np.exp(a * beta)) / beta),
    "log(1 + exp(beta a)) / beta; a itself where beta a is above the threshold.",
    args="Scalar beta=1, Scalar threshold=20",
    out=True,
    inplace=False,
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 2.0), s(s.t(7), 2, 1.5), s(s.t())],
)
leaky_relu = _activation(
    "leaky_relu",
    lambda a, negative_slope: where(a > 0, a, a * negative_slope),
    lambda g, a, negative_slope: flat(where(a > 0, g, g * negative_slope), a),
    lambda a, negative_slope=0.01: np.where(a > 0, a, a * negative_slope),
    "a where positive, else negative_slope * a.",
    args="Scalar negative_slope=0.01",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 0.2), s(s.t(4, 3, permuted=True)), s(s.t())],
)


def _elu(a, alpha):
    return where(a > 0, a, m.expm1(a) * alpha)


def _below_zero(a):
    """a where it is negative, else 0: its exponential never overflows, and has no slope at 0."""
    return where(a < 0, a, 0)


elu = _activation(
    "elu",
    _elu,
    lambda g, a, alpha: where(a <= 0, g * alpha * exp(_below_zero(a)), g),
    lambda a, alpha=1.0: np.where(a > 0, a, np.expm1(a) * alpha),
    "a where positive, else alpha * (exp(a) - 1).",
    args="Scalar alpha=1.0",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 0.5), s(s.t())],
)
celu = _activation(
    "celu",
    lambda a, alpha: where(a > 0, a, m.expm1(a / alpha) * alpha),
    lambda g, a, alpha: where(a <= 0, g * exp(_below_zero(a) / alpha), g),
    lambda a, alpha=1.0: np.where(a > 0, a, np.expm1(a / alpha) * alpha),
    "a where positive, else alpha * (exp(a / alpha) - 1).",
    args="Scalar alpha=1.0",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 0.5), s(s.t())],
)
selu = _activation(
    "selu",
    lambda a: where(a > 0, a, m.expm1(a) * SELU_ALPHA) * SELU_SCALE,
    lambda g, a: g * where(a <= 0, SELU_SCALE * SELU_ALPHA * exp(_below_zero(a)), SELU_SCALE),
    lambda a: SELU_SCALE * np.where(a > 0, a, SELU_ALPHA * np.expm1(a)),
    "The self-normalising exponential unit.",
)
hardtanh = _activation(
    "hardtanh",
    lambda a, min_val, max_val: minimum(maximum(a, min_val), max_val),
    lambda g, a, min_val, max_val: flat(where((a > min_val) & (a < max_val), g, 0), a),
    lambda a, min_val=-1, max_val=1: np.clip(a, min_val, max_val),
    "a kept between min_val and max_val.",
    args="Scalar min_val=-1.0, Scalar max_val=1.0",
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), -0.5, 0.25), s(s.t())],
    dtypes=real,
)
threshold = _activation(
    "threshold",
    lambda a, threshold, value: where(a <= threshold, value, a),
    lambda g, a, threshold: flat(where(a <= threshold, 0, g), a),
    lambda a, threshold, value: np.where(a <= threshold, value, a),
    "a where above the threshold, else value.",
    args="Scalar threshold, Scalar value",
    check="threshold",
    samples=lambda s: [s(s.t(3, 5), 0.5, -1), s(s.t(37), 0, 2.0)],
    dtypes=real,
)
logsigmoid = _activation(
    "logsigmoid",
    lambda a: minimum(a, 0) - m.log1p(m.exp(-abs(a))),
    lambda g, a: g * sigmoid(-a),
    lambda a: -np.log1p(np.exp(-a)),
    "log(sigmoid(a))",
    out=True,
    inplace=False,
)
softsign = _activation(
    "softsign",
    lambda a: a / (1 + abs(a)),
    lambda g, a: g / (1 + abs(a)) - sgn(a) * ops.real(g * conj(a)) / ((1 + abs(a)) * (1 + abs(a))),
    lambda a: a / (1 + np.abs(a)),
    "a / (1 + |a|)",
    complex=lambda a: a / (1 + abs(a)),
    dtypes=floating_or_complex,
    inplace=False,
    result=int_to_float,
)
tanhshrink = _activation(
    "tanhshrink",
    lambda a: a - m.tanh(a),
    lambda g, a: g * conj(tanh(a) * tanh(a)),
    lambda a: a - np.tanh(a),
    "a - tanh(a)",
    complex=lambda a: a - c.tanh(a),
    dtypes=floating_or_complex,
    inplace=False,
    result=int_to_float,
)
hardshrink = _activation(
    "hardshrink",
    lambda a, lambd: where((a >= -lambd) & (a <= lambd), 0, a),
    lambda g, a, lambd: flat(where((a < -lambd) | (a > lambd), g, 0), a),
    lambda a, lambd=0.5: np.where(np.abs(a) <= lambd, 0, a),
    "0 within lambd of 0, else a.",
    args="Scalar lambd=0.5",
    out=True,
    inplace=False,
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 1.0)],
)
softshrink = _activation(
    "softshrink",
    lambda a, lambd: where(a > lambd, a - lambd, where(a < -lambd, a + lambd, a * 0)),
    lambda g, a, lambd: flat(where((a < -lambd) | (a > lambd), g, 0), a),
    lambda a, lambd=0.5: np.where(a > lambd, a - lambd, np.where(a < -lambd, a + lambd, 0)),
    "a moved towards 0 by lambd.",
    args="Scalar lambd=0.5",
    check="softshrink",
    out=True,
    inplace=False,
    samples=lambda s: [s(s.t(3, 5)), s(s.t(37), 1.0)],
)
prelu_kernel = pointwise(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    namespace="private",
    dtypes=floating,
    kernel=lambda self, weight: where(self > 0, self, self * weight),
    grad=lambda g, self, weight: (flat(where(self > 0, g, g * weight), self), where(self > 0, 0, g * self)),
    samples=lambda s: [s(s.t(3, 5), s.t(3, 5)), s(s.t(3, 5), s.t(5))],
    doc="self where positive, else weight * self.",
)
prelu = composite(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    kernel="prelu",
    aliases="nn.functional.prelu",
    autocast="lower",
    samples=lambda s: [s(s.t(3, 5), s.t(1)), s(s.t(2, 3, 4), s.t(3)), s(s.t(4), s.t(1))],
    doc="self where positive, else weight * self; the weight is one number, or one per channel (dimension 1).",
)
