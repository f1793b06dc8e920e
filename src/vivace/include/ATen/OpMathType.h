// PyTorch's name of the same.
#pragma once
#include <torch/all.h>
