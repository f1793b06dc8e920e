// The orders of arguments that PyTorch still takes, with a warning: numbers before the tensors that they multiply, as
// in `x.add_(2, y)`.
#pragma once
#include <vector>

#include "bindings/packet.h"

namespace vivace {

/// Such a call, rewritten: its arguments in today's order, the numbers as keywords behind them.
struct OldOrder {
  std::vector<Object*> args;  // borrowed
  Py_ssize_t nargs = 0;
  Ref<Object> kwnames;

  /// False, and nothing done, if the call is no such one; else the warning is given.
  bool rewrite(const Packet& packet, bool method, Object* const* given, Py_ssize_t n, Object* names);
};

}  // namespace vivace
