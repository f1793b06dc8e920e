// One value of each kind of parameter, and the walk over a schema that binds positional and keyword arguments to it.
#include <cstring>

#include "bindings/convert.h"
#include "bindings/generator.h"
#include "bindings/override.h"
#include "bindings/parse.h"

namespace vivace {
namespace {

const char* describe(const ArgSpec& spec) {
  switch (spec.kind) {
    case ArgKind::Tensor:
      return "Tensor";
    case ArgKind::Scalar:
      return "Number";
    case ArgKind::Int:
      return "int";
    case ArgKind::Float:
      return "float";
    case ArgKind::Bool:
      return "bool";
    case ArgKind::IntList:
      return "tuple of ints";
    case ArgKind::FloatList:
      return "tuple of floats";
    case ArgKind::ScalarList:
      return "tuple of Scalars";
    case ArgKind::TensorList:
      return "tuple of Tensors";
    case ArgKind::IndexList:
      return "tuple of Tensors or None";
    case ArgKind::DType:
      return "torch.dtype";
    case ArgKind::Layout:
      return "torch.layout";
    case ArgKind::Device:
      return "torch.device";
    case ArgKind::MemoryFormat:
      return "torch.memory_format";
    case ArgKind::String:
      return "str";
    case ArgKind::Generator:
      return "torch.Generator";
    case ArgKind::Object:
      break;
  }
  return "object";
}

/// The items of a list or tuple.
std::span<Object*> items(Object* o) { return {PySequence_Fast_ITEMS(o), size_t(PySequence_Fast_GET_SIZE(o))}; }
bool is_sequence(Object* o) { return PyTuple_Check(o) || PyList_Check(o); }

bool bind_tensor_list(Object* o, bool with_none, Value& out, BoundCall& call) {
  if (!is_sequence(o)) return false;
  const std::span<Object*> list = items(o);
  Tensor** tensors = call.room<Tensor*>(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (is_tensor(list[i])) {
      tensors[i] = &tensor_of(list[i]);
      call.keys |= tensors[i]->keys;
      if (!is_plain(list[i])) call.overridden |= overrides(list[i]);
    } else if (with_none && list[i] == Py_None) {
      tensors[i] = nullptr;
    } else {
      return false;
    }
  }
  out = Value::of(TensorList(tensors, list.size()));
  return true;
}

/// unwrap_int of an element of a list; false, too, for one that is too large.
bool unwrap_element(Object* o, int64_t* out) {
  try {
    return unwrap_int(o, out);
  } catch (const Error&) {
    return false;
  }
}

bool bind_ints(Object* const* objects, size_t n, Value& out, BoundCall& call) {
  int64_t* ints = call.room<int64_t>(n);
  for (size_t i = 0; i < n; ++i)
    if (!unwrap_element(objects[i], &ints[i])) return false;
  out = Value::of(IntList(ints, n));
  return true;
}

/// What is wrong with a value that is no list of ints.
std::string describe_no_ints(Object* const* objects, size_t n) {
  int64_t value;
  for (size_t i = 0; i < n; ++i) {
    if (unwrap_element(objects[i], &value)) continue;
    if (PyLong_Check(objects[i]) && !PyBool_Check(objects[i]))
      return str(", but the element at pos ", i + 1, " is too large: Overflow when unpacking long long");
    return str(", but found element of type ", Py_TYPE(objects[i])->tp_name, " at pos ", i + 1);
  }
  return "";
}

bool bind_scalar(Object* o, Value& out) {
  Scalar s;
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    if (t.dim() != 0 || t.is_meta() || t.requires_grad()) return false;
    s = item(t);
  } else if (!unwrap_scalar(o, &s)) {
    return false;
  }
  out = Value::of(s);
  return true;
}

bool bind_one(const ArgSpec& spec, Object* o, Value& out, BoundCall& call) {
  if (spec.kind == ArgKind::Tensor && is_plain_tensor(o)) [[likely]] {
    Tensor* t = &tensor_of(o);
    out = Value::of(t);
    call.keys |= t->keys;
    return true;
  }
  if (o == Py_None && spec.optional) {
    out = Value::none();
    return true;
  }
  switch (spec.kind) {
    case ArgKind::Tensor:
      if (!is_tensor(o)) return false;
      out = Value::of(&tensor_of(o));
      call.keys |= out.tensor->keys;
      if (!is_plain(o)) call.overridden |= overrides(o);
      return true;
    case ArgKind::Scalar:
      return bind_scalar(o, out);
    case ArgKind::Int: {
      int64_t i;
      if (!unwrap_int(o, &i)) return false;
      out = Value::of(i);
      return true;
    }
    case ArgKind::Float: {
      double f;
      if (!unwrap_double(o, &f)) return false;
      out = Value::of(f);
      return true;
    }
    case ArgKind::Bool: {
      bool b;
      if (!unwrap_bool(o, &b)) return false;
      out = Value::of(b);
      return true;
    }
    case ArgKind::IntList: {
      if (is_sequence(o)) {
        const std::span<Object*> list = items(o);
        return bind_ints(list.data(), list.size(), out, call);
      }
      int64_t i;
      if (spec.list_size <= 0 || !unwrap_int(o, &i)) return false;
      int64_t* ints = call.room<int64_t>(size_t(spec.list_size));
      for (int k = 0; k < spec.list_size; ++k) ints[k] = i;
      out = Value::of(IntList(ints, size_t(spec.list_size)));
      return true;
    }
    case ArgKind::FloatList: {
      if (!is_sequence(o)) return false;
      const std::span<Object*> list = items(o);
      double* floats = call.room<double>(list.size());
      for (size_t i = 0; i < list.size(); ++i)
        if (!unwrap_double(list[i], &floats[i])) return false;
      out.floats = floats;
      out.count = int64_t(list.size());
      out.tag = Tag::FloatList;
      return true;
    }
    case ArgKind::ScalarList: {
      if (!is_sequence(o)) return false;
      const std::span<Object*> list = items(o);
      auto* scalars = call.room<Scalar>(list.size());
      for (size_t i = 0; i < list.size(); ++i)
        if (!unwrap_scalar(list[i], &scalars[i])) return false;
      out.scalars = scalars;
      out.count = int64_t(list.size());
      out.tag = Tag::ScalarList;
      return true;
    }
    case ArgKind::TensorList:
      return bind_tensor_list(o, false, out, call);
    case ArgKind::IndexList:
      return bind_tensor_list(o, true, out, call);
    case ArgKind::DType: {
      DType t;
      if (!unwrap_dtype(o, &t)) return false;
      out = Value::of(t);
      return true;
    }
    case ArgKind::Device: {
      Device d;
      if (!unwrap_device(o, &d)) return false;
      out = Value::of(d);
      return true;
    }
    case ArgKind::Layout: {
      Layout layout;
      if (!unwrap_layout(o, &layout)) return false;
      if (int(layout) != 0)  // torch.strided
        fail_not_implemented(
            "vivace has no operator that takes a layout but torch.strided; sparse tensors are made by ",
            "torch.sparse_coo_tensor and Tensor.to_sparse");
      out = Value::of(int64_t(layout));
      out.tag = Tag::Layout;
      return true;
    }
    case ArgKind::MemoryFormat: {
      MemoryFormat format;
      if (!unwrap_memory_format(o, &format)) return false;
      out = Value::of(format);
      return true;
    }
    case ArgKind::String: {
      if (!PyUnicode_Check(o)) return false;
      Py_ssize_t n;
      const char* text = PyUnicode_AsUTF8AndSize(o, &n);
      if (!text) throw PythonError{};
      out = Value::of(std::string_view(text, size_t(n)));
      return true;
    }
    case ArgKind::Generator:
      if (!is_generator(o)) return false;
      [[fallthrough]];
    case ArgKind::Object:
      out = Value::none();
      out.object = o;
      out.tag = Tag::Object;
      return true;
  }
  return false;
}

bool same(Object* keyword, const char* name) {
  Py_ssize_t n;
  const char* text = PyUnicode_AsUTF8AndSize(keyword, &n);
  return text && size_t(n) == std::strlen(name) && std::memcmp(text, name, size_t(n)) == 0;
}

/// Whether a keyword names a parameter: by its own name, or as NumPy calls it.
bool names(Object* keyword, const char* name) {
  if (same(keyword, name)) return true;
  if (std::strcmp(name, "self") == 0) return same(keyword, "input");
  if (std::strcmp(name, "dim") == 0) return same(keyword, "axis");
  if (std::strcmp(name, "keepdim") == 0) return same(keyword, "keepdims");
  if (std::strcmp(name, "input") == 0)
    return same(keyword, "self") || same(keyword, "x") || same(keyword, "a") || same(keyword, "x1");
  if (std::strcmp(name, "other") == 0) return same(keyword, "x2");
  return false;
}

/// The nr-th tensor of out=, which is one tensor or a tuple.
Object* output(Object* const* keyword_values, Object* kwnames, Py_ssize_t nr) {
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k) {
    if (!same(PyTuple_GET_ITEM(kwnames, k), "out")) continue;
    Object* out = keyword_values[k];
    if (!is_sequence(out)) return nr == 0 ? out : nullptr;
    return nr < PySequence_Fast_GET_SIZE(out) ? PySequence_Fast_GET_ITEM(out, nr) : nullptr;
  }
  return nullptr;
}

/// False; the reason is put together only for who asks.
template <class... Parts>
bool refuse(std::string* why, const Parts&... parts) {
  if (why) *why = str(parts...);
  return false;
}

/// Without tensors and without a device named, an operator that takes a device runs on the default one.
void choose_device(const Op& op, BoundCall& call) {
  call.keys = bit(Key::CPU);
  const Device device = default_device();
  if (device.type == DeviceType::CPU) return;
  for (int i = 0; i < op.nargs; ++i) {
    if (op.args[i].kind != ArgKind::Device) continue;
    call.args[i] = Value::of(device);
    call.keys = backend_key(device.type);
  }
}

}  // namespace

bool bind_arguments(const Op& op, bool varargs, Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames,
                    BoundCall& call, std::string* why) {
  call.reset();
  const ArgSpec* specs = op.args;
  const Py_ssize_t nkeywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  Py_ssize_t used = 0, used_keywords = 0, outputs = 0;
  int i = 0;
  if (self) {
    if (!bind_one(specs[0], self, call.args[0], call)) return refuse(why, "self must be a Tensor");
    i = 1;
  }
  for (; i < op.nargs; ++i) {
    const ArgSpec& spec = specs[i];
    Object* given = nullptr;
    if (spec.is_output) {
      given = output(args + nargs, kwnames, outputs++);
      used_keywords += outputs == 1;
    } else if (used < nargs && !spec.keyword_only) {
      given = args[used];
      if (varargs && spec.kind == ArgKind::IntList && !is_sequence(given)) {
        const bool fits = bind_ints(args + used, size_t(nargs - used), call.args[i], call);
        if (!fits)
          return refuse(why, "argument '", spec.name, "' must be tuple of ints",
                        describe_no_ints(args + used, size_t(nargs - used)));
        used = nargs;
        continue;
      }
      ++used;
    } else if (nkeywords > used_keywords) {
      for (Py_ssize_t k = 0; k < nkeywords; ++k)
        if (names(PyTuple_GET_ITEM(kwnames, k), spec.name)) {
          given = args[nargs + k];
          ++used_keywords;
          break;
        }
    }
    if (!given) {
      if (varargs && spec.kind == ArgKind::IntList && !spec.has_default && nargs == 0 && self) {
        call.args[i] = Value::of(IntList());
        continue;
      }
      if (!spec.has_default) return refuse(why, "argument '", spec.name, "' is missing");
      call.args[i] = spec.fallback;
      continue;
    }
    if (!bind_one(spec, given, call.args[i], call)) [[unlikely]] {
      if (given == Py_None && spec.has_default && spec.kind != ArgKind::Bool && spec.keyword_only) {
        call.args[i] = spec.fallback;  // `dtype=None`, `alpha=None` and so on mean the default
        continue;
      }
      const std::string wrong = spec.kind == ArgKind::IntList && is_sequence(given)
                                    ? describe_no_ints(items(given).data(), items(given).size())
                                    : str(", not ", Py_TYPE(given)->tp_name);
      return refuse(why, "argument '", spec.name, "' (position ", self ? i : i + 1, ") must be ", describe(spec),
                    wrong);
    }
    if (spec.kind == ArgKind::Device && call.args[i].tag == Tag::Device &&
        (!call.keys || call.args[i].device().type == DeviceType::PrivateUse))
      call.keys |= backend_key(call.args[i].device().type);
  }
  if (used < nargs) return refuse(why, "takes ", used, " positional arguments, but ", nargs, " were given");
  if (used_keywords < nkeywords) {
    for (Py_ssize_t k = 0; k < nkeywords; ++k) {
      Object* keyword = PyTuple_GET_ITEM(kwnames, k);
      bool known = false;
      for (int j = 0; j < op.nargs; ++j) known |= names(keyword, specs[j].name);
      const char* text = PyUnicode_AsUTF8(keyword);
      if (!known) return refuse(why, "got an unexpected keyword argument '", text ? text : "?", "'");
    }
    return refuse(why, "got multiple values for an argument");
  }
  if (!call.keys) choose_device(op, call);
  return true;
}

}  // namespace vivace
