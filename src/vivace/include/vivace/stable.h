// PyTorch's names of its stable part: here they are the same things, since nothing else crosses the table.
#pragma once
#include <torch/library.h>

namespace torch::headeronly {
using namespace c10;
}
namespace torch::stable {
using namespace at;

// Methods that are functions there.
#define VIVACE_METHOD(name)                              \
  template <class... A>                                  \
  decltype(auto) name(const Tensor& self, A&&... args) { \
    return self.name(std::forward<A>(args)...);          \
  }
VIVACE_METHOD(contiguous)
VIVACE_METHOD(copy_)
VIVACE_METHOD(fill_)
VIVACE_METHOD(new_empty)
VIVACE_METHOD(new_zeros)
VIVACE_METHOD(to)
VIVACE_METHOD(view)
VIVACE_METHOD(zero_)
#undef VIVACE_METHOD

}  // namespace torch::stable

#define STABLE_TORCH_LIBRARY(ns, m) TORCH_LIBRARY(ns, m)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) TORCH_LIBRARY_FRAGMENT(ns, m)
#define STABLE_TORCH_LIBRARY_IMPL(ns, key, m) TORCH_LIBRARY_IMPL(ns, key, m)
#define TORCH_BOX(f) TORCH_FN(f)
#define THO_DISPATCH_CASE(type, ...) AT_DISPATCH_CASE(type, __VA_ARGS__)
#define THO_DISPATCH_SWITCH(type, name, ...) AT_DISPATCH_SWITCH(type, name, __VA_ARGS__)
