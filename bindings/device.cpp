// torch.device. Every name that PyTorch knows makes an object, so that scripts may mention devices; only cpu and meta
// can be used, and `unwrap_device`, which every argument goes through, says so.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bindings/backend.h"
#include "bindings/convert.h"
#include "bindings/init.h"
#include "bindings/tables.h"

namespace vivace {

namespace {

/// Those of DeviceType first.
constexpr const char* kDeviceTypes[] = {"cpu",    "meta",   "cuda",   "privateuseone", "ipu", "xpu",  "mkldnn",
                                        "opengl", "opencl", "ideep",  "hip",           "ve",  "fpga", "maia",
                                        "xla",    "lazy",   "vulkan", "mps",           "hpu", "mtia"};
constexpr uint8_t kPrivateUse = uint8_t(DeviceType::PrivateUse);

const char* type_name(uint8_t kind) { return kind == kPrivateUse ? backend_name() : kDeviceTypes[kind]; }

thread_local Device default_of_thread;
thread_local std::vector<Device> entered;  // what the with blocks of this thread found
constexpr uint8_t kCpu = uint8_t(DeviceType::CPU), kMeta = uint8_t(DeviceType::Meta);

DeviceObject& device_of(Object* self) { return *reinterpret_cast<DeviceObject*>(self); }

Object* make_device(uint8_t kind, int8_t index) {
  auto* self = PyObject_New(DeviceObject, &device_type);
  if (!self) throw PythonError{};
  self->kind = kind;
  self->index = index;
  return self;
}

struct ParsedDevice {
  uint8_t kind;
  int8_t index;
};

uint8_t parse_kind(std::string_view type, std::string_view whole) {
  for (size_t i = 0; i < std::size(kDeviceTypes); ++i)
    if (type == kDeviceTypes[i]) return uint8_t(i);
  if (type == backend_name()) return kPrivateUse;
  std::string names;
  for (const char* name : kDeviceTypes) names += names.empty() ? name : str(", ", name);
  fail("Expected one of ", names, " device type at start of device string: ", whole);
}

/// "cpu", "cuda:1".
ParsedDevice parse_string(std::string_view text) {
  if (text.empty()) fail("Device string must not be empty");
  const size_t colon = text.find(':');
  const uint8_t kind = parse_kind(text.substr(0, colon), text.substr(0, colon));
  if (colon == text.npos) return {kind, -1};
  const std::string_view digits = text.substr(colon + 1);
  int index = 0;
  bool good = !digits.empty() && digits.size() <= 3 && (digits.size() == 1 || digits[0] != '0');
  for (const char c : digits) {
    good = good && c >= '0' && c <= '9';
    index = 10 * index + (c - '0');
  }
  if (!good || index > 127) fail("Invalid device string: '", text, "'");
  return {kind, int8_t(index)};
}

std::string_view text_of(Object* string) {
  Py_ssize_t n;
  const char* chars = PyUnicode_AsUTF8AndSize(string, &n);
  if (!chars) throw PythonError{};
  return {chars, size_t(n)};
}

[[noreturn]] void refuse(std::string_view device) {
  const std::string text = str("vivace runs on the CPU: device '", device, "' can't be used");
  if (device != "cuda" && device != "xpu") fail(text);
  // PyTorch without them asserts that it has them, and programs look for its words.
  PyErr_Format(PyExc_AssertionError, "Torch not compiled with %s enabled: %s", device == "cuda" ? "CUDA" : "XPU",
               text.c_str());
  throw PythonError{};
}

std::string text_of(const DeviceObject& d) {
  return d.index < 0 ? std::string(type_name(d.kind)) : str(type_name(d.kind), ":", int(d.index));
}

Object* device_new(PyTypeObject*, Object* args, Object* kwargs) {
  return guarded([&] {
    static const char* keywords[] = {"type", "index", nullptr};
    Object *type = nullptr, *index = nullptr;
    if (kwargs && PyDict_GET_SIZE(kwargs) == 1 && PyTuple_GET_SIZE(args) == 0)
      type = PyDict_GetItemString(kwargs, "device");
    if (!type && !PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:device", const_cast<char**>(keywords), &type, &index))
      throw PythonError{};
    if (type && is_device(type) && !index) return Py_NewRef(type);
    if (type && PyLong_Check(type) && !PyBool_Check(type) && !index) {
      const long number = PyLong_AsLong(type);
      if (number < 0) fail("Device index must not be negative");
      if (backend_is_claimed() && number < 128) return make_device(kPrivateUse, int8_t(number));
      fail("Cannot access accelerator device when none is available.");
    }
    if (!type || !PyUnicode_Check(type))
      fail_type("device() received an invalid combination of arguments - got (", type ? Py_TYPE(type)->tp_name : "",
                "), but expected one of:\n * (torch.device device)\n * (str type, int index = -1)\n");
    const std::string_view text = text_of(type);
    const ParsedDevice parsed = parse_string(text);
    if (!index || index == Py_None) return make_device(parsed.kind, parsed.index);
    int64_t number;
    if (!unwrap_int(index, &number))
      fail_type("device(): argument 'index' (position 2) must be int, not ", Py_TYPE(index)->tp_name);
    if (parsed.index >= 0) fail("type (string) must not include an index because index was passed explicitly: ", text);
    if (number < 0) fail("Device index must not be negative");
    if (number > 127) fail("Device index ", number, " is too large");
    return make_device(parsed.kind, int8_t(number));
  });
}

Object* device_repr(Object* self) {
  const DeviceObject& d = device_of(self);
  if (d.index < 0) return PyUnicode_FromFormat("device(type='%s')", type_name(d.kind));
  return PyUnicode_FromFormat("device(type='%s', index=%d)", type_name(d.kind), int(d.index));
}

Object* device_str(Object* self) {
  return guarded([&] { return PyUnicode_FromString(text_of(device_of(self)).c_str()); });
}

Object* device_compare(Object* a, Object* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !is_device(b)) Py_RETURN_NOTIMPLEMENTED;
  const bool same = device_of(a).kind == device_of(b).kind && device_of(a).index == device_of(b).index;
  return PyBool_FromLong(same == (op == Py_EQ));
}

Py_hash_t device_hash(Object* self) { return Py_hash_t(device_of(self).kind) << 8 | uint8_t(device_of(self).index); }

/// Goes by way of a function of the module, since the class calls itself torch.device.
Object* device_reduce(Object* self, Object*) {
  return guarded([&] {
    auto restore = Ref<Object>::steal(module_attribute("_restore_device"));
    return Py_BuildValue("O(s)", restore.get(), text_of(device_of(self)).c_str());
  });
}

Object* get_index(Object* self, void*) {
  if (device_of(self).index < 0) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index);
}

/// `with device:` makes it the default.
Object* device_enter(Object* self, Object*) {
  return guarded([&] {
    Device device;
    unwrap_device(self, &device);
    entered.push_back(std::exchange(default_of_thread, device));
    return Py_NewRef(self);
  });
}
Object* device_exit(Object*, Object* const*, Py_ssize_t) {
  return guarded([&]() -> Object* {
    if (entered.empty()) fail("this device's with block was not entered");
    default_of_thread = entered.back();
    entered.pop_back();
    Py_RETURN_NONE;
  });
}

Object* get_default(Object*, Object*) {
  return guarded([&] { return wrap(default_of_thread); });
}
Object* set_default(Object*, Object* device) {
  return guarded([&]() -> Object* {
    Device wanted;
    if (device != Py_None && !unwrap_device(device, &wanted))
      fail_type("set_default_device(): argument 'device' must be torch.device, not ", Py_TYPE(device)->tp_name);
    default_of_thread = wanted;
    Py_RETURN_NONE;
  });
}
PyMethodDef functions[] = {
    {"get_default_device", get_default, METH_NOARGS, "The device that tensors are made on if none is named."},
    {"set_default_device", set_default, METH_O,
     "set_default_device(device): sets where tensors are made, in this thread; None: on the CPU."},
    kNoMethod,
};

PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {"__enter__", device_enter, METH_NOARGS, nullptr},
    fast_function("__exit__", device_exit, nullptr),
    kNoMethod,
};
PyGetSetDef device_attributes[] = {
    attribute("type", [](Object* self, void*) { return PyUnicode_FromString(type_name(device_of(self).kind)); }),
    attribute("index", get_index),
    kNoAttribute,
};

PyTypeObject make_device_type() {
  PyTypeObject type = plain_type("torch.device", sizeof(DeviceObject));
  type.tp_doc = "device(type, index=None): where a tensor's elements lie.";
  type.tp_new = device_new;
  type.tp_repr = device_repr;
  type.tp_str = device_str;
  type.tp_richcompare = device_compare;
  type.tp_hash = device_hash;
  type.tp_methods = device_methods;
  type.tp_getset = device_attributes;
  return type;
}

}  // namespace

PyTypeObject device_type = make_device_type();

Object* wrap(Device device) {
  static Object* const plain[] = {make_device(kCpu, -1), make_device(kMeta, -1)};
  if (int(device.type) < 2 && device.index < 0) [[likely]]
    return Py_NewRef(plain[int(device.type)]);
  return make_device(uint8_t(device.type), device.index);
}

bool unwrap_device(Object* object, Device* out) {
  ParsedDevice parsed;
  if (is_device(object)) {
    parsed = {device_of(object).kind, device_of(object).index};
  } else if (PyUnicode_Check(object)) {
    parsed = parse_string(text_of(object));
  } else if (PyLong_Check(object) && !PyBool_Check(object)) {
    const long number = PyLong_AsLong(object);
    if (backend_is_claimed() && number >= 0 && number < 128) return *out = backend_device(int8_t(number)), true;
    fail("Cannot access accelerator device when none is available.");
  } else {
    return false;
  }
  if (parsed.kind == kPrivateUse && backend_is_claimed()) return *out = backend_device(parsed.index), true;
  if (parsed.kind > kMeta) refuse(type_name(parsed.kind));
  // There is one CPU; PyTorch drops its index, and that of meta, from tensors.
  *out = {DeviceType(parsed.kind), -1};
  return true;
}

Device default_device() { return default_of_thread; }

void init_device(Object* module) {
  checked(PyModule_AddType(module, &device_type));
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace vivace
