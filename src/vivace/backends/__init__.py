"""torch.backends: switches that programs set. Each backend is a module of its own."""

from vivace._lazy import lazily

__getattr__, __dir__ = lazily("vivace.backends", {}, listed=False)
