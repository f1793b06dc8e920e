"""For setup scripts: `ext_modules=[CppExtension(...)], cmdclass={"build_ext": BuildExtension}`."""

import copy

import setuptools
from setuptools.command.build_ext import build_ext

from vivace.utils._cpp_build import STANDARD, as_list, include_paths


def CppExtension(name, sources, *args, **kwargs):
    """A setuptools.Extension with vivace's headers."""
    kwargs["include_dirs"] = [*as_list(kwargs.get("include_dirs")), *include_paths()]
    kwargs["language"] = "c++"
    return setuptools.Extension(name, sources, *args, **kwargs)


class BuildExtension(build_ext):
    """Builds extensions with the language standard and the name that their sources expect."""

    @classmethod
    def with_options(cls, **options):
        """The class with options: `no_python_abi_suffix`, `use_ninja` (which is never needed)."""

        class Configured(cls):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **{**kwargs, **options})

        return Configured

    def __init__(self, *args, no_python_abi_suffix=False, use_ninja=False, **kwargs):
        super().__init__(*args, **kwargs)
        self._no_suffix = no_python_abi_suffix

    def build_extension(self, extension):
        """Builds one."""
        made = copy.copy(extension)
        given = extension.extra_compile_args
        flags = list(given.get("cxx", ())) if isinstance(given, dict) else list(given or ())
        if not any(flag.startswith("-std=") for flag in flags):
            flags.append(STANDARD)
        headers = include_paths()  # as a system's, so that the extension's flags give no warnings about them
        made.include_dirs = [path for path in extension.include_dirs if path not in headers]
        name = extension.name.rpartition(".")[2]
        made.extra_compile_args = [*(f"-isystem{path}" for path in headers), f"-DTORCH_EXTENSION_NAME={name}", *flags]
        super().build_extension(made)

    def get_ext_filename(self, ext_name):
        """`NAME.so`, where that is asked for."""
        name = super().get_ext_filename(ext_name)
        parts = name.split(".")
        return f"{parts[0]}.{parts[-1]}" if self._no_suffix and len(parts) > 2 else name
