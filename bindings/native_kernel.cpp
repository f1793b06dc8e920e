// _NativeKernel, and signatures in the letters of the table for extensions.
#include "bindings/native_kernel.h"

#include <algorithm>
#include <vector>

#include "bindings/guard.h"
#include "bindings/parse.h"
#include "bindings/python_op.h"

namespace vivace {
namespace {

struct NativeKernel : Object {
  abi::KernelFunction function;
  void* context;
  std::string* signature;
  const Op* op;  // the last that it was registered for
};

PyTypeObject* kernel_type = nullptr;

NativeKernel& kernel_of(Object* object) { return *static_cast<NativeKernel*>(object); }

struct Letter {
  ArgKind kind;
  char letter;
  const char* type;
};
constexpr Letter kLetters[] = {
    {ArgKind::Tensor, 'T', "Tensor"},
    {ArgKind::Scalar, 's', "Scalar"},
    {ArgKind::Int, 'i', "int"},
    {ArgKind::Float, 'f', "float"},
    {ArgKind::Bool, 'b', "bool"},
    {ArgKind::String, 't', "str"},
    {ArgKind::IntList, 'I', "int[]"},
    {ArgKind::FloatList, 'F', "float[]"},
    {ArgKind::ScalarList, 'S', "Scalar[]"},
    {ArgKind::TensorList, 'L', "Tensor[]"},
    {ArgKind::IndexList, 'X', "Tensor?[]"},
    {ArgKind::DType, 'd', "ScalarType"},
    {ArgKind::Layout, 'l', "Layout"},
    {ArgKind::Device, 'D', "Device"},
    {ArgKind::MemoryFormat, 'm', "MemoryFormat"},
    {ArgKind::Generator, 'g', "Generator"},
    {ArgKind::Object, 'o', "object"},
};

struct Parameter {
  char letter;
  bool optional;
};
struct Letters {
  std::vector<Parameter> parameters;
  std::string results;
};

Letters read(std::string_view signature) {
  Letters read;
  const size_t arrow = std::min(signature.find('>'), signature.size());
  for (char c : signature.substr(0, arrow)) {
    if (c == '?' && !read.parameters.empty())
      read.parameters.back().optional = true;
    else
      read.parameters.push_back({c, false});
  }
  if (arrow < signature.size()) read.results = signature.substr(arrow + 1);
  return read;
}

Letters letters_of(const Op& op) {
  Letters letters;
  for (int i = 0; i < op.nargs; ++i)
    for (const Letter& known : kLetters)
      if (known.kind == op.args[i].kind) letters.parameters.push_back({known.letter, op.args[i].optional});
  letters.results = result_letters(op.schema);
  return letters;
}

std::string type_name(char letter) {
  for (const Letter& known : kLetters)
    if (known.letter == letter) return known.type;
  return "?";
}

/// `(Tensor, float) -> Tensor`
std::string describe(const Letters& letters) {
  std::string text = "(";
  for (const Parameter& p : letters.parameters)
    text += str(text.size() > 1 ? ", " : "", type_name(p.letter), p.optional ? "?" : "");
  text += ") -> ";
  if (letters.results.size() != 1) text += '(';
  bool first = true;
  for (char c : letters.results) {
    text += str(first ? "" : ", ", type_name(c));
    first = false;
  }
  return letters.results.size() == 1 ? text : text + ")";
}

bool passes(const Parameter& given, const Parameter& taken) {
  return given.letter == taken.letter && (taken.optional || !given.optional);
}

Object* call(Object* self, Object* args, Object* kwargs) {
  return guarded([&]() -> Object* {
    const NativeKernel& kernel = kernel_of(self);
    if (!kernel.op) fail_type("a kernel written in C++ is called once it is registered for an operator");
    std::vector<Object*> values;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) values.push_back(PyTuple_GET_ITEM(args, i));
    const Py_ssize_t positional = Py_ssize_t(values.size());
    const auto names = Ref<Object>::steal(checked(PyList_New(0)));
    Object *name, *value;
    for (Py_ssize_t at = 0; kwargs && PyDict_Next(kwargs, &at, &name, &value);) {
      checked(PyList_Append(names.object(), name));
      values.push_back(value);
    }
    const auto kwnames = Ref<Object>::steal(checked(PyList_AsTuple(names.object())));
    BoundCall bound;
    std::string why;
    if (!bind_arguments(*kernel.op, false, nullptr, values.data(), positional, kwnames.object(), bound, &why))
      fail_type(kernel.op->name, "(): ", why, "; the signature is ", kernel.op->schema);
    return call_native_kernel(self, bound.args);
  });
}

void free_kernel(Object* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete kernel_of(self).signature;
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

Object* make_native_kernel(abi::KernelFunction function, void* context, const char* signature) {
  Object* made = checked(kernel_type->tp_alloc(kernel_type, 0));
  NativeKernel& kernel = kernel_of(made);
  kernel.function = function;
  kernel.context = context;
  kernel.signature = new std::string(signature);
  return made;
}

bool is_native_kernel(const Object* object) { return Py_IS_TYPE(object, kernel_type); }

void bind_native_kernel(Object* object, const Op& op) {
  NativeKernel& kernel = kernel_of(object);
  const Letters wanted = letters_of(op), has = read(*kernel.signature);
  bool fits = wanted.parameters.size() == has.parameters.size() && wanted.results == has.results;
  for (size_t i = 0; fits && i < has.parameters.size(); ++i) fits = passes(wanted.parameters[i], has.parameters[i]);
  if (!fits)
    fail(op.name, "(): the kernel written in C++ is ", describe(has), ", but the schema says ", describe(wanted), ": ",
         op.schema);
  kernel.op = &op;
}

Object* call_native_kernel(Object* object, const Value* args) {
  const NativeKernel& kernel = kernel_of(object);
  return checked(kernel.function(kernel.context, reinterpret_cast<const abi::Value*>(args)));
}

void check_callers_signature(const Op& op, std::string_view signature) {
  const Letters has = letters_of(op), given = read(signature);
  bool fits = given.parameters.size() <= has.parameters.size() && given.results == has.results;
  for (size_t i = 0; fits && i < has.parameters.size(); ++i)
    fits = i < given.parameters.size() ? passes(given.parameters[i], has.parameters[i]) : op.args[i].has_default;
  if (!fits)
    fail(op.name, "(): this extension calls it as ", describe(given), ", but it is ", describe(has),
         " here; build the extension again, with the vivace that runs it");
}

void init_native_kernel(Object* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(free_kernel)}, {Py_tp_call, reinterpret_cast<void*>(call)}, {0, nullptr}};
  PyType_Spec spec = {"vivace._C._NativeKernel", sizeof(NativeKernel), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  kernel_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromModuleAndSpec(module, &spec, nullptr)));
  checked(PyModule_AddObjectRef(module, "_NativeKernel", reinterpret_cast<Object*>(kernel_type)));
}

}  // namespace vivace
