// See foreign.h.
#include "runtime/dispatch/foreign.h"

namespace vivace {

bool foreign_tensors_exist = false;

bool is_implicit_composite(const Op& op) {
  const KernelTable& table = op.table;
  return !(table.keys & (bit(Key::Autograd) | bit(Key::Inference))) &&
         table.kernels[int(Key::CPU)] == table.kernels[int(Key::Meta)];
}

void set_kernel(Op& op, Key key, Kernel kernel) {
  op.table.kernels[int(key)] = kernel;
  op.table.keys |= bit(key);
}

}  // namespace vivace
