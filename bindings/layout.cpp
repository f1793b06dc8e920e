// torch.layout and torch.memory_format: names without behaviour. Static objects, pickled by name.
#include "bindings/convert.h"
#include "bindings/init.h"
#include "bindings/tables.h"

namespace vivace {

namespace {

struct NameObject : Object {
  uint8_t value;
};

constexpr const char* kLayoutNames[kNumLayouts] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                                   "sparse_bsr", "sparse_bsc", "_mkldnn",    "jagged"};
constexpr const char* kFormatNames[kNumMemoryFormats] = {"contiguous_format", "preserve_format", "channels_last",
                                                         "channels_last_3d"};
NameObject layouts[kNumLayouts];
NameObject formats[kNumMemoryFormats];

const char* name_of(Object* self) {
  const int value = reinterpret_cast<NameObject*>(self)->value;
  return Py_IS_TYPE(self, &layout_type) ? kLayoutNames[value] : kFormatNames[value];
}

Object* name_repr(Object* self) { return PyUnicode_FromFormat("torch.%s", name_of(self)); }
Object* name_reduce(Object* self, Object*) { return PyUnicode_FromString(name_of(self)); }

PyMethodDef name_methods[] = {{"__reduce__", name_reduce, METH_NOARGS, nullptr}, kNoMethod};
PyGetSetDef name_attributes[] = {
    attribute("__module__", [](Object*, void*) { return PyUnicode_FromString("vivace"); }),
    kNoAttribute,
};

PyTypeObject make_name_type(const char* name, const char* doc) {
  PyTypeObject type = plain_type(name, sizeof(NameObject), Py_TPFLAGS_DISALLOW_INSTANTIATION);
  type.tp_doc = doc;
  type.tp_repr = name_repr;
  type.tp_methods = name_methods;
  type.tp_getset = name_attributes;
  return type;
}

void add_names(Object* module, PyTypeObject* type, NameObject* objects, const char* const* names, int n) {
  checked(PyModule_AddType(module, type));
  for (int i = 0; i < n; ++i) {
    objects[i].value = uint8_t(i);
    checked(PyModule_AddObjectRef(module, names[i], PyObject_Init(&objects[i], type)));
  }
}

}  // namespace

PyTypeObject layout_type = make_name_type("torch.layout", "How a tensor's elements lie in memory.");
PyTypeObject memory_format_type =
    make_name_type("torch.memory_format", "The order of a tensor's dimensions in memory.");

Object* wrap(Layout layout) { return Py_NewRef(&layouts[int(layout)]); }
Object* wrap(MemoryFormat format) { return Py_NewRef(&formats[int(format)]); }

bool unwrap_layout(Object* object, Layout* out) {
  if (!Py_IS_TYPE(object, &layout_type)) return false;
  *out = Layout(reinterpret_cast<NameObject*>(object)->value);
  return true;
}

bool unwrap_memory_format(Object* object, MemoryFormat* out) {
  if (!Py_IS_TYPE(object, &memory_format_type)) return false;
  *out = MemoryFormat(reinterpret_cast<NameObject*>(object)->value);
  return true;
}

void init_layouts(Object* module) {
  add_names(module, &layout_type, layouts, kLayoutNames, kNumLayouts);
  add_names(module, &memory_format_type, formats, kFormatNames, kNumMemoryFormats);
}

}  // namespace vivace
