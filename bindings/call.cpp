// Calls from Python to operators: overload resolution in the catalogue's order, direct paths for operators on exact
// tensors.
#include "bindings/convert.h"
#include "bindings/guard.h"
#include "bindings/old_order.h"
#include "bindings/override.h"
#include "bindings/parse.h"

namespace vivace {
namespace {

/// The position of keyword out= with a value other than None; -1 if there is none. `none` is set if out=None was
/// passed.
Py_ssize_t find_out(Object* const* keyword_values, Object* kwnames, bool& none) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); ++k) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "out") != 0) continue;
    none = keyword_values[k] == Py_None;
    return k;
  }
  return -1;
}

/// The result as the Python name promises it: a named tuple where the catalogue has names.
Object* named(Object* result, const NamedResult* names) {
  if (!names || !result) return result;
  if (!names->type) make_type(*names);
  Object* tuple = checked(PyStructSequence_New(names->type));
  for (int i = 0; i < names->count; ++i) PyStructSequence_SetItem(tuple, i, Py_NewRef(PyTuple_GET_ITEM(result, i)));
  Py_DECREF(result);
  return tuple;
}

Object* call_any(const Packet& packet, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames);

/// For a call that no overload takes: an old order of arguments is called in today's, the rest refused.
[[gnu::cold, gnu::noinline]] Object* refuse_all(const Packet& packet, bool with_out, Object* self, Object* const* args,
                                                Py_ssize_t nargs, Object* kwnames) {
  OldOrder old;
  if (old.rewrite(packet, self != nullptr, args, nargs, kwnames))
    return call_any(packet, self, old.args.data(), old.nargs, old.kwnames.object());
  std::string given;
  auto add = [&](const char* key, Object* value) {
    if (!given.empty()) given += ", ";
    if (key) given += str(key, "=");
    given += Py_TYPE(value)->tp_name;
  };
  for (Py_ssize_t i = 0; i < nargs; ++i) add(nullptr, args[i]);
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
    add(PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, k)), args[nargs + k]);
  BoundCall call;
  std::string why;
  if (packet.count == 1) {
    const Overload& overload = packet.overloads[0];
    const Op* op = with_out ? overload.out : overload.op;
    if (!op) fail_type(packet.qualname, "() got an unexpected keyword argument 'out'");
    bind_arguments(*op, overload.varargs, self, args, nargs, kwnames, call, &why);
    fail_type(packet.name, "(): ", why, "; got (", given, "), the signature is ", overload.op->schema);
  }
  std::string text =
      str(packet.name, "() received an invalid combination of arguments - got (", given, "), but expected one of:");
  for (int i = 0; i < packet.count; ++i) {
    const Overload& overload = packet.overloads[i];
    const Op* op = with_out ? overload.out : overload.op;
    if (!op) continue;
    bind_arguments(*op, overload.varargs, self, args, nargs, kwnames, call, &why);
    text += str("\n * ", op->schema, "\n      ", why);
  }
  fail_type(text);
}

[[gnu::cold]] Object* call_override(const Packet& packet, Object* self, Object* const* args, Py_ssize_t nargs,
                                    Object* kwnames) {
  return self ? override_method(packet.name, self, args, nargs, kwnames)
              : override_function(packet.qualname, args, nargs, kwnames);
}

/// The same call less out=None.
Object* call_without_out(const Packet& packet, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames,
                         Py_ssize_t out) {
  const Py_ssize_t n = PyTuple_GET_SIZE(kwnames);
  auto names = Ref<Object>::steal(checked(PyTuple_New(n - 1)));
  std::vector<Object*> values(args, args + nargs);
  for (Py_ssize_t k = 0, to = 0; k < n; ++k) {
    if (k == out) continue;
    PyTuple_SET_ITEM(names.object(), to++, Py_NewRef(PyTuple_GET_ITEM(kwnames, k)));
    values.push_back(args[nargs + k]);
  }
  return call_any(packet, self, values.data(), nargs, names.object());
}

/// Binds what most calls are: exact tensors in the first places, defaults in the rest. False if the call is another.
inline bool bind_tensors(const Op& op, Object* self, Object* const* args, Py_ssize_t nargs, BoundCall& call) {
  const int given = int(nargs) + (self != nullptr);
  if (given > op.nargs) return false;
  call.reset();
  for (int i = 0; i < given; ++i) {
    Object* o = self ? i == 0 ? self : args[i - 1] : args[i];
    const ArgSpec& spec = op.args[i];
    if (!is_tensor_exact(o) || spec.kind != ArgKind::Tensor || spec.keyword_only) return false;
    call.args[i] = Value::of(&tensor_of(o));
    call.keys |= tensor_of(o).keys;
  }
  for (int i = given; i < op.nargs; ++i) {
    if (!op.args[i].has_default) return false;
    call.args[i] = op.args[i].fallback;
  }
  return given > 0;
}

Object* call_any(const Packet& packet, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  bool with_out = false;
  BoundCall call;
  if (!kwnames) {
    const Overload& first = packet.overloads[0];
    if (bind_tensors(*first.op, self, args, nargs, call) && !modes_exist()) [[likely]]
      return named(dispatch(*first.op, call.keys, call.args), first.named);
  } else {
    bool none = false;
    const Py_ssize_t out = find_out(args + nargs, kwnames, none);
    if (out >= 0 && none) return call_without_out(packet, self, args, nargs, kwnames, out);
    with_out = out >= 0;
  }
  for (int i = 0; i < packet.count; ++i) {
    const Overload& overload = packet.overloads[i];
    const Op* op = with_out ? overload.out : overload.op;
    if (!op || !bind_arguments(*op, overload.varargs, self, args, nargs, kwnames, call, nullptr)) continue;
    if (call.overridden || modes_exist()) [[unlikely]]
      if (call.overridden || any_overrides(self, args, 0)) return call_override(packet, self, args, nargs, kwnames);
    return named(dispatch(*op, call.keys, call.args), overload.named);
  }
  const size_t given = size_t(nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
  if (any_overrides(self, args, given)) return call_override(packet, self, args, nargs, kwnames);
  return refuse_all(packet, with_out, self, args, nargs, kwnames);
}

/// Arguments from position `from` on take their defaults.
inline void fill_defaults(const Op& op, int from, Value* args) {
  if (from < op.nargs) args[from] = op.args[from].fallback;  // an operator has one at most, nearly always
  for (int i = from + 1; i < op.nargs; ++i) args[i] = op.args[i].fallback;
}

/// The method that stands for `a OP b` with a's type on the right: "__rsub__".
const char* reflected_method(std::string_view symbol) {
  static constexpr std::pair<std::string_view, const char*> names[] = {
      {"-", "__rsub__"},  {"/", "__rtruediv__"}, {"//", "__rfloordiv__"}, {"%", "__rmod__"},
      {"**", "__rpow__"}, {"@", "__rmatmul__"},  {"<<", "__rlshift__"},   {">>", "__rrshift__"},
  };
  for (const auto& [known, name] : names)
    if (known == symbol) return name;
  return nullptr;
}

Object* override_operator(const Operator& op, Object* a, Object* b) {
  const std::string_view symbol = op.symbol;
  const char* name = symbol == "==" ? "__eq__" : symbol == "!=" ? "__ne__" : op.packet->name;
  if (is_tensor(a)) return override_method(name, a, &b, 1, nullptr);
  const char* reflected = reflected_method(op.symbol);
  return override_method(reflected ? reflected : name, b, &a, 1, nullptr);
}

Object* call_operator_slow(const Operator& op, Object* a, Object* b) {
  if ((!is_plain(a) || !is_plain(b)) && (overrides(a) || overrides(b))) return override_operator(op, a, b);
  BoundCall call;
  Object* both[] = {a, b};
  Scalar s;
  if (is_tensor(a)) {
    TensorRef array;
    if ((op.packet->name == std::string_view("eq") || op.packet->name == std::string_view("ne")) && is_numpy_array(b))
      array = tensor_from_numpy(b, false), both[1] = array.object();
    for (const Op* candidate : {op.tensor_tensor, op.tensor_scalar})
      if (candidate && bind_arguments(*candidate, false, a, both + 1, 1, nullptr, call, nullptr))
        return dispatch(*candidate, call.keys, call.args);
  } else if (op.scalar_tensor && bind_arguments(*op.scalar_tensor, false, nullptr, both, 2, nullptr, call, nullptr)) {
    return dispatch(*op.scalar_tensor, call.keys, call.args);
  } else if (op.swap && op.tensor_scalar &&
             bind_arguments(*op.tensor_scalar, false, b, both, 1, nullptr, call, nullptr)) {
    return dispatch(*op.tensor_scalar, call.keys, call.args);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

}  // namespace

Object* call_method(const Packet& packet, Object* self, Object* const* args, Py_ssize_t nargs,
                    Object* kwnames) noexcept {
  return guarded([&] {
    const Overload& first = packet.overloads[0];
    if (nargs == 0 && !kwnames && first.op->nargs == 1 && !first.named && is_plain(self)) [[likely]] {
      Value value = Value::of(&tensor_of(self));
      return dispatch(*first.op, value.tensor->keys, &value);
    }
    return call_any(packet, self, args, nargs, kwnames);
  });
}

Object* call_function(const Packet& packet, Object* const* args, Py_ssize_t nargs, Object* kwnames) noexcept {
  return guarded([&] { return call_any(packet, nullptr, args, nargs, kwnames); });
}

Object* call_property(const Packet& packet, Object* self) noexcept {
  if (is_overridden(self)) [[unlikely]]
    return override_getter(packet.name, self);
  return call_method(packet, self, nullptr, 0, nullptr);
}

int assign_property(const Packet& packet, Object* self, Object* value) noexcept {
  if (!value) {
    PyErr_Format(PyExc_AttributeError, "attribute '%s' can't be deleted", packet.name);
    return -1;
  }
  const auto view = Ref<Object>::steal(call_property(packet, self));
  return view ? PyObject_SetItem(view.object(), Py_Ellipsis, value) : -1;
}

Object* call_unary_operator(const Packet& packet, Object* a) noexcept {
  return call_method(packet, a, nullptr, 0, nullptr);
}

Object* call_invert(const Packet& packet, Object* a) noexcept {
  const DType dtype = tensor_of(a).dtype();
  if (is_differentiable(dtype) && !is_overridden(a)) {
    PyErr_SetString(PyExc_TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return nullptr;
  }
  return call_unary_operator(packet, a);
}

Object* call_operator(const Operator& op, Object* a, Object* b) noexcept {
  return guarded([&]() -> Object* {
    Value args[8];
    if (is_plain_tensor(a)) [[likely]] {
      if (is_plain_tensor(b)) {
        if (op.tensor_tensor) [[likely]] {
          args[0] = Value::of(&tensor_of(a));
          args[1] = Value::of(&tensor_of(b));
          fill_defaults(*op.tensor_tensor, 2, args);
          return dispatch(*op.tensor_tensor, tensor_of(a).keys | tensor_of(b).keys, args);
        }
      } else if (op.tensor_scalar) {
        if (PyFloat_CheckExact(b)) {
          args[1] = Value::of(PyFloat_AS_DOUBLE(b));
        } else if (PyLong_CheckExact(b)) {
          int overflow;
          args[1] = Value::of(int64_t(PyLong_AsLongLongAndOverflow(b, &overflow)));
          if (overflow) return call_operator_slow(op, a, b);
        } else {
          return call_operator_slow(op, a, b);
        }
        args[0] = Value::of(&tensor_of(a));
        fill_defaults(*op.tensor_scalar, 2, args);
        return dispatch(*op.tensor_scalar, tensor_of(a).keys, args);
      }
    }
    return call_operator_slow(op, a, b);
  });
}

}  // namespace vivace
