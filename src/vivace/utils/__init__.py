"""torch.utils: what is not mathematics. Submodules load when they are first used."""

from vivace._lazy import lazily, lazy_function

generate_methods_for_privateuse1_backend = lazy_function(
    "vivace.utils.backend_registration", "generate_methods_for_privateuse1_backend"
)
rename_privateuse1_backend = lazy_function("vivace.utils.backend_registration", "rename_privateuse1_backend")


__getattr__, __dir__ = lazily("vivace.utils", {}, listed=False)
