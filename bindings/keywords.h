// Arguments of the few functions that no catalogue entry describes.
#pragma once
#include "bindings/convert.h"

namespace vivace {

/// Names and order of a function's arguments.
struct Signature {
  const char* function;
  int positional;  // how many may be given by position
  int required;    // how many must be given
  std::initializer_list<const char*> names;
};

/// Sorts arguments of a vectorcall by the signature into `out` (borrowed, null where absent). Throws TypeError.
void sort_arguments(const Signature& signature, Object* const* args, Py_ssize_t nargs, Object* keywords, Object** out);
/// The same for a tuple and a dict.
void sort_arguments(const Signature& signature, Object* args, Object* kwargs, Object** out);

// Values of sorted arguments: null and None give the fallback, another type than the wanted one throws.

bool bool_argument(const char* function, const char* name, Object* value, bool fallback);
int64_t int_argument(const char* function, const char* name, Object* value, int64_t fallback);
std::optional<DType> dtype_argument(const char* function, Object* value);
std::optional<Device> device_argument(const char* function, Object* value);
/// The first argument.
Tensor& tensor_argument(const char* function, const char* name, Object* value);

}  // namespace vivace
