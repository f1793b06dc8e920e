// Errors of an extension: what TORCH_CHECK throws, Python's exceptions on their way through C++, and the border where
// C++ exceptions become Python's.
#pragma once
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "vivace/gil.h"

namespace vivace {

#ifdef PYBIND11_VERSION_MAJOR
using ErrorBase = pybind11::builtin_exception;  // which pybind11's own functions know to raise
#else
struct ErrorBase : std::runtime_error {
  using std::runtime_error::runtime_error;
  /// Sets the Python exception that this stands for.
  virtual void set_error() const = 0;
};
#endif

}  // namespace vivace

namespace c10 {

class Error : public vivace::ErrorBase {
 public:
  explicit Error(const std::string& text) : vivace::ErrorBase(text) {}
  std::string msg() const { return what(); }
  const char* what_without_backtrace() const noexcept { return what(); }
  void set_error() const override { PyErr_SetString(PyExc_RuntimeError, what()); }
};

class IndexError : public Error {
 public:
  using Error::Error;
  void set_error() const override { PyErr_SetString(PyExc_IndexError, what()); }
};
class ValueError : public Error {
 public:
  using Error::Error;
  void set_error() const override { PyErr_SetString(PyExc_ValueError, what()); }
};
class TypeError : public Error {
 public:
  using Error::Error;
  void set_error() const override { PyErr_SetString(PyExc_TypeError, what()); }
};
class NotImplementedError : public Error {
 public:
  using Error::Error;
  void set_error() const override { PyErr_SetString(PyExc_NotImplementedError, what()); }
};

}  // namespace c10

namespace vivace {

/// A Python exception.
class PythonError : public c10::Error {
 public:
  /// Takes the exception that is set.
  PythonError() : PythonError(fetch()) {}
  void set_error() const override {
    Py_XINCREF(raised_->type);
    Py_XINCREF(raised_->value);
    Py_XINCREF(raised_->traceback);
    PyErr_Restore(raised_->type, raised_->value, raised_->traceback);
  }

 private:
  struct Raised {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    ~Raised() {
      const Gil gil;
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(traceback);
    }
  };
  explicit PythonError(std::shared_ptr<Raised> raised) : Error(text_of(raised->value)), raised_(std::move(raised)) {}
  static std::shared_ptr<Raised> fetch() {
    auto raised = std::make_shared<Raised>();
    PyErr_Fetch(&raised->type, &raised->value, &raised->traceback);
    PyErr_NormalizeException(&raised->type, &raised->value, &raised->traceback);
    return raised;
  }
  static std::string text_of(PyObject* value) {
    PyObject* text = value ? PyObject_Str(value) : nullptr;
    PyObject* bytes = text ? PyUnicode_AsUTF8String(text) : nullptr;
    std::string result = bytes ? PyBytes_AsString(bytes) : "an error without a text";
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    PyErr_Clear();
    return result;
  }

  std::shared_ptr<Raised> raised_;
};

/// For calls of Python's functions: throws if they failed.
inline PyObject* checked(PyObject* object) {
  if (!object) throw PythonError();
  return object;
}
inline void checked(int status) {
  if (status < 0) throw PythonError();
}

/// Inside a catch block: sets the Python exception for what was thrown.
inline void set_python_error() noexcept {
  try {
    throw;
  } catch (const c10::Error& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "not enough memory");
  } catch (const std::out_of_range& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const std::overflow_error& error) {
    PyErr_SetString(PyExc_OverflowError, error.what());
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::domain_error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::length_error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::range_error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "Caught an unknown exception!");
  }
}

/// Runs f, which returns a new reference; what it throws becomes a Python exception.
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace vivace

namespace c10 {

/// Joins its arguments as text, as they are written to a stream.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream text;
  (text << ... << args);
  return text.str();
}

/// Gives a UserWarning; throws where the program makes errors of them.
template <class... Args>
void warn(const Args&... args) {
  vivace::checked(PyErr_WarnEx(PyExc_UserWarning, str(args...).c_str(), 1));
}

namespace detail {

template <class E, class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_check(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0)
    throw E(str("Expected ", condition, " to be true, but got false."));
  else
    throw E(str(args...));
}

template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail_assert(const char* condition, const char* file, int line,
                                                        const Args&... args) {
  throw Error(str(condition, " INTERNAL ASSERT FAILED at \"", file, "\":", line, ". ", args...));
}

}  // namespace detail
}  // namespace c10

#define VIVACE_CHECK(error, condition, ...) \
  (__builtin_expect(bool(condition), 1)     \
       ? (void)0                            \
       : ::c10::detail::fail_check<::c10::error>(#condition __VA_OPT__(, ) __VA_ARGS__))
#define TORCH_CHECK(condition, ...) VIVACE_CHECK(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) VIVACE_CHECK(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) VIVACE_CHECK(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) VIVACE_CHECK(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  VIVACE_CHECK(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define STD_TORCH_CHECK(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) \
  (__builtin_expect(bool(condition), 1)       \
       ? (void)0                              \
       : ::c10::detail::fail_assert(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__))
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) ((void)0)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), "Check failed: " #a " == " #b)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), "Check failed: " #a " != " #b)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), "Check failed: " #a " < " #b)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), "Check failed: " #a " <= " #b)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), "Check failed: " #a " > " #b)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), "Check failed: " #a " >= " #b)
#define TORCH_WARN(...) ::c10::warn(__VA_ARGS__)
#define AT_ASSERT(condition) TORCH_INTERNAL_ASSERT(condition)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ERROR(...) TORCH_CHECK(false __VA_OPT__(, ) __VA_ARGS__)
