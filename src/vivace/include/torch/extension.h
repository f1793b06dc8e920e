// What an extension in C++ includes: tensors and operators, TORCH_LIBRARY, autograd::Function, modules.
#pragma once
#include <torch/all.h>
#include <torch/library.h>

#ifdef PYBIND11_VERSION_MAJOR
#include <vivace/pybind.h>
#else
#include <vivace/module.h>
#endif

namespace py = pybind11;
