// Operators by their names at run time: `Dispatcher::singleton().findSchemaOrThrow("ns::op", "").typed<...>().call(x)`.
#pragma once
#include "vivace/kernel.h"

namespace c10 {

template <class F>
class TypedOperatorHandle;
template <class R, class... A>
class TypedOperatorHandle<R(A...)> {
 public:
  explicit TypedOperatorHandle(const std::string& qualname) : found_(std::make_shared<Found>(qualname)) {}
  R call(A... args) const {
    const vivace::Value values[] = {vivace::value(args)..., vivace::no_value()};
    return vivace::result<R>(found_->op(values, sizeof...(A)));
  }

 private:
  struct Found {
    explicit Found(const std::string& qualname) : qualname(qualname) {}
    std::string qualname, signature = vivace::Kernel<R(A...)>::signature();
    vivace::Operator op{qualname.c_str(), signature.c_str()};
  };
  std::shared_ptr<const Found> found_;
};

class OperatorHandle {
 public:
  explicit OperatorHandle(std::string qualname) : qualname_(std::move(qualname)) {}
  template <class F>
  TypedOperatorHandle<F> typed() const {
    return TypedOperatorHandle<F>(qualname_);
  }

 private:
  std::string qualname_;
};

class Dispatcher {
 public:
  static Dispatcher singleton() { return {}; }
  OperatorHandle findSchemaOrThrow(const std::string& name, const std::string& overload) const {
    return OperatorHandle(overload.empty() ? name : name + "." + overload);
  }
};

}  // namespace c10
