"""torch.random: the default generator, and fork_rng. The numbers are PyTorch's for the same seed."""

from vivace._C import default_generator

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed):
    """Starts the default stream that belongs to a seed; returns the default generator."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Seeds the default stream from the system's entropy; returns the seed."""
    return default_generator.seed()


def initial_seed():
    """The seed that the default stream began with."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the default stream, as bytes in a tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Goes on from a state that get_rng_state gave."""
    default_generator.set_state(new_state)


class fork_rng:
    """What is drawn in the with block leaves no trace in the default stream."""

    def __init__(self, devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
        self._enabled = enabled

    def __enter__(self):
        self._state = get_rng_state()

    def __exit__(self, *exception):
        if self._enabled:
            set_rng_state(self._state)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def call(*args, **kwargs):
            with fork_rng(enabled=self._enabled):
                return function(*args, **kwargs)

        return call
