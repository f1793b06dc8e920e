// grad_fn objects: one Python type per kind of node, named as PyTorch names it and made when it is first needed.
#include "bindings/node_type.h"

#include <cstring>
#include <string>

#include "bindings/convert.h"
#include "bindings/guard.h"
#include "bindings/register_hooks.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/node_object.h"

namespace vivace {
namespace {

PyTypeObject* node_type = nullptr;        // the common base, "torch.autograd.graph.Node"
PyTypeObject* accumulate_type = nullptr;  // AccumulateGrad: what an edge to a leaf looks like from Python

/// What CPython's collector keeps in front of an object: two links.
constexpr size_t kCollectorHead = 2 * sizeof(uintptr_t);

/// The leaf's end of the graph, made on demand for next_functions.
struct AccumulateGrad : Object {
  Tensor* variable;
};

Node& as_node(Object* self) { return *reinterpret_cast<Node*>(self); }

Object* get_name(Object* self, Object*) {
  const std::string_view name = as_node(self).info->name;
  const bool in_namespace = name == "CopySlices" || name == "CopyBackwards";  // as PyTorch's names of these are
  return PyUnicode_FromFormat("%s%s", in_namespace ? "torch::autograd::" : "", name.data());
}

Object* get_next_functions(Object* self, void*) {
  return guarded([&] {
    Node& node = as_node(self);
    auto functions = Ref<Object>::steal(checked(PyTuple_New(node.nedges)));
    for (uint32_t i = 0; i < node.nedges; ++i) {
      const Edge& edge = node.edges()[i];
      Object* target = !edge            ? Py_NewRef(Py_None)
                       : edge.is_leaf() ? accumulate_grad(*edge.tensor())
                                        : Py_NewRef(reinterpret_cast<Object*>(edge.node()));
      PyTuple_SET_ITEM(functions.object(), i, checked(Py_BuildValue("(Nk)", target, (unsigned long)edge.nr())));
    }
    return functions.release();
  });
}

Object* get_forward_line(Object* self, void*) {
  return guarded([&]() -> Object* {
    Node& node = as_node(self);
    if (!node.code) Py_RETURN_NONE;
    return PyUnicode_FromString(python_hooks.describe_line(node.code, node.lasti).c_str());
  });
}

/// What is known of each output of the forward operator, whose gradients are the node's inputs.
Object* get_input_metadata(Object* self, void*) {
  return guarded([&] {
    static PyStructSequence_Field fields[] = {{"shape", nullptr}, {"dtype", nullptr}, {"device", nullptr}, {nullptr}};
    static PyStructSequence_Desc description = {"torch.autograd.graph.InputMetadata", nullptr, fields, 3};
    static PyTypeObject* const type = PyStructSequence_NewType(&description);
    Node& node = as_node(self);
    auto all = Ref<Object>::steal(checked(PyTuple_New(node.noutputs)));
    for (uint32_t i = 0; i < node.noutputs; ++i) {
      if (i < 32 && node.info->nondiff_outputs >> i & 1) {
        PyTuple_SET_ITEM(all.object(), i, Py_NewRef(Py_None));
        continue;
      }
      Object* one = checked(PyStructSequence_New(type));
      PyTuple_SET_ITEM(all.object(), i, one);
      PyStructSequence_SetItem(one, 0, checked(wrap_size(node.metas[i].sizes())));
      PyStructSequence_SetItem(one, 1, wrap(node.metas[i].dtype));
      PyStructSequence_SetItem(one, 2, checked(wrap(node.metas[i].device)));
    }
    return all.release();
  });
}

Object* get_sequence_nr(Object* self, Object*) { return PyLong_FromUnsignedLongLong(as_node(self).sequence); }

Object* node_repr(Object* self) {
  auto name = Ref<Object>::steal(PyType_GetName(Py_TYPE(self)));
  return name ? PyUnicode_FromFormat("<%U object at %p>", name.object(), self) : nullptr;
}

Object* node_sizeof(Object* self, Object*) {
  Node& node = as_node(self);
  return PyLong_FromSize_t(sizeof(Node) + node.nedges * sizeof(Edge) + node.capacity * sizeof(Value));
}

/// The tensors among the arguments of a call, null for None, one for each output that can have a gradient.
std::vector<Tensor*> unwrap_gradients(Object* args, Object* kwargs, uint32_t noutputs, uint32_t without) {
  if (kwargs && PyDict_GET_SIZE(kwargs)) fail_type("a grad_fn takes no keyword arguments");
  const auto given = uint32_t(PyTuple_GET_SIZE(args)), wanted = noutputs - uint32_t(__builtin_popcount(without));
  if (given != wanted) fail_type("expected ", wanted, " arguments, got ", given, " instead");
  std::vector<Tensor*> gradients;
  for (uint32_t i = 0, k = 0; i < noutputs; ++i) {
    Object* g = i < 32 && without >> i & 1 ? Py_None : PyTuple_GET_ITEM(args, k++);
    if (g != Py_None && !is_tensor(g)) fail_type("argument ", k - 1, " is not a Variable");
    gradients.push_back(g == Py_None ? nullptr : &tensor_of(g));
  }
  return gradients;
}

/// Gives one gradient, or a tuple of them, None for an undefined one.
Object* call_node(Object* self, Object* args, Object* kwargs) {
  return guarded([&]() -> Object* {
    Node& node = as_node(self);
    const uint32_t without = node.noutputs >= 32 ? 0 : node.info->nondiff_outputs & ((1u << node.noutputs) - 1);
    std::vector<TensorRef> results = apply_node(node, unwrap_gradients(args, kwargs, node.noutputs, without));
    const auto wrapped = [](TensorRef& t) { return t ? static_cast<Object*>(t.release()) : Py_NewRef(Py_None); };
    if (results.size() == 1) return wrapped(results[0]);
    auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(results.size()))));
    for (size_t i = 0; i < results.size(); ++i) PyTuple_SET_ITEM(tuple.object(), Py_ssize_t(i), wrapped(results[i]));
    return tuple.release();
  });
}

PyMethodDef methods[] = {
    {"name", get_name, METH_NOARGS, "The node's kind, such as 'AddBackward0'."},
    {"__sizeof__", node_sizeof, METH_NOARGS, nullptr},
    {"_sequence_nr", get_sequence_nr, METH_NOARGS, "Place in the order of creation."},
    {"register_hook", node_register_hook, METH_O,
     "register_hook(hook): calls hook(grad_inputs, grad_outputs) when the node has run."},
    {"register_prehook", node_register_prehook, METH_O,
     "register_prehook(hook): calls hook(grad_outputs) before the node runs."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef getset[] = {
    {"next_functions", get_next_functions, nullptr,
     "((node, output number), ...): where the gradients of the inputs go.", nullptr},
    {"forward_line", get_forward_line, nullptr, "Where the forward operation was called, 'file.py:12 in f'.", nullptr},
    {"metadata", node_metadata, nullptr, "A dict for notes.", nullptr},
    {"_input_metadata", get_input_metadata, nullptr,
     "(shape, dtype, device) of each output of the forward operation, whose gradients arrive here; None for outputs "
     "that "
     "have none.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

int accumulate_traverse(Object* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<AccumulateGrad*>(self)->variable);
  return 0;
}

int accumulate_clear(Object* self) {
  Tensor* variable = std::exchange(reinterpret_cast<AccumulateGrad*>(self)->variable, nullptr);
  if (variable && variable->extra) variable->extra->accumulate_grad = nullptr;
  Py_XDECREF(variable);
  return 0;
}

void accumulate_dealloc(Object* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  accumulate_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

Object* accumulate_variable(Object* self, void*) {
  return Py_XNewRef(reinterpret_cast<Object*>(reinterpret_cast<AccumulateGrad*>(self)->variable));
}
Object* accumulate_name(Object*, Object*) { return PyUnicode_FromString("torch::autograd::AccumulateGrad"); }
Object* accumulate_next(Object*, void*) { return PyTuple_New(0); }

/// Adds to the leaf's gradient.
Object* accumulate_call(Object* self, Object* args, Object* kwargs) {
  return guarded([&] {
    const TensorRef leaf = TensorRef::share(reinterpret_cast<AccumulateGrad*>(self)->variable);
    const std::vector<Tensor*> gradients = unwrap_gradients(args, kwargs, 1, 0);
    const Endpoint root = {leaf.get(), {}};
    if (leaf && gradients[0]) run_backward({&root, 1}, gradients, {}, {});
    return checked(PyTuple_New(0));
  });
}

PyMethodDef accumulate_methods[] = {
    {"name", accumulate_name, METH_NOARGS, nullptr},
    {"register_hook", node_register_hook, METH_O,
     "register_hook(hook): calls hook((), (grad,)) when the leaf's gradient was accumulated."},
    {"register_prehook", node_register_prehook, METH_O,
     "register_prehook(hook): calls hook((grad,)) before the leaf's gradient is accumulated."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef accumulate_getset[] = {
    {"variable", accumulate_variable, nullptr, "The leaf.", nullptr},
    {"next_functions", accumulate_next, nullptr, "Empty.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject* make_type(const char* name, PyType_Slot* slots, size_t size, int item_size, unsigned flags,
                        PyTypeObject* base) {
  PyType_Spec spec = {name, int(size), item_size,
                      unsigned(flags | Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION),
                      slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<Object*>(base))));
}

PyTypeObject* make_node_type(const NodeInfo& info) {
  // Not inherited by a type that is made from a specification of its own.
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
      {Py_tp_getset, saved_attributes(info)},
      {0, nullptr},
  };
  // The name has to outlive the type, which lives as long as the process.
  char* name = strdup(str("torch.autograd.graph.", info.name).c_str());
  return make_type(name, slots, 0, 1, 0, node_type);
}

}  // namespace

Object* accumulate_grad(Tensor& leaf) {
  TensorExtra& e = extra(leaf);
  if (e.accumulate_grad) return Py_NewRef(reinterpret_cast<Object*>(e.accumulate_grad));
  auto* node = PyObject_GC_New(AccumulateGrad, accumulate_type);
  if (!node) throw PythonError{};
  node->variable = &leaf;
  Py_INCREF(&leaf);
  e.accumulate_grad = reinterpret_cast<Node*>(node);
  PyObject_GC_Track(node);
  return node;
}

PyTypeObject* make_node_subtype(const char* name, PyType_Slot* slots, PyTypeObject* base) {
  return make_type(name, slots, 0, 1, base ? 0 : Py_TPFLAGS_BASETYPE, base ? base : node_type);
}

Tensor* leaf_of(Object* o) {
  return Py_IS_TYPE(o, accumulate_type) ? reinterpret_cast<AccumulateGrad*>(o)->variable : nullptr;
}

bool is_node(Object* o) { return PyObject_TypeCheck(o, node_type); }

Node* allocate_node(PyTypeObject* type, size_t bytes) {
  // The collector counts only every 16th node: a graph is one structure, and collecting each time that 700 of its nodes
  // were made takes longer than making them. The types' item size is one byte, so that its allocator makes room for
  // what follows the struct.
  static unsigned count = 0;
  if (count++ % 16 == 0) {
    auto* node = reinterpret_cast<Node*>(PyObject_GC_NewVar(PyVarObject, type, Py_ssize_t(bytes - sizeof(Node))));
    if (!node) throw PythonError{};
    return node;
  }
  auto* head = static_cast<char*>(PyObject_Malloc(kCollectorHead + bytes));
  if (!head) fail("not enough memory for a node of the graph");
  std::memset(head, 0, kCollectorHead);
  return reinterpret_cast<Node*>(PyObject_Init(reinterpret_cast<Object*>(head + kCollectorHead), type));
}

void free_node(Node* node) { PyObject_Free(reinterpret_cast<char*>(node) - kCollectorHead); }

void init_node_type(Object* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
      {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
      {Py_tp_call, reinterpret_cast<void*>(call_node)},
      {Py_tp_methods, methods},
      {Py_tp_getset, getset},
      {0, nullptr},
  };
  node_type = make_type("torch.autograd.graph.Node", slots, sizeof(Node), 1, Py_TPFLAGS_BASETYPE, nullptr);
  PyType_Slot accumulate_slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(accumulate_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(accumulate_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(accumulate_clear)},
      {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
      {Py_tp_call, reinterpret_cast<void*>(accumulate_call)},
      {Py_tp_methods, accumulate_methods},
      {Py_tp_getset, accumulate_getset},
      {0, nullptr},
  };
  accumulate_type =
      make_type("torch.autograd.graph.AccumulateGrad", accumulate_slots, sizeof(AccumulateGrad), 0, 0, nullptr);
  python_hooks.make_node_type = make_node_type;
  checked(PyModule_AddObjectRef(module, "_Node", reinterpret_cast<Object*>(node_type)));
  checked(PyModule_AddObjectRef(module, "_AccumulateGrad", reinterpret_cast<Object*>(accumulate_type)));
}

}  // namespace vivace
