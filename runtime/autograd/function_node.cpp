// Saving, checking and freeing what a custom Function's node holds.
#include "runtime/autograd/function_node.h"

namespace vivace {

int traverse_function(Node& node, visitproc visit, void* arg) {
  const FunctionState& f = *node.extra->function;
  for (Object* o : {f.cls, f.to_save, f.dirty, f.non_differentiable, f.saved_for_forward, node.function.dict})
    Py_VISIT(o);
  for (const FunctionSave& s : f.saved) {
    Py_VISIT(s.object);
    Py_VISIT(s.edge.object());
  }
  return 0;
}

void release_function(Node& node) {
  FunctionState& f = *node.extra->function;
  f.freed |= !f.saved.empty();
  const std::vector<FunctionSave> saved = std::exchange(f.saved, {});  // freeing may run code that looks at the node
  for (const FunctionSave& s : saved) {
    Py_XDECREF(s.object);
    Py_XDECREF(s.edge.object());
  }
}

void clear_function(Node& node) {
  FunctionState& f = *node.extra->function;
  release_function(node);
  for (Object** o : {&f.cls, &f.to_save, &f.dirty, &f.non_differentiable, &f.saved_for_forward, &node.function.dict})
    Py_CLEAR(*o);
}

}  // namespace vivace
