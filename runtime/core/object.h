// The one place where the runtime includes Python.h: counted references to objects. Autograd, dispatch and core call
// CPython through it; kernels, loops and vectors only count references (tests/runtime/test_layers.py).
// All counts are touched with the GIL held; pool threads never see an Object.
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <cstdint>
#include <utility>

namespace vivace {

using Object = PyObject;

// ---- what Python's collector sees. Its functions do no more than this, but a call of one costs twice as much.

#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
struct CollectorHead {  // stands before every collected object: PyGC_Head
  uintptr_t next, prev;
};
inline constexpr uintptr_t kCollectorFlags = 3;  // low bits of `prev`
/// The collector's youngest generation; the bindings set it.
[[gnu::visibility("hidden")]] extern CollectorHead* youngest;

inline CollectorHead& head_of(Object* o) { return reinterpret_cast<CollectorHead*>(o)[-1]; }
inline bool is_tracked(Object* o) { return head_of(o).next != 0; }
/// Shows o, which is not tracked, to the collector.
inline void track_new(Object* o) {
  CollectorHead& head = head_of(o);
  auto* last = reinterpret_cast<CollectorHead*>(youngest->prev);
  last->next = reinterpret_cast<uintptr_t>(&head);
  head.prev = (head.prev & kCollectorFlags) | reinterpret_cast<uintptr_t>(last);
  head.next = reinterpret_cast<uintptr_t>(youngest);
  youngest->prev = reinterpret_cast<uintptr_t>(&head);
}
/// Hides o, which is tracked.
inline void untrack(Object* o) {
  CollectorHead& head = head_of(o);
  auto* last = reinterpret_cast<CollectorHead*>(head.prev & ~kCollectorFlags);
  auto* next = reinterpret_cast<CollectorHead*>(head.next);
  last->next = head.next;
  next->prev = (next->prev & kCollectorFlags) | reinterpret_cast<uintptr_t>(last);
  head.next = 0;
  head.prev &= 1;  // whether it was finalised
}
#else
inline bool is_tracked(Object* o) { return PyObject_GC_IsTracked(o); }
inline void track_new(Object* o) { PyObject_GC_Track(o); }
inline void untrack(Object* o) { PyObject_GC_UnTrack(o); }
#endif

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
