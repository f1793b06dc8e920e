// The border between C++ and Python: C++ errors become Python exceptions here, and nowhere else.
#pragma once
#include <new>

#include "runtime/core/error.h"
#include "runtime/core/object.h"

namespace vivace {

/// Sets the Python exception that an Error stands for.
void set_error(const Error& error) noexcept;
/// Inside a catch block: turns whatever was thrown into a Python exception.
[[gnu::cold, gnu::noinline]] void set_error_from_exception() noexcept;

/// Runs f; an exception becomes a Python one and `failed` the result.
template <class F, class R>
inline R guarded_or(R failed, F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error_from_exception();
    return failed;
  }
}
/// For functions that return an object.
template <class F>
inline Object* guarded(F&& f) noexcept {
  return guarded_or<F, Object*>(nullptr, std::forward<F>(f));
}

/// For calls of the C API: throws if it failed.
inline Object* checked(Object* object) {
  if (!object) [[unlikely]]
    throw PythonError{};
  return object;
}
inline void checked(int status) {
  if (status < 0) [[unlikely]]
    throw PythonError{};
}

}  // namespace vivace
