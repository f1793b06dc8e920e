// The one header of the runtime that knows Python: counted references to objects.
// All counts are touched with the GIL held; pool threads never see an Object.
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <utility>

namespace vivace {

using Object = PyObject;

/// An owning handle to a Python object of layout T. Never null unless default-made, moved from, or made from null.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(const Ref& other) : ptr_(other.ptr_) { Py_XINCREF(object()); }
  Ref(Ref&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object()); }

  /// Takes over a reference that the caller owned.
  static Ref steal(T* ptr) {
    Ref ref;
    ref.ptr_ = ptr;
    return ref;
  }
  /// Adds a reference to an object that the caller keeps.
  static Ref share(T* ptr) {
    Py_XINCREF(reinterpret_cast<Object*>(ptr));
    return steal(ptr);
  }

  T* get() const { return ptr_; }
  T& operator*() const { return *ptr_; }
  T* operator->() const { return ptr_; }
  explicit operator bool() const { return ptr_ != nullptr; }
  /// Gives the reference up to the caller.
  T* release() { return std::exchange(ptr_, nullptr); }
  Object* object() const { return reinterpret_cast<Object*>(ptr_); }

 private:
  T* ptr_ = nullptr;
};

}  // namespace vivace
