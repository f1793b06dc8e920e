// Operators and kernels that an extension registers.
#pragma once
#include <torch/all.h>
#include <vivace/library.h>
