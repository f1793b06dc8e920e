"""Checks of the options of optimizers, with PyTorch's sentences."""

import vivace


def at_least_zero(**options):
    """Each option, named by what the sentence calls it with underscores for spaces, must not be negative."""
    for name, value in options.items():
        if not value >= 0.0:  # NaN fails too
            raise ValueError(
                f"Invalid {name.replace('_value', ' value').replace('learning_rate', 'learning rate')}: {value}"
            )


def learning_rate(lr):
    if isinstance(lr, vivace.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    at_least_zero(learning_rate=lr)


def adam_options(lr, betas, eps, **at_least_zero_too):
    """What Adam and its kin have in common, in PyTorch's order."""
    learning_rate(lr)
    at_least_zero(epsilon_value=eps)
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
    at_least_zero(**at_least_zero_too)
