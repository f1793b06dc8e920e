// Arguments of a call, bound to one operator's schema.
#pragma once
#include <memory>
#include <vector>

#include "bindings/packet.h"

namespace vivace {

inline constexpr int kMaxArgs = 32;

/// What a call is made of: the operator's arguments as Values, and the memory that lists among them live in.
struct BoundCall {
  Value args[kMaxArgs];
  KeySet keys;      // of the tensors among them; a backend's if a device was named
  bool overridden;  // one of them has a __torch_function__, which gets the call

  BoundCall() {}
  BoundCall(const BoundCall&) = delete;
  ~BoundCall() {
    for (void* block : overflow_) std::free(block);
  }
  /// Uninitialised room for n values of T that lives as long as the call.
  template <class T>
  T* room(size_t n) {
    const size_t bytes = (n * sizeof(T) + 7) & ~size_t(7);
    if (used_ + bytes <= sizeof buffer_) {
      void* p = buffer_ + used_;
      used_ += bytes;
      return static_cast<T*>(p);
    }
    overflow_.push_back(std::malloc(bytes));
    return static_cast<T*>(overflow_.back());
  }
  void reset() {
    keys = 0;
    overridden = false;
    used_ = 0;
  }

 private:
  size_t used_ = 0;
  alignas(8) char buffer_[512];
  std::vector<void*> overflow_;
};

/// Binds Python arguments to op's schema. False if they don't fit; then `why`, if given, gets the reason. May throw for
/// values that can't be right for any overload.
bool bind_arguments(const Op& op, bool varargs, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames,
                    BoundCall& call, std::string* why);

}  // namespace vivace
