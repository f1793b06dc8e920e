// grad_fn objects in Python.
#pragma once
#include "runtime/autograd/node.h"

namespace vivace {

/// Makes the base type of nodes and AccumulateGrad, and adds Node to the module. Throws PythonError.
void init_node_type(Object* module);
/// A type of nodes, derived from `base` or, without one, from the type of all nodes; new reference.
PyTypeObject* make_node_subtype(const char* name, PyType_Slot* slots, PyTypeObject* base);
/// The attributes of a kind of node that show what it saved.
PyGetSetDef* saved_attributes(const NodeInfo& info);
bool is_node(Object* o);
/// The leaf of an AccumulateGrad object; null for other objects.
Tensor* leaf_of(Object* o);
/// The AccumulateGrad object of a leaf; new reference.
Object* accumulate_grad(Tensor& leaf);

}  // namespace vivace
