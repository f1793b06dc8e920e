// PyTorch's name of the same.
#pragma once
#include <vivace/stable.h>
