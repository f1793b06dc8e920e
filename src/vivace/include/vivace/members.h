// What at::Tensor does beside the catalogue's operators, and C++'s own operators on tensors.
#pragma once
#include "vivace/operators/functions.h"

namespace at {

// ---- from Python's attributes: rarely called

inline Scalar Tensor::item() const { return vivace::result<Scalar>(object_.attribute("item")().release()); }
inline int64_t Tensor::storage_offset() const {
  return vivace::result<int64_t>(object_.attribute("storage_offset")().release());
}
inline bool Tensor::requires_grad() const { return vivace::result<bool>(object_.attribute("requires_grad").release()); }
inline bool Tensor::is_leaf() const { return vivace::result<bool>(object_.attribute("is_leaf").release()); }
inline const Tensor& Tensor::set_requires_grad(bool on) const {
  vivace::checked(PyObject_SetAttrString(object_.get(), "requires_grad", on ? Py_True : Py_False));
  return *this;
}
inline Tensor Tensor::grad() const { return of_result(object_.attribute("grad").release()); }
inline Tensor Tensor::tensor_data() const { return of_result(object_.attribute("data").release()); }
inline void Tensor::retain_grad() const { object_.attribute("retain_grad")(); }
inline void Tensor::backward(const Tensor& gradient, std::optional<bool> keep_graph, bool create_graph) const {
  PyObject* keep = keep_graph ? PyBool_FromLong(*keep_graph) : vivace::none();
  PyObject* given = gradient.defined() ? vivace::new_reference(gradient.object().get()) : vivace::none();
  object_.attribute("backward")(given, keep, PyBool_FromLong(create_graph));
}
inline std::string Tensor::toString() const {
  return vivace::text_of(vivace::Object::steal(PyObject_Str(defined() ? object_.get() : Py_None)).get());
}
inline std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << t.toString(); }
inline void Tensor::print() const {
  PyObject_CallMethod(vivace::import("builtins").get(), "print", "O", object_.get());
}

// ---- conversions

inline Tensor Tensor::toType(ScalarType t) const { return to(t); }
inline Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy) const {
  return to(options.device_opt(), options.dtype_opt(), non_blocking, copy, options.memory_format_opt());
}

inline Tensor Tensor::to(Device device, bool non_blocking, bool copy) const {
  return to(TensorOptions(device), non_blocking, copy);
}
inline Tensor Tensor::to(DeviceType device, bool non_blocking, bool copy) const {
  return to(Device(device), non_blocking, copy);
}

// ---- assignment to a part: `x[0] = y` writes to x

inline Tensor& Tensor::operator=(const Tensor& other) && {
  copy_(other);
  return *this;
}
inline Tensor& Tensor::operator=(const Scalar& value) && {
  fill_(value);
  return *this;
}

// ---- C++'s operators

#define VIVACE_BINARY(symbol, name)                                                      \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); } \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return name(a, b); }
// `mirrored` gives the same with its operands exchanged.
#define VIVACE_MIRRORED(symbol, name, mirrored) \
  VIVACE_BINARY(symbol, name)                   \
  inline Tensor operator symbol(const Scalar& a, const Tensor& b) { return mirrored(b, a); }
#define VIVACE_IN_PLACE(symbol, name)                          \
  inline Tensor& operator symbol(Tensor& a, const Tensor& b) { \
    a.name(b);                                                 \
    return a;                                                  \
  }                                                            \
  inline Tensor& operator symbol(Tensor& a, const Scalar& b) { \
    a.name(b);                                                 \
    return a;                                                  \
  }

VIVACE_MIRRORED(+, add, add)
VIVACE_MIRRORED(-, sub, rsub)
VIVACE_MIRRORED(*, mul, mul)
VIVACE_MIRRORED(&, bitwise_and, bitwise_and)
VIVACE_MIRRORED(|, bitwise_or, bitwise_or)
VIVACE_MIRRORED(^, bitwise_xor, bitwise_xor)
VIVACE_MIRRORED(<, lt, gt)
VIVACE_MIRRORED(<=, le, ge)
VIVACE_MIRRORED(>, gt, lt)
VIVACE_MIRRORED(>=, ge, le)
VIVACE_MIRRORED(==, eq, eq)
VIVACE_MIRRORED(!=, ne, ne)
VIVACE_BINARY(/, div)
VIVACE_BINARY(%, remainder)
inline Tensor operator/(const Scalar& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Scalar& a, const Tensor& b) { return remainder(a, b); }
VIVACE_IN_PLACE(+=, add_)
VIVACE_IN_PLACE(-=, sub_)
VIVACE_IN_PLACE(*=, mul_)
VIVACE_IN_PLACE(/=, div_)
VIVACE_IN_PLACE(&=, bitwise_and_)
VIVACE_IN_PLACE(|=, bitwise_or_)
VIVACE_IN_PLACE(^=, bitwise_xor_)
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

#undef VIVACE_BINARY
#undef VIVACE_MIRRORED
#undef VIVACE_IN_PLACE

// ---- tensors over memory, and of values

/// Borrows the memory; `deleter(data)` runs when the last tensor over it is gone.
template <class Deleter>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, Deleter&& deleter,
                 const TensorOptions& options = {}) {
  struct Context {
    void* data;
    std::decay_t<Deleter> deleter;
  };
  auto* context = new Context{data, std::forward<Deleter>(deleter)};
  const ScalarType dtype = options.dtype_opt().value_or(kFloat);
  PyObject* made = vivace::api().from_memory(
      data, sizes.data(), strides.data(), int32_t(sizes.size()), dtype,
      [](void* p) {
        auto* context = static_cast<Context*>(p);
        context->deleter(context->data);
        delete context;
      },
      context);
  Tensor t = Tensor::of_result(made);
  if (options.requires_grad()) t.set_requires_grad(true);
  return t;
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) {
  return from_blob(data, sizes, strides, [](void*) {}, options);
}
namespace detail {
inline std::vector<int64_t> row_major(IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  return strides;
}
}  // namespace detail
template <class Deleter, class = std::enable_if_t<std::is_invocable_v<Deleter, void*>>>
Tensor from_blob(void* data, IntArrayRef sizes, Deleter&& deleter, const TensorOptions& options = {}) {
  return from_blob(data, sizes, detail::row_major(sizes), std::forward<Deleter>(deleter), options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return from_blob(data, sizes, detail::row_major(sizes), [](void*) {}, options);
}

template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  constexpr ScalarType natural = CppTypeToScalarType<T>::value;
  const int64_t n = int64_t(values.size());
  const ScalarType dtype = options.dtype_opt().value_or(isIntegralType(natural, false) ? kLong
                                                        : natural == kDouble           ? kFloat
                                                                                       : natural);
  Tensor made = empty({n}, TensorOptions(natural));
  if (n) std::memcpy(made.data_ptr(), values.data(), size_t(n) * sizeof(T));
  made = made.to(options.dtype(dtype));
  if (options.requires_grad()) made.set_requires_grad(true);
  return made;
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(value), options).reshape(IntArrayRef());
}

}  // namespace at

namespace torch {
using namespace at;
}
