// torch.Size: a tuple of ints that prints and slices as itself. `wrap_size` stands behind every `a.shape`, so objects
// come from free lists by length; holding only ints, they are never tracked by the collector.
#include <string>

#include "bindings/convert.h"
#include "bindings/init.h"
#include "bindings/tables.h"

namespace vivace {

namespace {

constexpr int kPooledLength = 8, kPoolDepth = 64;
Object* pool[kPooledLength + 1][kPoolDepth];
int pool_count[kPooledLength + 1];

/// An untracked Size of n empty places.
Object* new_size(Py_ssize_t n) {
  if (n <= kPooledLength && pool_count[n] > 0) [[likely]] {
    Object* self = pool[n][--pool_count[n]];
    _Py_NewReference(self);
    return self;
  }
  Object* self = checked(PyType_GenericAlloc(&size_type, n));
  PyObject_GC_UnTrack(self);
#if PY_VERSION_HEX >= 0x030E0000
  reinterpret_cast<PyTupleObject*>(self)->ob_hash = -1;
#endif
  return self;
}

void size_dealloc(Object* self) {
  const Py_ssize_t n = Py_SIZE(self);
  for (Py_ssize_t i = 0; i < n; ++i) Py_CLEAR(reinterpret_cast<PyTupleObject*>(self)->ob_item[i]);
#if PY_VERSION_HEX >= 0x030E0000
  reinterpret_cast<PyTupleObject*>(self)->ob_hash = -1;
#endif
  if (n <= kPooledLength && pool_count[n] < kPoolDepth) {
    pool[n][pool_count[n]++] = self;
  } else {
    PyObject_GC_Del(self);
  }
}

Object* size_from_tuple(Object* tuple) {
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  auto self = Ref<Object>::steal(new_size(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    Object* item = PyTuple_GET_ITEM(tuple, i);
    if (PyLong_Check(item)) {
      PyTuple_SET_ITEM(self.get(), i, PyBool_Check(item) ? PyLong_FromLong(item == Py_True) : Py_NewRef(item));
      continue;
    }
    int64_t value;
    if (!unwrap_int(item, &value))
      fail_type("torch.Size() takes an iterable of 'int' (item ", i, " is '", Py_TYPE(item)->tp_name, "')");
    PyTuple_SET_ITEM(self.get(), i, checked(PyLong_FromLongLong(value)));
  }
  return self.release();
}

Object* size_new(PyTypeObject*, Object* args, Object* kwargs) {
  return guarded([&] {
    if (kwargs && PyDict_GET_SIZE(kwargs) > 0) fail_type("torch.Size() takes no keyword arguments");
    if (PyTuple_GET_SIZE(args) > 1) fail_type("torch.Size expected at most 1 argument, got ", PyTuple_GET_SIZE(args));
    if (PyTuple_GET_SIZE(args) == 0) return new_size(0);
    auto tuple = Ref<Object>::steal(checked(PySequence_Tuple(PyTuple_GET_ITEM(args, 0))));
    return size_from_tuple(tuple.get());
  });
}

/// What a method of tuple gave, a tuple becoming a Size.
Object* as_size(Object* result) {
  if (!result || !PyTuple_CheckExact(result)) return result;
  Object* size = guarded([&] { return size_from_tuple(result); });
  Py_DECREF(result);
  return size;
}

Object* size_concat(Object* a, Object* b) { return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b)); }
/// Makes `(1,) + size` a Size, which tuple's own concatenation would not.
Object* size_add(Object* a, Object* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  return size_concat(a, b);
}
Object* size_repeat(Object* self, Py_ssize_t n) { return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, n)); }
Object* size_subscript(Object* self, Object* key) {
  return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(self, key));
}

Object* size_repr(Object* self) {
  auto list = Ref<Object>::steal(PySequence_List(self));
  return list ? PyUnicode_FromFormat("torch.Size(%R)", list.get()) : nullptr;
}

Object* size_numel(Object* self, Object*) {
  auto product = Ref<Object>::steal(PyLong_FromLong(1));
  for (Py_ssize_t i = 0; product && i < PyTuple_GET_SIZE(self); ++i)
    product = Ref<Object>::steal(PyNumber_Multiply(product.get(), PyTuple_GET_ITEM(self, i)));
  return product.release();
}

Object* size_reduce(Object* self, Object*) {
  return guarded([&] {
    auto restore = Ref<Object>::steal(module_attribute("_restore_size"));
    auto plain = Ref<Object>::steal(checked(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self))));
    return Py_BuildValue("O(O)", restore.get(), plain.get());
  });
}

PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "How many elements a tensor of this size has."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    kNoMethod,
};

PyTypeObject make_size_type() {
  static PyNumberMethods number = {};
  static PySequenceMethods sequence = {};
  static PyMappingMethods mapping = {};
  number.nb_add = size_add;
  sequence.sq_concat = size_concat;
  sequence.sq_repeat = size_repeat;
  mapping.mp_subscript = size_subscript;
  PyTypeObject type = plain_type("torch.Size", 0);
  type.tp_base = &PyTuple_Type;
  type.tp_doc = "Size(iterable): the sizes of a tensor's dimensions.";
  type.tp_new = size_new;
  type.tp_dealloc = size_dealloc;
  type.tp_repr = size_repr;
  type.tp_as_number = &number;
  type.tp_as_sequence = &sequence;
  type.tp_as_mapping = &mapping;
  type.tp_methods = size_methods;
  return type;
}

}  // namespace

PyTypeObject size_type = make_size_type();

Object* wrap_size(IntList sizes) {
  Object* self = new_size(Py_ssize_t(sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i) PyTuple_SET_ITEM(self, Py_ssize_t(i), PyLong_FromLongLong(sizes[i]));
  return self;
}

Object* wrap_tuple(IntList values) {
  Object* tuple = checked(PyTuple_New(Py_ssize_t(values.size())));
  for (size_t i = 0; i < values.size(); ++i) PyTuple_SET_ITEM(tuple, Py_ssize_t(i), PyLong_FromLongLong(values[i]));
  return tuple;
}

void init_size(Object* module) { checked(PyModule_AddType(module, &size_type)); }

}  // namespace vivace
