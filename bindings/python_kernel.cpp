// Calls from the dispatcher to registered kernels: for those written in Python arguments become objects. What comes
// back is checked, since C++ callers take a result for what the schema says.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "bindings/convert.h"
#include "bindings/native_kernel.h"
#include "bindings/python_op.h"
#include "runtime/dispatch/arguments.h"
#include "runtime/dispatch/backend.h"
#include "runtime/dispatch/box.h"
#include "runtime/dispatch/foreign.h"

namespace vivace {
namespace {

std::unordered_map<const Op*, PythonOp*> python_ops;

template <class T, class F>
Object* wrap_list(const T* items, int64_t n, F&& wrap_item) {
  auto list = Ref<Object>::steal(checked(PyList_New(n)));
  for (int64_t i = 0; i < n; ++i) PyList_SET_ITEM(list.object(), i, checked(wrap_item(items[i])));
  return list.release();
}

/// Whether a value is the argument's default, which a kernel is not given: its own signature need not have it.
bool is_default(const ArgSpec& spec, const Value& v) {
  const Value& d = spec.fallback;
  if (!spec.has_default || v.tag != d.tag) return false;
  switch (v.tag) {
    case Tag::None:
      return true;
    case Tag::Complex:
      return v.f == d.f && v.imag == d.imag;
    case Tag::IntList:
      return std::ranges::equal(v.int_list(), d.int_list());
    case Tag::FloatList:
      return std::ranges::equal(v.float_list(), d.float_list());
    case Tag::String:
      return v.string() == d.string();
    case Tag::TensorList:
      return v.count == 0 && d.count == 0;
    case Tag::ScalarList:
      return std::equal(
          v.scalars, v.scalars + v.count, d.scalars, d.scalars + d.count,
          [](const Scalar& a, const Scalar& b) { return a.tag == b.tag && a.i == b.i && a.imag == b.imag; });
    default:
      return v.i == d.i;
  }
}

int count_positional(const Op& op) {
  int n = 0;
  while (n < op.nargs && !op.args[n].keyword_only) ++n;
  return n;
}

/// How many of the first n arguments there are up to the last that is not its default.
int without_defaults(const Op& op, const Value* args, int n) {
  while (n > 0 && is_default(op.args[n - 1], args[n - 1])) --n;
  return n;
}

/// The arguments of one call of a Python function.
class Arguments {
 public:
  ~Arguments() {
    for (int i = 0; i < count_; ++i) Py_DECREF(items_[i]);
  }
  void add(Object* owned) { items_[count_++] = owned; }
  Object* call(Object* function, int positional, Object* kwnames) {
    return checked(PyObject_Vectorcall(function, items_, size_t(positional) | PY_VECTORCALL_ARGUMENTS_OFFSET, kwnames));
  }
  int count() const { return count_; }

 private:
  Object* room_[34];  // an operator's arguments, a set of keys, and a place before them that a callee may use
  Object** items_ = room_ + 1;
  int count_ = 0;
};

Object* call_kernel(const PythonOp& extended, int key, KeySet keys, const Value* args) {
  const auto function = Ref<Object>::share(extended.kernels[key]);
  if (is_native_kernel(function.object())) return call_native_kernel(function.object(), args);
  const Op& op = *extended.op;
  const int positional = count_positional(op), given = without_defaults(op, args, positional);
  Arguments arguments;
  if (extended.with_keys >> key & 1) arguments.add(checked(PyLong_FromUnsignedLong(keys)));
  for (int i = 0; i < given; ++i) arguments.add(wrap_value(args[i]));
  const int by_position = arguments.count();
  Ref<Object> kwnames;
  if (positional < op.nargs) {
    std::vector<Object*> names;
    for (int i = positional; i < op.nargs; ++i) {
      if (is_default(op.args[i], args[i])) continue;
      arguments.add(wrap_value(args[i]));
      names.push_back(extended.names[size_t(i)]);
    }
    if (!names.empty()) {
      kwnames = Ref<Object>::steal(checked(PyTuple_New(Py_ssize_t(names.size()))));
      for (size_t k = 0; k < names.size(); ++k) PyTuple_SET_ITEM(kwnames.object(), Py_ssize_t(k), Py_NewRef(names[k]));
    }
  }
  return arguments.call(function.object(), by_position, kwnames.get());
}

bool fits(char kind, Object* o) {
  switch (kind) {
    case 'T':
      return is_tensor(o);
    case 'L': {
      if (!PyList_Check(o) && !PyTuple_Check(o)) return false;
      Object** items = PySequence_Fast_ITEMS(o);
      return std::all_of(items, items + PySequence_Fast_GET_SIZE(o), [](Object* t) { return is_tensor(t); });
    }
    case 'i':
      return PyLong_Check(o);
    case 'f':
      return PyFloat_Check(o) || PyLong_Check(o);
    case 'b':
      return PyBool_Check(o);
    case 's':
      return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o);
    default:
      return true;
  }
}

[[noreturn, gnu::cold]] void refuse_result(const PythonOp& extended, Object* result) {
  fail(extended.op->name, "(): the registered kernel returned ", Py_TYPE(result)->tp_name,
       ", which is not what the schema says: ", extended.op->schema);
}

/// The result as callers in C++ and Python expect it.
Ref<Object> check_result(const PythonOp& extended, Ref<Object> result) {
  const std::string& kinds = extended.returns;
  if (kinds.size() == 1) {
    if (!fits(kinds[0], result.object())) refuse_result(extended, result.object());
    if (kinds[0] == 'L' && !extended.defined && PyList_Check(result.object()))
      return Ref<Object>::steal(checked(PyList_AsTuple(result.object())));
    return result;
  }
  if (kinds.empty()) {
    if (result.object() != Py_None) refuse_result(extended, result.object());
    return result;
  }
  if (PyList_Check(result.object())) result = Ref<Object>::steal(checked(PyList_AsTuple(result.object())));
  if (!PyTuple_Check(result.object()) || size_t(PyTuple_GET_SIZE(result.object())) != kinds.size())
    refuse_result(extended, result.object());
  for (size_t i = 0; i < kinds.size(); ++i) {
    Object* item = PyTuple_GET_ITEM(result.object(), Py_ssize_t(i));
    if (item != Py_None && !fits(kinds[i], item)) refuse_result(extended, item);
  }
  return result;
}

void check_fresh(const Op& op, const Value* args, Object* result) {
  std::vector<const Storage*> seen;
  auto check_one = [&](Object* o) {
    if (!is_tensor(o)) return;
    const Storage* storage = tensor_of(o).storage_;
    bool shared = std::find(seen.begin(), seen.end(), storage) != seen.end();
    for_each_tensor(op, args, [&](const Tensor& t, int) { shared |= t.storage_ == storage; });
    if (shared)
      fail(op.name,
           "(): an output of this custom operator is, or shares memory with, one of its inputs or another output. "
           "Return a copy (x.clone()), or leave the output away.");
    seen.push_back(storage);
  };
  auto check = [&](auto& self, Object* o) -> void {
    if (!PyTuple_Check(o) && !PyList_Check(o)) return check_one(o);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) self(self, PySequence_Fast_GET_ITEM(o, i));
  };
  check(check, result);
}

/// Layers that have seen a call when it comes to a device's kernel.
constexpr KeySet kAboveDevices = bit(Key::Autograd) | bit(Key::SavedHooks) | bit(Key::Autocast) | bit(Key::ForwardAD);

bool crosses_devices(const Op& op) {
  const std::string_view name = op.name;
  return name == "copy_" || name.starts_with("set_");
}

int highest(const Op& op, KeySet keys) { return 31 - __builtin_clz((keys & op.table.keys) | 1); }

}  // namespace

Object* wrap_value(const Value& v) {
  switch (v.tag) {
    case Tag::None:
      return Py_NewRef(Py_None);
    case Tag::Tensor:
      return Py_NewRef(v.tensor ? static_cast<Object*>(v.tensor) : Py_None);
    case Tag::Bool:
    case Tag::Int:
    case Tag::Float:
    case Tag::Complex:
      return checked(box(v.scalar()));
    case Tag::IntList:
      return wrap_list(v.ints, v.count, [](int64_t i) { return PyLong_FromLongLong(i); });
    case Tag::FloatList:
      return wrap_list(v.floats, v.count, PyFloat_FromDouble);
    case Tag::ScalarList:
      return wrap_list(v.scalars, v.count, [](const Scalar& s) { return box(s); });
    case Tag::TensorList:
      return wrap_list(v.tensors, v.count, [](Tensor* t) { return Py_NewRef(t ? static_cast<Object*>(t) : Py_None); });
    case Tag::DType:
      return wrap(v.dtype());
    case Tag::Device:
      return wrap(v.device());
    case Tag::Layout:
      return wrap(Layout(v.i));
    case Tag::MemoryFormat:
      return wrap(v.memory_format());
    case Tag::String:
      return checked(PyUnicode_FromStringAndSize(v.chars, v.count));
    case Tag::Object:
      return Py_NewRef(v.object);
  }
  return nullptr;
}

std::string result_letters(std::string_view schema) {
  schema.remove_prefix(std::min(schema.size(), schema.rfind("->") + 2));
  std::string kinds;
  std::string item;
  int depth = 0;
  auto finish = [&] {
    if (item.empty()) return;
    const bool list = item.find("[]") != item.npos;
    const bool tensor = item.starts_with("Tensor");
    kinds += list                                                    ? (tensor ? 'L' : 'o')
             : item.starts_with("Tensor?")                           ? 'o'
             : tensor                                                ? 'T'
             : item.starts_with("int") || item.starts_with("SymInt") ? 'i'
             : item.starts_with("float")                             ? 'f'
             : item.starts_with("bool")                              ? 'b'
             : item.starts_with("Scalar ") || item == "Scalar"       ? 's'
                                                                     : 'o';
    item.clear();
  };
  for (char c : schema) {
    if (c == '(' && item.empty() && depth == 0) continue;  // around several results
    if (c == '(') ++depth;
    if (c == ')' && depth-- == 0) break;
    if (c == ',' && depth == 0) {
      finish();
    } else if (c != ' ' || !item.empty()) {
      item += c;
    }
  }
  finish();
  return kinds;
}

PythonOp* find_python_op(const Op& op) {
  const auto found = python_ops.find(&op);
  return found == python_ops.end() ? nullptr : found->second;
}

PythonOp& python_op(Op& op) {
  if (PythonOp* found = find_python_op(op)) return *found;
  auto* made = new PythonOp{&op, op.table};
  for (int i = 0; i < op.nargs; ++i) made->names.push_back(checked(PyUnicode_InternFromString(op.args[i].name)));
  made->returns = result_letters(op.schema);
  return *(python_ops[&op] = made);
}

void set_own_kernel(Op& op, Key key, Kernel kernel) {
  if (PythonOp* extended = find_python_op(op)) {
    extended->original.kernels[int(key)] = kernel;
    extended->original.keys |= bit(key);
    if (extended->replaced & bit(key)) return;
  }
  set_kernel(op, key, kernel);
}

WrittenArguments::WrittenArguments(const Op& op, const Value* args) {
  for_each_tensor(op, args, [&](Tensor& t, int i) {
    if (op.args[i].is_mutated) written_.push_back({&t, *t.version_});
  });
}

void WrittenArguments::bump_versions() const {
  for (const auto& [t, version] : written_)
    if (*t->version_ == version) bump_version(*t);
}

std::pair<Ref<Object>, Ref<Object>> python_arguments(const Op& op, const Value* args) {
  const PythonOp& extended = python_op(const_cast<Op&>(op));
  const int positional = count_positional(op), given = without_defaults(op, args, positional);
  auto tuple = Ref<Object>::steal(checked(PyTuple_New(given)));
  for (int i = 0; i < given; ++i) PyTuple_SET_ITEM(tuple.object(), i, wrap_value(args[i]));
  auto dict = Ref<Object>::steal(checked(PyDict_New()));
  for (int i = positional; i < op.nargs; ++i) {
    if (is_default(op.args[i], args[i])) continue;
    const auto value = Ref<Object>::steal(wrap_value(args[i]));
    checked(PyDict_SetItem(dict.object(), extended.names[size_t(i)], value.object()));
  }
  return {std::move(tuple), std::move(dict)};
}

Ref<Object> check_python_result(const Op& op, const Value* args, Ref<Object> result) {
  if (op.op_class == OpClass::InPlace) return Ref<Object>::share(args[0].tensor);
  return check_result(python_op(const_cast<Op&>(op)), std::move(result));
}

Object* python_kernel(const Op& op, KeySet keys, Value* args) {
  const PythonOp& extended = *find_python_op(op);
  const int key = highest(op, keys);
  if (!(bit(Key(key)) & kBackendKeys))
    return check_result(extended, Ref<Object>::steal(call_kernel(extended, key, keys, args))).release();
  const WrittenArguments written(op, args);
  Ref<Object> result;
  if (extended.below >> key & 1) {
    if (!extended.defined && !crosses_devices(op)) check_same_device(op, args);
    const ExcludeGuard below(kAboveDevices);
    result = check_python_result(op, args, Ref<Object>::steal(call_kernel(extended, key, keys, args)));
    if (op.op_class == OpClass::View) result = Ref<Object>::steal(as_view_of(*args[0].tensor, result.release()));
  } else {
    result = check_result(extended, Ref<Object>::steal(call_kernel(extended, key, keys, args)));
  }
  written.bump_versions();
  if (extended.fresh_results) check_fresh(op, args, result.object());
  return result.release();
}

Object* python_autograd(const Op& op, KeySet keys, Value* args) {
  if (!tls.grad_mode) return redispatch(op, keys & below(Key::Autograd), args);
  const PythonOp& extended = *find_python_op(op);
  const auto function = Ref<Object>::share(extended.kernels[int(Key::Autograd)]);
  Arguments arguments;
  for (int i = 0; i < op.nargs; ++i) arguments.add(wrap_value(args[i]));
  return check_result(extended, Ref<Object>::steal(arguments.call(function.object(), arguments.count(), nullptr)))
      .release();
}

}  // namespace vivace
