// Python's lock. Kernels and functions run with it; what touches a tensor takes it again where a scope let go of it.
#pragma once
#include "vivace/abi.h"

namespace vivace {

#ifdef PYBIND11_VERSION_MAJOR
inline bool lacks_gil() { return !PyGILState_Check(); }
#else
/// Whether a scope of this thread let go of the lock.
VIVACE_OWN inline thread_local bool gil_released = false;
inline bool lacks_gil() { return gil_released; }
#endif

/// Holds the lock.
class Gil {
 public:
  Gil() : taken_(lacks_gil()) {
    if (taken_) [[unlikely]]
      take();
  }
  ~Gil() {
    if (taken_) [[unlikely]]
      give_back();
  }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  void take() {
    state_ = PyGILState_Ensure();
    note(false);
  }
  void give_back() {
    note(true);
    PyGILState_Release(state_);
  }
  static void note([[maybe_unused]] bool released) {
#ifndef PYBIND11_VERSION_MAJOR
    gil_released = released;
#endif
  }

  bool taken_;
  PyGILState_STATE state_;
};

}  // namespace vivace

#ifndef PYBIND11_VERSION_MAJOR
namespace pybind11 {

/// Lets other Python threads run while C++ computes.
class gil_scoped_release {
 public:
  gil_scoped_release() : before_(vivace::gil_released), state_(before_ ? nullptr : PyEval_SaveThread()) {
    vivace::gil_released = true;
  }
  ~gil_scoped_release() {
    vivace::gil_released = before_;
    if (!before_) PyEval_RestoreThread(state_);
  }
  gil_scoped_release(const gil_scoped_release&) = delete;
  gil_scoped_release& operator=(const gil_scoped_release&) = delete;

 private:
  bool before_;
  PyThreadState* state_;
};

/// Takes the lock, in a thread of the extension's own as well.
class gil_scoped_acquire {
 public:
  gil_scoped_acquire() : before_(vivace::gil_released), state_(PyGILState_Ensure()) { vivace::gil_released = false; }
  ~gil_scoped_acquire() {
    vivace::gil_released = before_;
    PyGILState_Release(state_);
  }
  gil_scoped_acquire(const gil_scoped_acquire&) = delete;
  gil_scoped_acquire& operator=(const gil_scoped_acquire&) = delete;

 private:
  bool before_;
  PyGILState_STATE state_;
};

}  // namespace pybind11
#endif
