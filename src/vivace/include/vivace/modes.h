// Scopes that change what operators of this thread do, and loops over vivace's threads.
#pragma once
#include <mutex>

#include "vivace/members.h"

namespace vivace {

template <abi::Mode mode>
class ModeGuard {
 public:
  explicit ModeGuard(bool on) : before_(api().set_mode(mode, on)) {}
  ~ModeGuard() { api().set_mode(mode, before_); }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  int32_t before_;
};

}  // namespace vivace

namespace c10 {

enum class DispatchKey { Autograd, AutogradCPU, Autocast, AutocastCPU };

namespace impl {

/// Hides a layer of the dispatcher from the operators that a kernel of that layer calls.
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKey key)
      : mode_(key <= DispatchKey::AutogradCPU ? Mode::BelowAutograd : Mode::BelowAutocast),
        before_(vivace::api().set_mode(mode_, true)) {}
  ~ExcludeDispatchKeyGuard() { vivace::api().set_mode(mode_, before_); }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  using Mode = vivace::abi::Mode;
  Mode mode_;
  int32_t before_;
};

}  // namespace impl
}  // namespace c10

namespace at {

/// Whether operators are recorded.
struct AutoGradMode : vivace::ModeGuard<vivace::abi::Mode::Grad> {
  using ModeGuard::ModeGuard;
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};
/// A kernel for Autograd calls its operator again in this scope.
struct AutoDispatchBelowAutograd : vivace::ModeGuard<vivace::abi::Mode::BelowAutograd> {
  AutoDispatchBelowAutograd() : ModeGuard(true) {}
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;

/// For kernels of autocast: the tensor in the dtype that the operator shall have.
namespace autocast {
inline Tensor cached_cast(ScalarType dtype, const Tensor& t, DeviceType = kCPU) {
  return t.is_floating_point() && t.scalar_type() != kDouble ? t.to(dtype) : t;
}
}  // namespace autocast

struct GradMode {
  static void set_enabled(bool on) { vivace::api().set_mode(vivace::abi::Mode::Grad, on); }
  static bool is_enabled() {
    const bool on = vivace::api().set_mode(vivace::abi::Mode::Grad, false);
    set_enabled(on);
    return on;
  }
};

/// f(begin, end) on parts of the range that hold `grain` indices at least. f touches no Tensor, only data: the GIL may
/// be free. What it throws reaches the caller.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  struct Context {
    const F& f;
    std::exception_ptr error;
    std::mutex mutex;
  } context{f, nullptr, {}};
  const vivace::Gil gil;  // which vivace lets go of while a long region runs
  vivace::checked(vivace::api().parallel_for(
      begin, end, grain,
      [](void* p, int64_t b, int64_t e) {
        auto& context = *static_cast<Context*>(p);
        try {
          context.f(b, e);
        } catch (...) {
          const std::lock_guard lock(context.mutex);  // several parts may fail at once
          context.error = std::current_exception();
        }
      },
      &context));
  if (context.error) std::rethrow_exception(context.error);
}
inline int get_num_threads() { return vivace::api().get_num_threads(); }
namespace internal {
inline constexpr int64_t GRAIN_SIZE = 32768;
}

}  // namespace at

namespace torch {
using namespace at;
namespace autograd {
using at::AutoGradMode;
using at::GradMode;
using at::Variable;
}  // namespace autograd
}  // namespace torch
