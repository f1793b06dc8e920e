// Errors of the runtime: C++ exceptions that bindings turn into Python's. Texts are built by `str(...)`.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/core/dtype.h"

namespace vivace {

using IntList = std::span<const int64_t>;
template <int64_t... values>
inline constexpr int64_t kInts[] = {values...};

enum class ErrorKind : uint8_t { Runtime, Type, Value, Index, NotImplemented, Overflow, ZeroDivision, LinAlg };

struct Error {
  ErrorKind kind;
  std::string text;
};
/// A Python exception is set already; bindings only return.
struct PythonError {};

namespace detail {
void append(std::string& s, std::string_view x);
void append(std::string& s, double x);
void append(std::string& s, IntList x);  // [2, 3]
inline void append(std::string& s, const char* x) { append(s, std::string_view(x)); }
inline void append(std::string& s, const std::string& x) { append(s, std::string_view(x)); }
inline void append(std::string& s, bool x) { s += x ? "True" : "False"; }
inline void append(std::string& s, DType x) { append(s, name(x)); }
template <class T>
  requires std::is_integral_v<T>
void append(std::string& s, T x) {
  s += std::to_string(x);
}
}  // namespace detail

/// Joins its arguments as text.
template <class... Args>
std::string str(const Args&... args) {
  std::string s;
  (detail::append(s, args), ...);
  return s;
}

[[noreturn]] void raise(ErrorKind kind, std::string text);
/// Gives a UserWarning; throws where the program makes errors of them.
void warn(const char* text);

/// PyTorch's usual error: RuntimeError.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Args&... args) {
  raise(ErrorKind::Runtime, str(args...));
}
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_type(const Args&... args) {
  raise(ErrorKind::Type, str(args...));
}
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_value(const Args&... args) {
  raise(ErrorKind::Value, str(args...));
}
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_index(const Args&... args) {
  raise(ErrorKind::Index, str(args...));
}
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_not_implemented(const Args&... args) {
  raise(ErrorKind::NotImplemented, str(args...));
}

/// Wraps a dimension that may be negative; IndexError in PyTorch's words when it does not exist. 0-dim counts as 1-dim.
inline int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t n = ndim == 0 ? 1 : ndim;
  if (dim < -n || dim >= n) [[unlikely]]
    fail_index("Dimension out of range (expected to be in range of [", -n, ", ", n - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

}  // namespace vivace
