// The thread's dispatch state, and the register of all operators.
#include "runtime/dispatch/op.h"

namespace vivace {
namespace {

/// Of calls without tensors: the device's that is named, if the operator takes one.
KeySet named_device(const Op& op, const Value* args) {
  for (int i = 0; i < op.nargs; ++i)
    if (args[i].tag == Tag::Device) return backend_key(args[i].device().type);
  return bit(Key::CPU);
}

}  // namespace

thread_local constinit ThreadState tls;

KeySet gather_keys(const Op& op, const Value* args) {
  KeySet keys = 0;
  for (uint32_t m = op.tensor_args; m; m &= m - 1)
    if (const Tensor* t = args[__builtin_ctz(m)].tensor) keys |= t->keys;
  for (uint32_t m = op.list_args; m; m &= m - 1)
    for (const Tensor* t : args[__builtin_ctz(m)].tensor_list())
      if (t) keys |= t->keys;
  return keys ? keys : named_device(op, args);
}

Op* find_op(std::string_view name, std::string_view overload) {
  for (Op* op : all_ops())
    if (op->name == name && op->overload == overload) return op;
  return nullptr;
}

}  // namespace vivace
