// What a node saved, as its attributes `_saved_NAME`: NAME is that of the operator's argument, or "result".
#include <cstring>

#include "bindings/convert.h"
#include "bindings/node_type.h"
#include "runtime/autograd/grad.h"

namespace vivace {
namespace {

Object* wrap_tensors(TensorList list) {
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(list.size()))));
  for (size_t i = 0; i < list.size(); ++i)
    PyTuple_SET_ITEM(tuple.object(), Py_ssize_t(i), Py_NewRef(list[i] ? static_cast<Object*>(list[i]) : Py_None));
  return tuple.release();
}

Object* get_saved(Object* self, void* which) {
  return guarded([&]() -> Object* {
    Node& node = *reinterpret_cast<Node*>(self);
    const int k = int(reinterpret_cast<intptr_t>(which));
    if (node.released || uint32_t(k) >= node.nsaves) refuse_released(node);
    const Value& v = node.saved()[k];
    switch (v.tag) {
      case Tag::None:
        Py_RETURN_NONE;
      case Tag::Tensor:
      case Tag::Object:
        return saved_tensor(node, k).release();
      case Tag::TensorList:
        return wrap_tensors(saved_list(node, k));
      case Tag::IntList:
        return wrap_tuple(v.int_list());
      case Tag::DType:
        return wrap(v.dtype());
      case Tag::String:
        return PyUnicode_FromStringAndSize(v.chars, v.count);
      case Tag::Bool:
      case Tag::Int:
      case Tag::Float:
      case Tag::Complex:
        return wrap(v.scalar());
      default:
        fail("this kind of saved value can't be shown");
    }
  });
}

const Op* op_of(const NodeInfo& info) {
  for (const Op* op : all_ops())
    if (op->node == &info) return op;
  return nullptr;
}

std::string name_of(const Op& op, SaveSpec spec) {
  if (spec.from == SaveFrom::Result) return op.nreturns == 1 ? "_saved_result" : str("_saved_result", spec.index);
  const char* suffix = spec.from == SaveFrom::ArgSizes   ? "_sym_sizes"
                       : spec.from == SaveFrom::ArgDType ? "_scalar_type"
                                                         : "";
  return str("_saved_", op.args[spec.index].name, suffix);
}

}  // namespace

PyGetSetDef* saved_attributes(const NodeInfo& info) {
  const Op* op = info.saves ? op_of(info) : nullptr;
  const int n = op ? info.nsaves : 0;
  // Types of nodes, and with them their tables, live as long as the process.
  auto* table = new PyGetSetDef[size_t(n) + 1]();
  for (int k = 0; k < n; ++k) {
    table[k].name = strdup(name_of(*op, info.saves[k]).c_str());
    table[k].get = get_saved;
    table[k].closure = reinterpret_cast<void*>(intptr_t(k));
  }
  return table;
}

}  // namespace vivace
