// Small values in PyTorch's names: lists that are borrowed, numbers, dtypes, devices, options of factories.
#pragma once
#include <array>
#include <complex>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "vivace/error.h"
#include "vivace/half.h"

namespace vivace {

/// Constant lists, for defaults.
template <int64_t... values>
inline constexpr int64_t kInts[] = {values...};

}  // namespace vivace

namespace vivace::abi {

inline const char* toString(ScalarType t) {
  static constexpr const char* names[] = {"Bool",     "Byte",   "Char",   "Short",        "UInt16",
                                          "Int",      "UInt32", "Long",   "UInt64",       "Half",
                                          "BFloat16", "Float",  "Double", "ComplexFloat", "ComplexDouble"};
  return names[int(t)];
}
inline std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << toString(t); }
inline std::ostream& operator<<(std::ostream& out, DeviceType t) {
  static constexpr const char* names[] = {"cpu", "meta", "cuda", "privateuseone"};
  return out << names[int(t)];
}

}  // namespace vivace::abi

namespace c10 {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;
using SymInt = int64_t;
template <class T>
using complex = std::complex<T>;

/// A list that somebody else holds.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(size_t(end - begin)) {}
  ArrayRef(const std::vector<T>& list) : data_(list.data()), size_(list.size()) {}
  template <size_t n>
  constexpr ArrayRef(const std::array<T, n>& list) : data_(list.data()), size_(n) {}
  template <size_t n>
  constexpr ArrayRef(const T (&list)[n]) : data_(list), size_(n) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // the list ends with the call that it is an argument of
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(list.size() ? list.begin() : nullptr), size_(list.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    TORCH_CHECK(i < size_, "ArrayRef: invalid index Index = ", i, "; Length = ", size_);
    return data_[i];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  ArrayRef slice(size_t from, size_t count) const {
    TORCH_CHECK(from + count <= size_, "ArrayRef: invalid slice, ", from, " + ", count, " > ", size_);
    return {data_ + from, count};
  }
  ArrayRef slice(size_t from) const { return slice(from, size_ - from); }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }
  std::vector<T> vec() const { return {begin(), end()}; }
  friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }
  friend bool operator!=(ArrayRef a, ArrayRef b) { return !a.equals(b); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;
using IntList = ArrayRef<int64_t>;
using SymIntArrayRef = ArrayRef<int64_t>;

/// A list or none; takes what a list is made of.
template <class T>
class OptionalArrayRef : public std::optional<ArrayRef<T>> {
 public:
  OptionalArrayRef() = default;
  OptionalArrayRef(std::nullopt_t) {}
  OptionalArrayRef(const std::initializer_list<T>& list) : std::optional<ArrayRef<T>>(ArrayRef<T>(list)) {}
  OptionalArrayRef(const T& one) : std::optional<ArrayRef<T>>(ArrayRef<T>(one)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<const U&, ArrayRef<T>> &&
                                              !std::is_convertible_v<const U&, const T&>>>
  OptionalArrayRef(const U& list) : std::optional<ArrayRef<T>>(ArrayRef<T>(list)) {}
  OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : std::optional<ArrayRef<T>>(list) {}
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

/// A list that owns its items.
template <class T>
class List {
 public:
  List() = default;
  List(std::initializer_list<T> items) : items_(items) {}
  explicit List(std::vector<T> items) : items_(std::move(items)) {}
  explicit List(ArrayRef<T> items) : items_(items.vec()) {}
  void push_back(T item) { items_.push_back(std::move(item)); }
  void reserve(size_t n) { items_.reserve(n); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  T get(size_t i) const { return items_.at(i); }
  T operator[](size_t i) const { return items_.at(i); }
  const std::vector<T>& vec() const { return items_; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

// ---- elements

using vivace::abi::DeviceType;
using vivace::abi::MemoryFormat;
using vivace::abi::ScalarType;
using vivace::abi::toString;
enum class Layout : uint8_t { Strided };

// A macro that is given each element type: C++ type and ScalarType.
#define VIVACE_FOR_EACH_TYPE(_)        \
  _(bool, Bool)                        \
  _(uint8_t, Byte)                     \
  _(int8_t, Char)                      \
  _(int16_t, Short)                    \
  _(uint16_t, UInt16)                  \
  _(int32_t, Int)                      \
  _(uint32_t, UInt32)                  \
  _(int64_t, Long)                     \
  _(uint64_t, UInt64)                  \
  _(c10::Half, Half)                   \
  _(c10::BFloat16, BFloat16)           \
  _(float, Float)                      \
  _(double, Double)                    \
  _(c10::complex<float>, ComplexFloat) \
  _(c10::complex<double>, ComplexDouble)

template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType t>
struct ScalarTypeToCPPType;
template <ScalarType t>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<t>::type;
}  // namespace impl

#define VIVACE_TYPE(cpp, name)                            \
  inline constexpr ScalarType k##name = ScalarType::name; \
  template <>                                             \
  struct CppTypeToScalarType<cpp> {                       \
    static constexpr ScalarType value = ScalarType::name; \
  };                                                      \
  template <>                                             \
  struct impl::ScalarTypeToCPPType<ScalarType::name> {    \
    using type = cpp;                                     \
  };
VIVACE_FOR_EACH_TYPE(VIVACE_TYPE)
#undef VIVACE_TYPE

inline size_t elementSize(ScalarType t) {
  static constexpr uint8_t sizes[] = {
#define VIVACE_SIZE(cpp, name) sizeof(cpp),
      VIVACE_FOR_EACH_TYPE(VIVACE_SIZE)
#undef VIVACE_SIZE
  };
  return sizes[int(t)];
}
inline bool isComplexType(ScalarType t) { return t >= kComplexFloat; }
inline bool isFloatingType(ScalarType t) { return t >= kHalf && t <= kDouble; }
inline bool isIntegralType(ScalarType t, bool include_bool) {
  return t == kBool ? include_bool : t >= kByte && t <= kUInt64;
}

inline constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
                            kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble, kComplex64 = kComplexFloat,
                            kComplex128 = kComplexDouble, kU8 = kByte, kI8 = kChar, kI16 = kShort, kI32 = kInt,
                            kI64 = kLong, kF16 = kHalf, kF32 = kFloat, kF64 = kDouble;
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta,
                            kPrivateUse1 = DeviceType::PrivateUse1;
inline constexpr Layout kStrided = Layout::Strided;

using DeviceIndex = int8_t;
class Device {
 public:
  Device() : Device(DeviceType::CPU) {}
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_meta() const { return type_ == kMeta; }
  std::string str() const { return has_index() ? c10::str(type_, ":", int(index_)) : c10::str(type_); }
  friend bool operator==(Device a, Device b) { return a.type_ == b.type_ && a.index_ == b.index_; }
  friend bool operator!=(Device a, Device b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, Device d) { return out << d.str(); }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

/// The type that sums and formulas of T are computed in.
template <class T>
using opmath_type = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// ---- numbers

/// A Python number: bool, int, float or complex.
class Scalar {
 public:
  Scalar() : Scalar(int64_t(0)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T x) {
    if constexpr (std::is_same_v<T, bool>)
      value_ = make(vivace::abi::Tag::Bool), value_.i = x;
    else if constexpr (std::is_integral_v<T>)
      value_ = make(vivace::abi::Tag::Int), value_.i = int64_t(x);
    else
      value_ = make(vivace::abi::Tag::Float), value_.f = double(x);
  }
  Scalar(Half x) : Scalar(float(x)) {}
  Scalar(BFloat16 x) : Scalar(float(x)) {}
  template <class T>
  Scalar(std::complex<T> x) : value_(make(vivace::abi::Tag::Complex)) {
    value_.f = double(x.real());
    value_.imag = double(x.imag());
  }
  explicit Scalar(const vivace::abi::Value& value) : value_(value) {}

  bool isBoolean() const { return value_.tag == vivace::abi::Tag::Bool; }
  bool isIntegral(bool include_bool) const {
    return value_.tag == vivace::abi::Tag::Int || (include_bool && isBoolean());
  }
  bool isFloatingPoint() const { return value_.tag == vivace::abi::Tag::Float; }
  bool isComplex() const { return value_.tag == vivace::abi::Tag::Complex; }
  ScalarType type() const {
    return isBoolean() ? kBool : isFloatingPoint() ? kDouble : isComplex() ? kComplexDouble : kLong;
  }
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      using Real = typename T::value_type;
      return isComplex() ? T(Real(value_.f), Real(value_.imag)) : T(Real(real()));
    } else {
      TORCH_CHECK(!isComplex() || value_.imag == 0, "a complex number can't be converted to a real one");
      if constexpr (std::is_same_v<T, bool>)
        return isFloatingPoint() || isComplex() ? value_.f != 0 : value_.i != 0;
      else if constexpr (std::is_integral_v<T>)
        return isFloatingPoint() || isComplex() ? T(value_.f) : T(value_.i);
      else
        return T(real());
    }
  }
  float toFloat() const { return to<float>(); }
  double toDouble() const { return to<double>(); }
  int toInt() const { return to<int>(); }
  int64_t toLong() const { return to<int64_t>(); }
  bool toBool() const { return to<bool>(); }
  const vivace::abi::Value& value() const { return value_; }

 private:
  static vivace::abi::Value make(vivace::abi::Tag tag) {
    vivace::abi::Value v;
    v.i = 0;
    v.count = 0;
    v.tag = tag;
    return v;
  }
  double real() const { return isFloatingPoint() || isComplex() ? value_.f : double(value_.i); }

  vivace::abi::Value value_;
};
static_assert(sizeof(Scalar) == sizeof(vivace::abi::Value));

// ---- how a factory makes its tensor

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType t) : dtype_(t) {}
  TensorOptions(Device d) : device_(d) {}
  TensorOptions(DeviceType d) : device_(d) {}
  TensorOptions(Layout) {}
  TensorOptions(MemoryFormat f) : memory_format_(f) {}

  TensorOptions dtype(std::optional<ScalarType> t) const { return with(&TensorOptions::dtype_, t); }
  template <class T>
  TensorOptions dtype() const {
    return dtype(CppTypeToScalarType<T>::value);
  }
  TensorOptions device(std::optional<Device> d) const { return with(&TensorOptions::device_, d); }
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const { return device(Device(type, index)); }
  TensorOptions layout(std::optional<Layout>) const { return *this; }
  TensorOptions requires_grad(bool on) const { return with(&TensorOptions::requires_grad_, on); }
  TensorOptions memory_format(std::optional<MemoryFormat> f) const { return with(&TensorOptions::memory_format_, f); }
  TensorOptions pinned_memory(bool on) const {
    TORCH_CHECK(!on, "vivace has no pinned memory");
    return *this;
  }

  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }
  Device device() const { return device_.value_or(Device(kCPU)); }
  bool requires_grad() const { return requires_grad_; }

 private:
  template <class M, class T>
  TensorOptions with(M member, T value) const {
    TensorOptions changed = *this;
    changed.*member = value;
    return changed;
  }

  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<MemoryFormat> memory_format_;
  bool requires_grad_ = false;
};

}  // namespace c10

namespace at {
using namespace c10;
/// How losses reduce, as numbers.
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}
}  // namespace at

namespace torch {
using namespace at;
using Dtype = at::ScalarType;

inline TensorOptions dtype(ScalarType t) { return t; }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
inline TensorOptions device(Device d) { return d; }
inline TensorOptions layout(Layout l) { return l; }
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }
inline TensorOptions memory_format(MemoryFormat f) { return f; }
}  // namespace torch
