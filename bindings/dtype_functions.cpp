// Functions of the module about dtypes and about what an object is.
#include "bindings/exports.h"
#include "bindings/keywords.h"
#include "bindings/override.h"
#include "bindings/tables.h"
#include "runtime/autograd/layers.h"

namespace vivace {

namespace {

DType dtype_at(const char* function, const char* name, int position, Object* value) {
  DType dtype;
  if (!unwrap_dtype(value, &dtype))
    fail_type(function, "(): argument '", name, "' (position ", position, ") must be torch.dtype, not ",
              Py_TYPE(value)->tp_name);
  return dtype;
}

Object* promote(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&] {
    static constexpr Signature signature = {"promote_types", 2, 2, {"type1", "type2"}};
    Object* a[2];
    sort_arguments(signature, args, nargs, keywords, a);
    const DType type1 = dtype_at("promote_types", "type1", 1, a[0]);
    return wrap(promote_types(type1, dtype_at("promote_types", "type2", 2, a[1])));
  });
}

Object* can_cast_types(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return guarded([&] {
    static constexpr Signature signature = {"can_cast", 2, 2, {"from_", "to"}};
    Object* a[2];
    sort_arguments(signature, args, nargs, keywords, a);
    const DType from = dtype_at("can_cast", "from_", 1, a[0]);
    return PyBool_FromLong(can_cast(from, dtype_at("can_cast", "to", 2, a[1])));
  });
}

Object* result_type_of(Object*, Object* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    if (nargs != 2) fail_type("result_type() takes 2 positional arguments but ", nargs, " were given");
    ResultType result;
    for (int i = 0; i < 2; ++i) {
      Scalar scalar;
      if (is_tensor(args[i])) {
        result.add(tensor_of(args[i]));
      } else if (unwrap_scalar(args[i], &scalar)) {
        result.add(scalar);
      } else {
        fail_type("result_type(): argument ", i + 1, " must be Tensor or Number, not ", Py_TYPE(args[i])->tp_name);
      }
    }
    return wrap(result.dtype());
  });
}

Object* get_default_dtype(Object*, Object*) { return wrap(default_dtype); }

Object* set_default_dtype(Object*, Object* value) {
  return guarded([&]() -> Object* {
    if (!is_dtype(value))
      fail_type("invalid dtype object: only floating-point types are supported as the default type");
    DType dtype;
    unwrap_dtype(value, &dtype);
    if (!is_floating(dtype)) fail_type("only floating-point types are supported as the default type");
    default_dtype = dtype;
    Py_RETURN_NONE;
  });
}

Object* is_tensor_object(Object*, Object* object) { return PyBool_FromLong(is_tensor(object)); }

/// A function of one tensor argument `input` that gives a bool or an int.
template <class F>
Object* with_input(const char* function, Object* const* args, Py_ssize_t nargs, Object* keywords, F f) {
  return guarded([&]() -> Object* {
    const Signature signature = {function, 1, 1, {"input"}};
    Object* input;
    sort_arguments(signature, args, nargs, keywords, &input);
    return f(tensor_argument(function, "input", input));
  });
}

Object* is_floating_point(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return with_input("is_floating_point", args, nargs, keywords,
                    [](Tensor& t) { return PyBool_FromLong(is_floating(t.dtype())); });
}
Object* is_complex_tensor(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return with_input("is_complex", args, nargs, keywords,
                    [](Tensor& t) { return PyBool_FromLong(is_complex(t.dtype())); });
}
Object* is_inference_tensor(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return with_input("is_inference", args, nargs, keywords, [](Tensor& t) { return PyBool_FromLong(is_inference(t)); });
}
Object* is_signed_tensor(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return with_input("is_signed", args, nargs, keywords,
                    [](Tensor& t) { return PyBool_FromLong(is_signed(t.dtype())); });
}
Object* numel(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return with_input("numel", args, nargs, keywords, [](Tensor& t) { return PyLong_FromLongLong(t.numel()); });
}
Object* is_nonzero(Object*, Object* const* args, Py_ssize_t nargs, Object* keywords) {
  return with_input("is_nonzero", args, nargs, keywords, [](Tensor& t) -> Object* {
    const int truth = tensor_bool(&t);
    return truth < 0 ? nullptr : PyBool_FromLong(truth);
  });
}

Object* restore_size(Object*, Object* sizes) {
  return PyObject_CallOneArg(reinterpret_cast<Object*>(&size_type), sizes);
}
Object* restore_device(Object*, Object* name) {
  return PyObject_CallOneArg(reinterpret_cast<Object*>(&device_type), name);
}

Object* scalar_type_names(Object*, Object*) {
  return guarded([&]() -> Object* {
    auto names = Ref<Object>::steal(checked(PyDict_New()));
    for (int i = 0; i < kNumDTypes; ++i) {
      auto name = Ref<Object>::steal(checked(PyUnicode_InternFromString(scalar_type_name(DType(i)))));
      checked(PyDict_SetItem(names.get(), Ref<Object>::steal(wrap(DType(i))).get(), name.get()));
    }
    return names.release();
  });
}

}  // namespace

PyMethodDef kDTypeFunctions[] = {
    keyword_function("promote_types", promote,
                     "promote_types(type1, type2) -> dtype\n\nThe smallest dtype that holds values of both."),
    keyword_function("can_cast", can_cast_types, "can_cast(from_, to) -> bool\n\nWhether a result may be written so."),
    fast_function("result_type", result_type_of,
                  "result_type(a, b) -> dtype\n\nThe dtype of an operation on two tensors or numbers."),
    {"get_default_dtype", get_default_dtype, METH_NOARGS, "The dtype that floats become."},
    {"set_default_dtype", set_default_dtype, METH_O, "set_default_dtype(d): sets the dtype that floats become."},
    {"is_tensor", is_tensor_object, METH_O, "Whether an object is a tensor."},
    tensor_function<"torch.is_floating_point", is_floating_point>("Whether a tensor's dtype is a floating point type."),
    tensor_function<"torch.is_complex", is_complex_tensor>("Whether a tensor's dtype is complex."),
    tensor_function<"torch.is_inference", is_inference_tensor>("Whether a tensor was made in inference mode."),
    tensor_function<"torch.is_signed", is_signed_tensor>("Whether a tensor's dtype is signed."),
    tensor_function<"torch.numel", numel>("How many elements a tensor has."),
    tensor_function<"torch.is_nonzero", is_nonzero>("Whether the only element of a tensor is not zero."),
    {"_scalar_type_names", scalar_type_names, METH_NOARGS, "Dtype to its older name: float32 is Float."},
    {"_restore_size", restore_size, METH_O, "What pickles of torch.Size call."},
    {"_restore_device", restore_device, METH_O, "What pickles of torch.device call."},
    kNoMethod,
};

}  // namespace vivace
