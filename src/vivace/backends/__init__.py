"""torch.backends: switches that programs set. Each backend is a module of its own."""

from vivace._lazy import submodule


def __getattr__(name):
    return submodule("vivace.backends", name)
