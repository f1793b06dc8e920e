// torch.Generator: seeds and states of a random stream.
#include "bindings/generator.h"

#include <cstring>
#include <new>
#include <random>

#include "bindings/convert.h"
#include "bindings/exports.h"
#include "runtime/random/generator.h"

namespace vivace {

Generator* default_generator = nullptr;

namespace {

PyTypeObject generator_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

RandomStream& stream(Object* self) { return static_cast<Generator*>(self)->stream; }

Object* new_generator(PyTypeObject* type) {
  Object* self = checked(type->tp_alloc(type, 0));
  new (&stream(self)) RandomStream();
  static_cast<Generator*>(self)->device = Device{};
  return self;
}

Object* generator_new(PyTypeObject* type, Object* args, Object* kwargs) {
  return guarded([&] {
    static const char* keywords[] = {"device", nullptr};
    Object* device_arg = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(keywords), &device_arg))
      throw PythonError{};
    Device device;
    if (device_arg && device_arg != Py_None) {
      if (!unwrap_device(device_arg, &device)) fail_type("Generator(): device must be a torch.device or a string");
      if (device.type == DeviceType::Meta) fail("Generator(): there are no generators for the meta device");
    }
    Object* self = new_generator(type);
    static_cast<Generator*>(self)->device = device;  // a private backend's numbers are drawn on the CPU, too
    return self;
  });
}

Object* generator_manual_seed(Object* self, Object* seed) {
  return guarded([&] {
    if (!PyIndex_Check(seed)) fail_type("manual_seed expected a long, but got ", Py_TYPE(seed)->tp_name);
    const auto number = Ref<Object>::steal(checked(PyNumber_Index(seed)));
    // Negative seeds wrap around.
    int overflow;
    const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    if (overflow == 0) {
      stream(self).seed(uint64_t(value));
    } else {
      const unsigned long long wide = PyLong_AsUnsignedLongLong(number.get());
      if (PyErr_Occurred()) {
        PyErr_Clear();
        fail_value("manual_seed: the seed must lie between -2**63 and 2**64 - 1");
      }
      stream(self).seed(wide);
    }
    return Py_NewRef(self);
  });
}

Object* generator_seed(Object* self, Object*) {
  return guarded([&] {
    std::random_device entropy;
    const uint64_t bits = uint64_t(entropy()) << 32 | entropy();
    stream(self).seed(bits & ((uint64_t(1) << 53) - 1));  // what a double holds
    return PyLong_FromUnsignedLongLong(stream(self).initial_seed());
  });
}

Object* generator_initial_seed(Object* self, Object*) {
  return PyLong_FromUnsignedLongLong(stream(self).initial_seed());
}

Object* generator_get_state(Object* self, Object*) {
  return guarded([&] {
    TensorRef state = empty({int64_t(RandomStream::kStateBytes)}, DType::UInt8);
    stream(self).write_state(state->data<unsigned char>());
    return static_cast<Object*>(state.release());
  });
}

Object* generator_set_state(Object* self, Object* state) {
  return guarded([&] {
    if (!is_tensor(state)) fail_type("set_state expected a torch.ByteTensor, but got ", Py_TYPE(state)->tp_name);
    const Tensor& t = *static_cast<Tensor*>(state);
    if (t.dtype() != DType::UInt8) fail_type("RNG state must be a torch.ByteTensor");
    if (t.numel() != int64_t(RandomStream::kStateBytes)) fail("RNG state is wrong size");
    const TensorRef bytes = contiguous(t);
    if (!stream(self).read_state(bytes->data<unsigned char>())) fail("Invalid mt19937 state");
    return Py_NewRef(self);
  });
}

Object* generator_clone_state(Object* self, Object*) {
  return guarded([&] {
    Object* copy = new_generator(Py_TYPE(self));
    stream(copy) = stream(self);
    static_cast<Generator*>(copy)->device = static_cast<Generator*>(self)->device;
    return copy;
  });
}

/// For pickle and copy: the classes of the extension are named torch's, which need not be there to be found.
Object* generator_reduce(Object* self, Object*) {
  return guarded([&] {
    const auto utils = Ref<Object>::steal(checked(PyImport_ImportModule("vivace._utils")));
    const auto rebuild = Ref<Object>::steal(checked(PyObject_GetAttrString(utils.object(), "_rebuild_generator")));
    const auto state = Ref<Object>::steal(generator_get_state(self, nullptr));
    return checked(Py_BuildValue("O(O)", rebuild.object(), state.object()));
  });
}

Object* generator_device(Object* self, void*) {
  return guarded([&] { return wrap(static_cast<Generator*>(self)->device); });
}

PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O, "Starts the stream that belongs to a seed; returns the generator."},
    {"seed", generator_seed, METH_NOARGS, "Seeds from the system's entropy; returns the seed."},
    {"initial_seed", generator_initial_seed, METH_NOARGS, "The seed that the stream began with."},
    {"get_state", generator_get_state, METH_NOARGS, "The state, as bytes in a tensor."},
    {"set_state", generator_set_state, METH_O, "Goes on from a state that get_state gave."},
    {"clone_state", generator_clone_state, METH_NOARGS, "Another generator in the same state."},
    {"__reduce__", generator_reduce, METH_NOARGS, "How to make a generator in the same state."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef generator_getsets[] = {
    {"device", generator_device, nullptr, "Where the numbers are made.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

bool is_generator(Object* object) { return PyObject_TypeCheck(object, &generator_type); }

void init_generator(Object* module) {
  PyTypeObject& type = generator_type;
  type.tp_name = "torch._C.Generator";
  type.tp_basicsize = sizeof(Generator);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "A stream of random numbers with a state of its own.";
  type.tp_new = generator_new;
  type.tp_methods = generator_methods;
  type.tp_getset = generator_getsets;
  checked(PyType_Ready(&type));
  default_generator = static_cast<Generator*>(new_generator(&type));
  checked(PyModule_AddObjectRef(module, "Generator", reinterpret_cast<Object*>(&type)));
  checked(PyModule_AddObjectRef(module, "default_generator", default_generator));
}

}  // namespace vivace
