// torch.return_types: the types of results that are tuples with names.
#include <cstring>
#include <vector>

#include "bindings/exports.h"
#include "bindings/guard.h"
#include "bindings/init.h"
#include "bindings/packet.h"

namespace vivace {
namespace {

/// A line for each field, as PyTorch prints them.
Object* named_repr(Object* self) {
  const auto type = reinterpret_cast<Object*>(Py_TYPE(self));
  const auto fields = Ref<Object>::steal(PyObject_GetAttrString(type, "__match_args__"));
  if (!fields) return nullptr;
  auto text = Ref<Object>::steal(PyUnicode_FromFormat("%s(", Py_TYPE(self)->tp_name));
  for (Py_ssize_t i = 0; text && i < PyTuple_GET_SIZE(fields.object()); ++i)
    text = Ref<Object>::steal(PyUnicode_FromFormat("%U%s\n%U=%R", text.object(), i ? "," : "",
                                                   PyTuple_GET_ITEM(fields.object(), i), PyTuple_GET_ITEM(self, i)));
  return text ? PyUnicode_FromFormat("%U)", text.object()) : nullptr;
}

/// {"max": the class torch.return_types.max, ...}
Object* return_types(Object*, Object*) {
  return guarded([] {
    auto types = Ref<Object>::steal(checked(PyDict_New()));
    for (int i = 0; i < kNumNamedResults; ++i) {
      const NamedResult& names = *kNamedResults[i];
      if (!names.type) make_type(names);
      checked(
          PyDict_SetItemString(types.get(), std::strrchr(names.name, '.') + 1, reinterpret_cast<Object*>(names.type)));
    }
    return types.release();
  });
}

PyMethodDef kFunctions[] = {
    {"_return_types", return_types, METH_NOARGS, "The types of named results, by name."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void make_type(const NamedResult& names) {
  for (int i = 0; i < kNumNamedResults; ++i) {
    const NamedResult& other = *kNamedResults[i];
    if (!other.type || std::strcmp(other.name, names.name) != 0) continue;
    names.type = other.type;
    return;
  }
  std::vector<PyStructSequence_Field> fields;
  for (int i = 0; i < names.count; ++i) fields.push_back({names.fields[i], nullptr});
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc desc = {names.name, nullptr, fields.data(), names.count};
  names.type = PyStructSequence_NewType(&desc);
  if (!names.type) throw PythonError{};
  names.type->tp_repr = named_repr;
}

void init_return_types(Object* module) { checked(PyModule_AddFunctions(module, kFunctions)); }

}  // namespace vivace
