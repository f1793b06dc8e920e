// Sorting and conversion of arguments; see keywords.h.
#include "bindings/keywords.h"

#include <algorithm>

namespace vivace {

namespace {

int find(const Signature& signature, Object* keyword) {
  int i = 0;
  for (const char* name : signature.names) {
    if (PyUnicode_CompareWithASCIIString(keyword, name) == 0) return i;
    ++i;
  }
  const char* text = PyUnicode_AsUTF8(keyword);
  if (!text) throw PythonError{};
  fail_type(signature.function, "() got an unexpected keyword argument '", text, "'");
}

void store_positional(const Signature& signature, Object* const* args, Py_ssize_t nargs, Object** out) {
  if (nargs > signature.positional)
    fail_type(signature.function, "() takes ", signature.positional, " positional argument",
              signature.positional == 1 ? "" : "s", " but ", nargs, " were given");
  std::fill_n(out, signature.names.size(), nullptr);
  std::copy_n(args, nargs, out);
}

void store_keyword(const Signature& signature, Object* keyword, Object* value, Object** out) {
  const int i = find(signature, keyword);
  if (out[i]) fail_type(signature.function, "() got multiple values for argument '", signature.names.begin()[i], "'");
  out[i] = value;
}

void check_required(const Signature& signature, Object* const* out) {
  for (int i = 0; i < signature.required; ++i)
    if (!out[i])
      fail_type(signature.function, "() missing 1 required positional arguments: \"", signature.names.begin()[i], "\"");
}

[[noreturn]] void fail_argument(const char* function, const char* name, const char* wanted, Object* value) {
  fail_type(function, "(): argument '", name, "' must be ", wanted, ", not ", Py_TYPE(value)->tp_name);
}

}  // namespace

void sort_arguments(const Signature& signature, Object* const* args, Py_ssize_t nargs, Object* keywords, Object** out) {
  store_positional(signature, args, nargs, out);
  if (keywords)
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); ++i)
      store_keyword(signature, PyTuple_GET_ITEM(keywords, i), args[nargs + i], out);
  check_required(signature, out);
}

void sort_arguments(const Signature& signature, Object* args, Object* kwargs, Object** out) {
  store_positional(signature, reinterpret_cast<PyTupleObject*>(args)->ob_item, PyTuple_GET_SIZE(args), out);
  Object *keyword, *value;
  Py_ssize_t at = 0;
  while (kwargs && PyDict_Next(kwargs, &at, &keyword, &value)) store_keyword(signature, keyword, value, out);
  check_required(signature, out);
}

bool bool_argument(const char* function, const char* name, Object* value, bool fallback) {
  if (!value || value == Py_None) return fallback;
  bool result;
  if (!unwrap_bool(value, &result)) fail_argument(function, name, "bool", value);
  return result;
}

int64_t int_argument(const char* function, const char* name, Object* value, int64_t fallback) {
  if (!value || value == Py_None) return fallback;
  int64_t result;
  if (!unwrap_int(value, &result)) fail_argument(function, name, "int", value);
  return result;
}

std::optional<DType> dtype_argument(const char* function, Object* value) {
  DType result;
  if (!value || value == Py_None) return {};
  if (!unwrap_dtype(value, &result)) fail_argument(function, "dtype", "torch.dtype", value);
  return result;
}

std::optional<Device> device_argument(const char* function, Object* value) {
  Device result;
  if (!value || value == Py_None) return {};
  if (!unwrap_device(value, &result)) fail_argument(function, "device", "torch.device", value);
  return result;
}

Tensor& tensor_argument(const char* function, const char* name, Object* value) {
  if (!is_tensor(value))
    fail_type(function, "(): argument '", name, "' (position 1) must be Tensor, not ", Py_TYPE(value)->tp_name);
  return tensor_of(value);
}

}  // namespace vivace
