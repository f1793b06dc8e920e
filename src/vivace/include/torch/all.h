// Tensors, operators and autograd; and the parts of the standard library that programs have from PyTorch's headers.
#pragma once
#include <algorithm>
#include <deque>
#include <iostream>
#include <numeric>
#include <set>
#include <unordered_set>

#include <vivace/dispatch.h>
#include <vivace/dispatcher.h>
#include <vivace/function.h>
#include <vivace/indexing.h>
#include <vivace/modes.h>
