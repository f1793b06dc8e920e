"""Builds leaky_cpp: `pip install --no-build-isolation .`, or `python setup.py build_ext --inplace`.

On PyTorch, import from torch.utils.cpp_extension.
"""

from setuptools import setup

from vivace.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="leaky_cpp",
    version="0.1",
    ext_modules=[CppExtension("leaky_cpp", ["leaky.cpp"], extra_compile_args=["-O3"])],
    cmdclass={"build_ext": BuildExtension},
    py_modules=[],
)
