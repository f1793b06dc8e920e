"""torch.utils: what is not mathematics. Submodules load when they are first used."""

from vivace._lazy import submodule


def __getattr__(name):
    return submodule("vivace.utils", name)
