// grad_fn objects in Python.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// Makes the base type of nodes and AccumulateGrad, and adds Node to the module. Throws PythonError.
void init_node_type(Object* module);
/// The AccumulateGrad object of a leaf; new reference.
Object* accumulate_grad(Tensor& leaf);

}  // namespace vivace
