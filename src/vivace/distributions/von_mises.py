"""VonMises(loc, concentration)."""

import math

import vivace
from vivace.distributions import constraints
from vivace.distributions.distribution import Distribution
from vivace.distributions.utils import lazy_property

# Abramowitz and Stegun 9.8.1 to 9.8.4: I0 and I1 / x up to 3.75, in (x / 3.75)^2; beyond, both times
# sqrt(x) exp(-x), in 3.75 / x.
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
)
_LARGE = (
    (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377),
    (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059),
)


def _polynomial(coefficients, x):
    result = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = c + x * result
    return result


def _log_bessel(x, order):
    """log I0(x) or log I1(x)."""
    small = _polynomial(_SMALL[order], (x / 3.75).pow(2))
    small = (x * small if order else small).log()
    large = x - 0.5 * x.log() + _polynomial(_LARGE[order], 3.75 / x).log()
    return vivace.where(x < 3.75, small, large)


class VonMises(Distribution):
    """Angles around `loc`, the more so the higher the concentration."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args=None):
        self._init_scalars(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        norm = math.log(2 * math.pi) + _log_bessel(self.concentration, 0)
        return self.concentration * vivace.cos(value - self.loc) - norm

    def sample(self, sample_shape=()):
        """By rejection from a wrapped Cauchy: Best and Fisher, "Efficient simulation of the von Mises distribution"."""
        shape = self._extended_shape(sample_shape)
        with vivace.no_grad():
            kappa = self.concentration.double()
            tau = 1 + (1 + 4 * kappa.pow(2)).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            r = vivace.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho.pow(2)) / (2 * rho)).expand(shape)
            angle = vivace.empty(shape, dtype=vivace.float64, device=self.loc.device)
            done = vivace.zeros(shape, dtype=vivace.bool, device=self.loc.device)
            while not done.all():
                u1, u2, u3 = vivace.rand((3,) + tuple(shape), dtype=vivace.float64, device=self.loc.device).unbind()
                z = vivace.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                angle = vivace.where(accepted, (u3 - 0.5).sign() * f.acos(), angle)
                done = done | accepted
            return ((angle + math.pi + self.loc.double()) % (2 * math.pi) - math.pi).to(self.loc.dtype)
