// See vmap.h. Rules have PyTorch's form: function(info, in_dims, *args) gives the results and the places of the batch
// in them. Physical tensors have it in their first dim, so in_dims holds 0 and None.
#include "bindings/vmap.h"

#include <unordered_set>

#include "bindings/convert.h"
#include "bindings/keywords.h"
#include "bindings/python_op.h"
#include "bindings/tables.h"
#include "generated/ops/view/dims.h"
#include "runtime/autograd/node.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/vmap/batched.h"

namespace vivace {
namespace {

Object* finder = nullptr;     // finder(full name, arguments, in place, functional's name), in Python
Object* make_info = nullptr;  // make_info(batch_size, randomness), in Python

constexpr const char* kRandomness[] = {"error", "different", "same"};

bool is_of(const Tensor* t, int level) { return t && is_batched(*t) && batch_of(*t).level == level; }

// ---- rules

char letter(ArgKind kind) {
  switch (kind) {
    case ArgKind::Tensor:
      return 'T';
    case ArgKind::TensorList:
    case ArgKind::IndexList:
      return 'L';
    case ArgKind::Int:
      return 'i';
    case ArgKind::IntList:
      return 'I';
    case ArgKind::Generator:
      return 'G';
    default:
      return 'o';
  }
}

VmapRule find_rule(const Op& op) {
  auto arguments = Ref<Object>::steal(checked(PyList_New(0)));
  for (int i = 0; i < op.nargs; ++i) {
    const char kind[] = {letter(op.args[i].kind), 0};
    const auto pair = Ref<Object>::steal(checked(Py_BuildValue("ss", op.args[i].name, kind)));
    checked(PyList_Append(arguments.object(), pair.object()));
  }
  const std::string functional = op.functional ? full_name(*op.functional) : "";
  const auto found =
      Ref<Object>::steal(checked(PyObject_CallFunction(finder, "sOis", full_name(op).c_str(), arguments.object(),
                                                       int(op.op_class == OpClass::InPlace), functional.c_str())));
  const char *kind, *places;
  Object* function;
  int is_random;
  if (!PyArg_ParseTuple(found.object(), "sOsp", &kind, &function, &places, &is_random)) throw PythonError{};
  VmapRule rule;
  rule.is_random = is_random != 0;
  rule.places = places;
  if (function != Py_None) rule.function = Ref<Object>::share(function);
  const std::string_view name = kind;
  rule.kind = name == "places"       ? VmapRule::Places
              : name == "function"   ? VmapRule::Function
              : name == "decomposed" ? VmapRule::Decomposed
              : name == "functional" ? VmapRule::Functional
                                     : VmapRule::Loop;
  if (rule.kind == VmapRule::Places && rule.places.size() != op.nargs)
    fail("vmap: the rule of ", full_name(op), " has ", rule.places.size(), " letters for ", int(op.nargs),
         " arguments");
  return rule;
}

/// 0 for a batched tensor's place, a list of such for a list, else None.
Object* in_dim(const Value& v, int level) {
  auto one = [&](const Tensor* t) { return is_of(t, level) ? PyLong_FromLong(0) : Py_NewRef(Py_None); };
  if (v.tag == Tag::Tensor) return one(v.tensor);
  if (v.tag != Tag::TensorList) return Py_NewRef(Py_None);
  auto list = Ref<Object>::steal(checked(PyList_New(v.count)));
  for (int64_t i = 0; i < v.count; ++i) PyList_SET_ITEM(list.object(), i, one(v.tensors[i]));
  return list.release();
}

/// A result of a rule as a batched tensor; `dim` is an int or None.
Ref<Object> wrap_result(Object* result, Object* dim, int level) {
  if (result == Py_None || dim == Py_None) return Ref<Object>::share(result);
  if (!is_tensor(result)) fail("vmap: a rule gave ", Py_TYPE(result)->tp_name, " where its out_dims has ", 0);
  const long d = PyLong_AsLong(dim);
  if (d == -1 && PyErr_Occurred()) throw PythonError{};
  TensorRef t = TensorRef::share(&tensor_of(result));
  if (d != 0) t = ops::movedim_int(*t, d, 0);
  if (t->dim() == 0 || t->sizes()[0] != vmap_level(level).size)
    fail("vmap: a rule gave a tensor of sizes ", t->sizes(), " as a batch of ", vmap_level(level).size);
  return Ref<Object>::steal(batched(std::move(t), level).release());
}

Ref<Object> wrap_results(Object* results, Object* dims, int level) {
  if (!PyTuple_Check(results) && !PyList_Check(results)) return wrap_result(results, dims, level);
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(results);
  const bool each = PyTuple_Check(dims) || PyList_Check(dims);
  if (each && PySequence_Fast_GET_SIZE(dims) != n)
    fail("vmap: a rule gave ", int64_t(n), " results and ", int64_t(PySequence_Fast_GET_SIZE(dims)), " out_dims");
  auto out = Ref<Object>::steal(checked(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) {
    Object* dim = each ? PySequence_Fast_GET_ITEM(dims, i) : dims;
    PyTuple_SET_ITEM(out.object(), i, wrap_results(PySequence_Fast_GET_ITEM(results, i), dim, level).release());
  }
  return out;
}

Object* call_function(const Op& op, const VmapRule& rule, int level, Value* args) {
  Value values[32];
  std::vector<std::vector<Tensor*>> lists;
  for (int i = 0; i < op.nargs; ++i) {
    values[i] = args[i];
    if (args[i].tag == Tag::Tensor && is_of(args[i].tensor, level)) {
      values[i].tensor = batch_of(*args[i].tensor).physical.get();
    } else if (args[i].tag == Tag::TensorList) {
      lists.emplace_back();
      for (Tensor* t : args[i].tensor_list()) lists.back().push_back(is_of(t, level) ? batch_of(*t).physical.get() : t);
      values[i] = Value::of(TensorList(lists.back()));
    }
  }
  const auto [positional, keywords] = python_arguments(op, values);
  const Py_ssize_t n = PyTuple_GET_SIZE(positional.object());
  auto in_dims = Ref<Object>::steal(checked(PyTuple_New(n)));
  auto given = Ref<Object>::steal(checked(PyTuple_New(n + 2)));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(in_dims.object(), i, checked(in_dim(args[i], level)));
    PyTuple_SET_ITEM(given.object(), i + 2, Py_NewRef(PyTuple_GET_ITEM(positional.object(), i)));
  }
  PyTuple_SET_ITEM(given.object(), 0, Py_NewRef(vmap_level(level).info.object()));
  PyTuple_SET_ITEM(given.object(), 1, in_dims.release());
  Ref<Object> wrapped;
  {
    const VmapDepth outer(level - 1);
    Object* named = PyDict_GET_SIZE(keywords.object()) ? keywords.object() : nullptr;
    const auto result = Ref<Object>::steal(checked(PyObject_Call(rule.function.object(), given.object(), named)));
    if (result.object() == Py_NotImplemented) return nullptr;
    if (op.op_class != OpClass::InPlace) {
      if (!PyTuple_Check(result.object()) || PyTuple_GET_SIZE(result.object()) != 2)
        fail("vmap: the rule of ", full_name(op), " must return two things: results and out_dims");
      wrapped = wrap_results(PyTuple_GET_ITEM(result.object(), 0), PyTuple_GET_ITEM(result.object(), 1), level);
    }
  }
  if (op.op_class == OpClass::InPlace) {
    if (is_of(args[0].tensor, level)) refresh_layout(*args[0].tensor);
    return Py_NewRef(static_cast<Object*>(args[0].tensor));
  }
  return check_python_result(op, args, std::move(wrapped)).release();
}

Object* call_decomposed(const Op& op, const VmapRule& rule, Value* args) {
  const auto [positional, keywords] = python_arguments(op, args);
  auto result =
      Ref<Object>::steal(checked(PyObject_Call(rule.function.object(), positional.object(), keywords.object())));
  return check_python_result(op, args, std::move(result)).release();
}

// ---- for src/vivace/func

Object* set_finder(Object*, Object* const* args, Py_ssize_t) {
  finder = Py_NewRef(args[0]);
  make_info = Py_NewRef(args[1]);
  install_vmap();
  for (Py_ssize_t i = 0; i < PyTuple_Size(args[2]); ++i) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(args[2], i));
    if (!name) return nullptr;
    if (Op* op = find_own(name)) set_kernel(*op, Key::Vmap, vmap_kernel);
  }
  Py_RETURN_NONE;
}

Object* forget_rule(Object*, Object* name) {
  return guarded([&] {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError{};
    if (const Op* op = find_own(text)) forget_vmap_rule(*op);
    Py_RETURN_NONE;
  });
}

Tensor& tensor_argument(Object* o) {
  if (!is_tensor(o)) fail_type("expected a Tensor, not ", Py_TYPE(o)->tp_name);
  return tensor_of(o);
}

int int_argument(Object* o) {
  const long value = PyLong_AsLong(o);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return int(value);
}

/// _vmap_enter(batch_size, randomness, only_tangents=False): a new innermost level, whose number it gives.
Object* enter(Object*, Object* args) {
  static uint64_t serial = 0;
  long long size;
  const char* randomness;
  int only_tangents = 0;
  if (!PyArg_ParseTuple(args, "Ls|p:_vmap_enter", &size, &randomness, &only_tangents)) return nullptr;
  return guarded([&] {
    VmapLevel level{.size = size,
                    .randomness = Randomness::Error,
                    .only_tangents = only_tangents != 0,
                    .serial = ++serial,
                    .info = {}};
    for (uint8_t k = 0; k < 3; ++k)
      if (std::string_view(randomness) == kRandomness[k]) level.randomness = Randomness(k);
    level.info = Ref<Object>::steal(checked(PyObject_CallFunction(make_info, "Ls", size, randomness)));
    return PyLong_FromLong(enter_vmap(std::move(level)));
  });
}

Object* leave(Object*, Object*) {
  leave_vmap();
  Py_RETURN_NONE;
}

/// _add_batch_dim(tensor, dim, level)
Object* add_batch_dim(Object*, Object* const* args, Py_ssize_t) {
  return guarded([&] {
    TensorRef t = TensorRef::share(&tensor_argument(args[0]));
    const int dim = int_argument(args[1]);
    if (wrap_dim(dim, t->dim()) != 0) t = ops::movedim_int(*t, dim, 0);
    return batched(std::move(t), int_argument(args[2])).release();
  });
}

/// _remove_batch_dim(tensor, level, out_dim)
Object* remove_batch_dim(Object*, Object* const* args, Py_ssize_t) {
  return guarded([&]() -> Object* {
    Tensor& t = tensor_argument(args[0]);
    const int level = int_argument(args[1]), dim = int_argument(args[2]);
    if (level_of(t) == level) {
      Tensor& physical = *batch_of(t).physical;
      if (wrap_dim(dim, physical.dim()) == 0) return Py_NewRef(static_cast<Object*>(&physical));
      return ops::movedim_int(physical, 0, dim).release();
    }
    const int64_t at = wrap_dim(dim, t.dim() + 1);
    TensorRef wide = ops::unsqueeze(t, at);
    Dims sizes(wide->sizes());
    sizes[int(at)] = vmap_level(level).size;
    return ops::expand(*wide, sizes, false).release();
  });
}

/// _vmap_level(object): of a batched tensor, else 0.
Object* level_of_object(Object*, Object* o) {
  return PyLong_FromLong(is_tensor(o) && is_batched(tensor_of(o)) ? batch_of(tensor_of(o)).level : 0);
}

/// _vmap_info(level): its number of samples, and its randomness.
Object* info_of(Object*, Object* level) {
  return guarded([&] {
    const VmapLevel& found = vmap_level(int_argument(level));
    return checked(Py_BuildValue("Ls", static_cast<long long>(found.size), kRandomness[int(found.randomness)]));
  });
}

/// _vmap_physical(tensor)
Object* physical_of(Object*, Object* o) {
  return guarded([&] {
    Tensor& t = tensor_argument(o);
    return Py_NewRef(is_batched(t) ? batch_of(t).physical.object() : o);
  });
}

std::vector<int> levels_argument(Object* tuple) {
  std::vector<int> levels;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) levels.push_back(int_argument(PyTuple_GET_ITEM(tuple, i)));
  if (PyErr_Occurred()) throw PythonError{};
  return levels;
}

/// _vmap_unwrap(tensor): the tensor behind all levels, and these, outermost first, which are its leading dims.
Object* unwrap_all(Object*, Object* o) {
  return guarded([&] {
    Tensor& t = tensor_argument(o);
    const std::vector<int> levels = levels_behind(t);
    auto tuple = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(levels.size()))));
    for (size_t i = 0; i < levels.size(); ++i)
      PyTuple_SET_ITEM(tuple.object(), Py_ssize_t(i), checked(PyLong_FromLong(levels[i])));
    return checked(PyTuple_Pack(2, static_cast<Object*>(&base_of(t)), tuple.object()));
  });
}

Object* wrap_all(Object*, Object* const* args, Py_ssize_t) {
  return guarded(
      [&] { return batched_at(TensorRef::share(&tensor_argument(args[0])), levels_argument(args[1])).release(); });
}
Object* to_base(Object*, Object* const* args, Py_ssize_t) {
  return guarded([&] { return beside_base(tensor_argument(args[0]), levels_argument(args[1])).release(); });
}
Object* from_base(Object*, Object* const* args, Py_ssize_t) {
  return guarded([&] { return beside_batched(tensor_argument(args[0]), levels_argument(args[1])).release(); });
}

/// _vmap_depth(): how many levels calls see. With a number: calls see so many from here on; what they saw before.
Object* depth(Object*, Object* const* args, Py_ssize_t n) {
  return guarded([&] {
    const int before = VmapDepth::now();
    if (n > 0) show_vmap_levels(int_argument(args[0]));
    return PyLong_FromLong(before);
  });
}
/// _vmap_sample_levels(): those that calls see and that samples differ at.
Object* sample_levels(Object*, Object*) {
  return guarded([&] {
    auto list = Ref<Object>::steal(checked(PyList_New(0)));
    for (int level = 1; level <= VmapDepth::now(); ++level) {
      if (vmap_level(level).only_tangents) continue;
      const auto number = Ref<Object>::steal(checked(PyLong_FromLong(level)));
      checked(PyList_Append(list.object(), number.object()));
    }
    return PyList_AsTuple(list.object());
  });
}
/// _graph_ends_within(tensors, leaves): whether all leaves that the tensors were computed from are among these.
Object* graph_ends_within(Object*, Object* const* args, Py_ssize_t) {
  return guarded([&] {
    std::unordered_set<const Object*> known, seen;
    for (Py_ssize_t i = 0; i < PyList_Size(args[1]); ++i) known.insert(PyList_GET_ITEM(args[1], i));
    std::vector<Node*> todo;
    bool within = true;
    auto visit_leaf = [&](const Object* leaf) { within &= known.contains(leaf); };
    auto visit = [&](Node* node) {
      if (seen.insert(node).second) todo.push_back(node);
    };
    for (Py_ssize_t i = 0; i < PyList_Size(args[0]); ++i) {
      const Tensor& t = tensor_argument(PyList_GET_ITEM(args[0], i));
      if (t.grad_fn)
        visit(t.grad_fn);
      else if (t.requires_grad())
        visit_leaf(&t);
    }
    while (within && !todo.empty()) {
      Node* node = todo.back();
      todo.pop_back();
      for (const Edge& edge : std::span(node->edges(), node->nedges)) {
        if (!edge) continue;
        if (edge.is_leaf())
          visit_leaf(edge.object());
        else
          visit(edge.node());
      }
    }
    if (PyErr_Occurred()) throw PythonError{};
    return PyBool_FromLong(within);
  });
}

PyMethodDef functions[] = {
    fast_function("_graph_ends_within", graph_ends_within,
                  "Whether all leaves that tensors were computed from are among these."),
    fast_function("_set_vmap_finder", set_finder,
                  "Sets what finds rules, what rules are given, and composites that have one."),
    {"_forget_vmap_rule", forget_rule, METH_O, "The rule of an operator is asked for again."},
    {"_vmap_enter", enter, METH_VARARGS, "A new innermost vmap: its level."},
    {"_vmap_leave", leave, METH_NOARGS, "Ends the innermost vmap."},
    fast_function("_vmap_depth", depth, "How many vmaps calls see; sets it."),
    {"_vmap_sample_levels", sample_levels, METH_NOARGS, "The levels that samples differ at."},
    fast_function("_add_batch_dim", add_batch_dim, "A tensor whose dim runs over samples, as one sample."),
    fast_function("_remove_batch_dim", remove_batch_dim, "The reverse."),
    {"_vmap_level", level_of_object, METH_O, "The level of a batched tensor; 0 of anything else."},
    {"_vmap_info", info_of, METH_O, "How many samples a level has, and its randomness."},
    {"_vmap_physical", physical_of, METH_O, "The tensor behind a batched one."},
    {"_vmap_unwrap", unwrap_all, METH_O, "The tensor behind all levels, and the levels."},
    fast_function("_vmap_wrap", wrap_all, "A tensor whose leading dims run over the samples of these levels."),
    fast_function("_vmap_beside_base", to_base, "What goes with the base of a tensor that is batched at these levels."),
    fast_function("_vmap_beside_batched", from_base, "The reverse."),
    kNoMethod,
};

}  // namespace

void init_vmap(Object* module) {
  vmap_hooks = {find_rule, call_function, call_decomposed};
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace vivace
