// PyTorch's name of the same.
#pragma once
#include <torch/library.h>
