// Tensors, operators and autograd.
#pragma once
#include <vivace/dispatch.h>
#include <vivace/dispatcher.h>
#include <vivace/function.h>
#include <vivace/indexing.h>
#include <vivace/modes.h>
