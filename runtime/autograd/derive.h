// The derivative of one operator along tangents, out of what autograd knows of it (NodeInfo): there is no second set of
// formulas. The rules, the cheapest that fits: an elementwise backward is its own transpose and takes tangents as they
// are; an op that is linear in an argument is called with the tangent in its place; of all others the backward, which
// is linear in the gradient that comes in, is differentiated by it, which transposes it.
#pragma once
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/autograd/tangent.h"

namespace vivace {

inline constexpr int kMaxArguments = 32;

/// The arguments of a call as one level sees them.
class DualArguments {
 public:
  DualArguments(const Op& op, const Value* args, int level);
  DualArguments(const DualArguments&) = delete;

  /// Without tangents of the level.
  const Value* primals() const { return primals_; }
  /// Of the tensor that is an argument, or of one in a list; null if it has none.
  Tensor* tangent(int argument, size_t element = 0) const {
    const Value& v = args_[argument];
    Tensor* const t = v.tag == Tag::TensorList ? v.tensors[element] : v.tensor;
    return t ? tangent_of(*t, level_) : nullptr;
  }
  bool is_list(int argument) const { return args_[argument].tag == Tag::TensorList; }
  size_t count(int argument) const { return is_list(argument) ? size_t(args_[argument].count) : 1; }
  int level() const { return level_; }
  /// Of all primals and tangents.
  KeySet keys() const { return keys_; }

 private:
  void take(Tensor*& slot);

  const Value* args_;
  const int level_;
  KeySet keys_ = 0;
  Value primals_[kMaxArguments];
  std::vector<TensorRef> owned_;
  std::vector<std::vector<Tensor*>> lists_;
};

/// Tangents of the outputs of a call of op, fitted to them: undefined for those that are not differentiable, or don't
/// depend on anything that has a tangent.
void derive(const Op& op, const DualArguments& given, std::span<Tensor* const> outputs, std::span<TensorRef> tangents);

}  // namespace vivace
