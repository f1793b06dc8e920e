// The table of the vivace that runs this extension, found at its first use.
#pragma once
#include "vivace/error.h"

namespace vivace {

VIVACE_OWN inline const abi::Table* table = nullptr;

/// What this extension needs of the table: all that its headers know.
inline constexpr uint32_t kNeededSize = sizeof(abi::Table);

/// Finds the table, or throws what ImportError says.
[[gnu::cold, gnu::noinline]] inline const abi::Table& find_table() {
  PyObject* module = checked(PyImport_ImportModule("vivace._C"));
  PyObject* capsule = PyObject_GetAttrString(module, "_extension_api");
  Py_DECREF(module);
  checked(capsule);
  auto* found = static_cast<const abi::Table*>(PyCapsule_GetPointer(capsule, abi::kCapsule));
  Py_DECREF(capsule);  // the module keeps it
  if (!found) throw PythonError();
  if (found->version != abi::kVersion || found->size < kNeededSize) {
    const bool newer = found->version < abi::kVersion || found->version == abi::kVersion;
    PyErr_SetString(PyExc_ImportError,
                    c10::str("this extension was built with ", newer ? "a newer" : "an older",
                             " vivace, whose table for extensions is version ", abi::kVersion, " with ", kNeededSize,
                             " bytes; the vivace that runs has version ", found->version, " with ", found->size,
                             " bytes. Build the extension again, or update vivace.")
                        .c_str());
    throw PythonError();
  }
  return *(table = found);
}

inline const abi::Table& api() { return table ? *table : find_table(); }

/// A counted reference to a Python object.
class Object {
 public:
  Object() = default;
  Object(const Object& other) : object_(other.object_) {
    const Gil gil;
    Py_XINCREF(object_);
  }
  Object(Object&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() {
    if (!object_) return;
    const Gil gil;
    // Static variables end after the interpreter, whose objects are gone then.
    if (Py_REFCNT(object_) > 1 || Py_IsInitialized()) Py_DECREF(object_);
  }
  /// Takes over a reference; throws if it is null.
  static Object steal(PyObject* object) { return Object(checked(object)); }
  /// The same, for an object that may be missing.
  static Object maybe(PyObject* object) { return Object(object); }
  static Object share(PyObject* object) {
    Py_XINCREF(object);
    return Object(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }
  explicit operator bool() const { return object_ != nullptr; }
  Object attribute(const char* name) const {
    const Gil gil;
    return steal(PyObject_GetAttrString(object_, name));
  }
  /// Calls a method or function with these arguments, whose references it takes over.
  template <class... Args>
  Object operator()(Args... args) const {
    const Gil gil;
    const Object packed = pack(args...);
    return steal(PyObject_CallObject(object_, packed.get()));
  }
  /// A tuple; takes over the references.
  template <class... Args>
  static Object pack(Args... args) {
    Object tuple = steal(PyTuple_New(sizeof...(args)));
    Py_ssize_t i = 0;
    (checked(PyTuple_SetItem(tuple.get(), i++, checked(args))), ...);
    return tuple;
  }

 private:
  explicit Object(PyObject* owned) : object_(owned) {}

  PyObject* object_ = nullptr;
};

inline Object import(const char* module) { return Object::steal(PyImport_ImportModule(module)); }
inline PyObject* new_reference(PyObject* object) {
  Py_XINCREF(object);
  return object;
}
inline PyObject* none() { return new_reference(Py_None); }
inline std::string text_of(PyObject* unicode) {
  const Object bytes = Object::steal(PyUnicode_AsUTF8String(unicode));
  return PyBytes_AsString(bytes.get());
}

}  // namespace vivace
