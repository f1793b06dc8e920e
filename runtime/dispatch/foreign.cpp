// See foreign.h.
#include "runtime/dispatch/foreign.h"

#include <utility>

namespace vivace {

bool foreign_tensors_exist = false;

Object* refuse_without_memory(const Op& op, KeySet, Value*) {
  fail(op.name,
       "(): Cannot access data pointer of Tensor that doesn't have storage: a wrapper made by _make_wrapper_subclass "
       "got past its class's __torch_dispatch__, or a tensor of vmap past vmap");
}

bool is_implicit_composite(const Op& op) {
  const KernelTable& table = op.table;
  return !(table.keys & (bit(Key::Autograd) | bit(Key::Inference))) &&
         table.kernels[int(Key::CPU)] == table.kernels[int(Key::Meta)];
}

void set_kernel(Op& op, Key key, Kernel kernel) {
  op.table.kernels[int(key)] = kernel;
  op.table.keys |= bit(key);
}

void guard_memory() {
  static bool guarded = false;
  foreign_tensors_exist = true;
  if (std::exchange(guarded, true)) return;
  for (Op* op : all_ops())
    if (!is_implicit_composite(*op)) set_kernel(*op, Key::NoData, refuse_without_memory);
}

}  // namespace vivace
