"""Arithmetic of two Python numbers, which gives a tensor without dimensions as in PyTorch: torch.mul(5, 5)."""

import numpy as np

from catalogue.kinds import composite


def _of_numbers(schema, kernel, ref, **options):
    composite(
        schema,
        kernel=kernel,
        variants="function",
        ref=ref,
        **{"samples": lambda s: [s(7, 2), s(-2.5, 2)], **options},
        doc="The same of two numbers: a tensor without dimensions.",
    )


_of_numbers("add.Scalar_Scalar(Scalar self, Scalar other, *, Scalar alpha=1) -> Tensor", "add_numbers", np.add)
_of_numbers(
    "sub.Scalar_Scalar(Scalar self, Scalar other, *, Scalar alpha=1) -> Tensor",
    "sub_numbers",
    np.subtract,
    aliases="subtract",
)
_of_numbers("mul.Scalar_Scalar(Scalar self, Scalar other) -> Tensor", "mul_numbers", np.multiply, aliases="multiply")
_of_numbers(
    "div.Scalar_Scalar(Scalar self, Scalar other) -> Tensor",
    "div_numbers",
    np.true_divide,
    aliases="divide, true_divide",
)
_of_numbers(
    "div.Scalar_Scalar_mode(Scalar self, Scalar other, *, str? rounding_mode) -> Tensor",
    "div_numbers_mode",
    lambda a, b, rounding_mode: np.floor_divide(a, b),
    aliases="divide",
    samples=lambda s: [s(7, 2, rounding_mode="floor"), s(-7, 2, rounding_mode="floor")],
)
_of_numbers("floor_divide.Scalar_Scalar(Scalar self, Scalar other) -> Tensor", "floor_divide_numbers", np.floor_divide)
