// Getters, setters and methods of the tensor as an object: grad, data, requires_grad, names of its type.
#include "bindings/tensor_attributes.h"

#include <algorithm>
#include <cstdlib>

#include "bindings/autograd.h"
#include "bindings/convert.h"
#include "bindings/override.h"
#include "bindings/python_dispatch.h"
#include "bindings/register_hooks.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/tangent.h"
#include "runtime/autograd/view.h"
#include "runtime/core/foreign_memory.h"
#include "runtime/dispatch/keys.h"

namespace vivace {
namespace {

// ---- attributes

Object* get_shape(Object* self, void*) {
  return guarded([&] { return wrap_size(tensor_of(self).sizes()); });
}
Object* get_dtype(Object* self, void*) { return wrap(tensor_of(self).dtype()); }
Object* get_device(Object* self, void*) {
  return guarded([&] { return wrap(tensor_of(self).device()); });
}
Object* get_layout(Object*, void*) {
  return guarded([&] { return wrap(Layout::Strided); });
}
Object* get_ndim(Object* self, void*) { return PyLong_FromLong(tensor_of(self).ndim_); }
Object* get_itemsize(Object* self, void*) { return PyLong_FromSize_t(tensor_of(self).item_size()); }
Object* get_nbytes(Object* self, void*) { return PyLong_FromSize_t(tensor_of(self).nbytes()); }
Object* get_version(Object* self, void*) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    if (is_inference(t)) fail("Inference tensors do not track version counter.");
    return PyLong_FromUnsignedLong(*t.version_);
  });
}
Object* get_output_nr(Object* self, void*) {
  const Tensor& t = tensor_of(self);
  return PyLong_FromUnsignedLong(t.is_leaf() ? 0 : t.output_nr);
}
Object* get_base(Object* self, void*) {
  Tensor* base = tensor_of(self).base;
  return Py_NewRef(base ? static_cast<Object*>(base) : Py_None);
}
Object* get_is_meta(Object* self, void*) { return PyBool_FromLong(tensor_of(self).is_meta()); }
Object* get_is_cpu(Object* self, void*) { return PyBool_FromLong(tensor_of(self).device().type == DeviceType::CPU); }
Object* get_false(Object*, void*) { Py_RETURN_FALSE; }

Object* get_requires_grad(Object* self, void*) {
  return guarded([&] {
    sync_view(tensor_of(self));
    return PyBool_FromLong(tensor_of(self).requires_grad());
  });
}
/// requires_grad as programs set it.
void change_requires_grad(Tensor& t, bool value) {
  if (t.keys & bit(Key::Vmap))
    fail(
        "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside "
        "of a function being transformed by a functorch transform. This is unsupported, please attempt to use the "
        "functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function "
        "being transformed instead.");
  set_requires_grad(t, value);
}
int set_requires_grad_attribute(Object* self, Object* value, void*) {
  return guarded_or(-1, [&] {
    if (!value || !PyBool_Check(value)) fail_type("requires_grad must be a bool");
    change_requires_grad(tensor_of(self), value == Py_True);
    return 0;
  });
}
Object* get_is_leaf(Object* self, void*) {
  return guarded([&] {
    sync_view(tensor_of(self));
    return PyBool_FromLong(tensor_of(self).is_leaf());
  });
}
Object* get_grad_fn(Object* self, void*) {
  return guarded([&] {
    Tensor& t = tensor_of(self);
    sync_view(t);
    return Py_NewRef(t.grad_fn ? static_cast<Object*>(t.grad_fn) : Py_None);
  });
}
int set_grad_fn(Object* self, Object* value, void*) {
  return guarded_or(-1, [&] {
    if (value != Py_None) fail("_grad_fn can be only set to None");
    detach_in_place(tensor_of(self));
    return 0;
  });
}

Object* get_own_grad(Object* self, void*) {
  Tensor& t = tensor_of(self);
  return Py_NewRef(t.grad ? static_cast<Object*>(t.grad) : Py_None);
}
Object* get_grad(Object* self, void*) {
  Tensor& t = tensor_of(self);
  if (t.grad) return Py_NewRef(static_cast<Object*>(t.grad));
  if (t.is_leaf()) Py_RETURN_NONE;
  return guarded([&] {
    if (!(t.extra && t.extra->retains_grad))
      warn(
          "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
          "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
          "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
          "you access the leaf Tensor instead.");
    return Py_NewRef(Py_None);
  });
}
int set_grad(Object* self, Object* value, void*) {
  return guarded_or(-1, [&] {
    Tensor& t = tensor_of(self);
    Tensor* grad = nullptr;
    if (value && value != Py_None) {
      if (!is_tensor(value))
        fail_type("assigned grad expected to be a Tensor or None but got grad of type ", Py_TYPE(value)->tp_name);
      grad = &tensor_of(value);
      if (grad == &t) fail("can't assign Variable as its own grad");
      if (grad->dtype() != t.dtype())
        fail("attempting to assign a gradient with dtype '", grad->dtype(), "' to a tensor with dtype '", t.dtype(),
             "'. Please ensure that the gradient and the tensor have the same dtype");
      if (!(grad->device() == t.device())) fail("attempting to assign a gradient on another device than the tensor's");
      if (str(grad->sizes()) != str(t.sizes()))
        fail("attempting to assign a gradient of size '", grad->sizes(), "' to a tensor of size '", t.sizes(),
             "'. Please ensure that the gradient and the tensor are the same size");
      Py_INCREF(grad);
      track(t);
    }
    Tensor* old = std::exchange(t.grad, grad);
    Py_XDECREF(old);
    return 0;
  });
}

/// Whether it holds its elements elsewhere, as the class in Python says.
bool is_sparse(Object* tensor) {
  const auto sparse = Ref<Object>::steal(checked(PyObject_GetAttrString(tensor, "is_sparse")));
  return PyObject_IsTrue(sparse.get()) == 1;
}

Object* get_data(Object* self, void*) {
  return guarded([&] {
    TensorRef data = detached(tensor_of(self));
    detach_version(*data);
    return data.release();
  });
}
int set_data(Object* self, Object* value, void*) {
  return guarded_or(-1, [&] {
    if (!value || !is_tensor(value))
      fail_type("Variable data has to be a tensor, but got ", value ? Py_TYPE(value)->tp_name : "nothing");
    if (!is_plain_tensor(value) && is_sparse(value))
      fail("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.");
    assume_data(tensor_of(self), tensor_of(value));
    return 0;
  });
}

Object* get_retains_grad(Object* self, void*) {
  const TensorExtra* e = tensor_of(self).extra;
  return PyBool_FromLong(e && e->retains_grad);
}

Object* get_name(Object* self, void*) {
  const TensorExtra* e = tensor_of(self).extra;
  return Py_NewRef(e && e->name ? e->name : Py_None);
}
int set_name(Object* self, Object* value, void*) {
  return guarded_or(-1, [&] {
    Object* old = std::exchange(extra(tensor_of(self)).name, Py_XNewRef(value));
    Py_XDECREF(old);
    return 0;
  });
}

// ---- methods

Object* element_of(IntList list, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  Object* dim = nargs == 1 ? args[0] : kwnames && PyTuple_GET_SIZE(kwnames) == 1 ? args[nargs] : nullptr;
  if (!dim || dim == Py_None) return nullptr;
  int64_t d;
  if (!unwrap_int(dim, &d)) fail_type("argument 'dim' must be int, not ", Py_TYPE(dim)->tp_name);
  if (list.empty()) {
    wrap_dim(d, 0);
    fail_index("Dimension specified as ", d, " but tensor has no dimensions");
  }
  return PyLong_FromLongLong(list[size_t(wrap_dim(d, int64_t(list.size())))]);
}
Object* size(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    const IntList sizes = tensor_of(self).sizes();
    if (Object* one = element_of(sizes, args, nargs, kwnames)) return one;
    return wrap_size(sizes);
  });
}
Object* stride(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    const IntList strides = tensor_of(self).strides();
    if (Object* one = element_of(strides, args, nargs, kwnames)) return one;
    return wrap_tuple(strides);
  });
}
Object* dim(Object* self, Object*) { return PyLong_FromLong(tensor_of(self).ndim_); }
Object* numel(Object* self, Object*) { return PyLong_FromLongLong(tensor_of(self).numel_); }
Object* element_size(Object* self, Object*) { return PyLong_FromSize_t(tensor_of(self).item_size()); }
Object* storage_offset(Object* self, Object*) { return PyLong_FromLongLong(tensor_of(self).storage_offset()); }
Object* data_ptr(Object* self, Object*) {
  const Tensor& t = tensor_of(self);
  return PyLong_FromVoidPtr(t.numel_ && !(t.keys & bit(Key::NoData)) ? t.data_ : nullptr);
}
Object* is_contiguous(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    MemoryFormat format = MemoryFormat::Contiguous;
    Object* given = nargs ? args[0] : kwnames ? args[nargs] : nullptr;
    if (given && !unwrap_memory_format(given, &format))
      fail_type("is_contiguous(): argument 'memory_format' must be torch.memory_format, not ", Py_TYPE(given)->tp_name);
    return PyBool_FromLong(tensor_of(self).is_contiguous(format));
  });
}
Object* get_device_index(Object* self, Object*) { return PyLong_FromLong(tensor_of(self).device().index); }
Object* is_floating_point(Object* self, Object*) { return PyBool_FromLong(is_floating(tensor_of(self).dtype())); }
Object* is_complex_method(Object* self, Object*) { return PyBool_FromLong(is_complex(tensor_of(self).dtype())); }
Object* is_signed_method(Object* self, Object*) { return PyBool_FromLong(is_signed(tensor_of(self).dtype())); }

Object* is_inference_method(Object* self, Object*) { return PyBool_FromLong(is_inference(tensor_of(self))); }

Object* requires_grad_(Object* self, Object* const* args, Py_ssize_t nargs, Object* kwnames) {
  return guarded([&] {
    Object* given = nargs ? args[0] : kwnames ? args[nargs] : Py_True;
    bool value;
    if (!unwrap_bool(given, &value))
      fail_type("requires_grad_(): argument 'requires_grad' must be bool, not ", Py_TYPE(given)->tp_name);
    change_requires_grad(tensor_of(self), value);
    return Py_NewRef(self);
  });
}
Object* detach_(Object* self, Object*) {
  return guarded([&] {
    detach_in_place(tensor_of(self));
    return Py_NewRef(self);
  });
}

Object* as_subclass(Object* self, Object* type) {
  return guarded([&]() -> Object* {
    PyTypeObject* wanted = subclass_of_tensor(type, "as_subclass");
    TensorRef view = ops::alias(tensor_of(self));
    return wanted == tensor_type ? view.release() : moved_into(std::move(view), wanted).release();
  });
}
Object* make_subclass(Object*, Object* const* args, Py_ssize_t nargs) {
  return guarded([&] {
    if (nargs < 2 || nargs > 3 || !is_tensor(args[1]))
      fail_type("_make_subclass(cls, data, require_grad=False) expects a class and a Tensor");
    TensorRef t = retyped(tensor_of(args[1]), subclass_of_tensor(args[0], "_make_subclass"));
    if (nargs == 3 && PyObject_IsTrue(args[2]) == 1) set_requires_grad(*t, true);
    return t.release();
  });
}

}  // namespace

PyTypeObject* subclass_of_tensor(Object* type, const char* who) {
  if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_type))
    fail_type(who, "(): the class must be a subclass of Tensor");
  return reinterpret_cast<PyTypeObject*>(type);
}

TensorRef moved_into(TensorRef t, PyTypeObject* type) {
  auto fresh = TensorRef::steal(&tensor_of(checked(type->tp_alloc(type, 0))));
  char *from = reinterpret_cast<char*>(t.get()), *to = reinterpret_cast<char*>(fresh.get());
  std::swap_ranges(from + sizeof(Object), from + sizeof(Tensor), to + sizeof(Object));
  if (fresh->dims_ == t->inline_dims_) fresh->dims_ = fresh->inline_dims_;
  t->dims_ = t->inline_dims_;
  take_over_tangents(*fresh);
  fresh->keys |= class_keys(type);
  return fresh;
}

TensorRef retyped(const Tensor& t, PyTypeObject* type) {
  if (type == tensor_type) return alias(t);
  auto fresh = TensorRef::steal(&tensor_of(checked(type->tp_alloc(type, 0))));
  fresh->dims_ = fresh->inline_dims_;
  assume_data(*fresh, t);
  fresh->version_ = &fresh->storage_->version;
  fresh->keys |= (t.keys & bit(Key::Inference)) | class_keys(type);
  return fresh;
}

void assume_data(Tensor& t, const Tensor& from) {
  if (t.requires_grad() && !is_differentiable(from.dtype()))
    fail("a tensor that requires grad can't get data of dtype ", from.dtype());
  retain(from.storage_);
  Storage* old = std::exchange(t.storage_, from.storage_);
  const bool own_version = t.extra && t.extra->own_version;
  if (!own_version) t.version_ = &t.storage_->version;
  t.dtype_ = from.dtype_;
  t.device_ = from.device_;
  t.keys &= ~kBackendKeys;
  set_layout(t, from.sizes(), from.strides(), from.storage_offset());
  t.keys = (t.keys & ~kBackendKeys) | (from.keys & kBackendKeys);
  if (t.keys & bit(Key::PrivateUse)) [[unlikely]]
    foreign_memory.show(from, t);
  if (old) release(old);
}

PyGetSetDef kTensorAttributes[] = {
    tensor_attribute<"shape", get_shape>("Sizes of all dimensions, a torch.Size."),
    tensor_attribute<"dtype", get_dtype>("Type of the elements."),
    tensor_attribute<"device", get_device>("Where the memory is."),
    tensor_attribute<"layout", get_layout>("Always torch.strided."),
    tensor_attribute<"ndim", get_ndim>("Number of dimensions."),
    tensor_attribute<"itemsize", get_itemsize>("Bytes of one element."),
    tensor_attribute<"nbytes", get_nbytes>("Bytes of all elements."),
    tensor_attribute<"requires_grad", get_requires_grad, set_requires_grad_attribute>(
        "Whether operations on this tensor are recorded."),
    tensor_attribute<"is_leaf", get_is_leaf>("Whether no recorded operation made this tensor."),
    tensor_attribute<"grad_fn", get_grad_fn>("The node that made this tensor, or None."),
    tensor_attribute<"_grad_fn", get_grad_fn, set_grad_fn>(),
    tensor_attribute<"grad", get_grad, set_grad>("The gradient that backward() accumulated, or None."),
    tensor_attribute<"_grad", get_own_grad, set_grad>(),
    tensor_attribute<"data", get_data, set_data>(
        "The same elements without history; writes to it go unnoticed by autograd."),
    tensor_attribute<"_version", get_version>("How often the elements were changed in place."),
    tensor_attribute<"_base", get_base>("Of a view, the tensor that it views."),
    tensor_attribute<"_backward_hooks", get_backward_hooks>("The hooks of a leaf by id, or None."),
    tensor_attribute<"output_nr", get_output_nr>("Which output of grad_fn this is."),
    tensor_attribute<"name", get_name, set_name>(),
    tensor_attribute<"retains_grad", get_retains_grad>("Whether backward() fills .grad though this is no leaf."),
    tensor_attribute<"is_cpu", get_is_cpu>(),
    tensor_attribute<"is_meta", get_is_meta>(),
    tensor_attribute<"is_cuda", get_false>(),
    tensor_attribute<"is_xpu", get_false>(),
    tensor_attribute<"is_mps", get_false>(),
    tensor_attribute<"is_mkldnn", get_false>(),
    tensor_attribute<"is_sparse", get_false>(),
    tensor_attribute<"is_sparse_csr", get_false>(),
    tensor_attribute<"is_quantized", get_false>(),
    tensor_attribute<"is_nested", get_false>(),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef kTensorObjectMethods[] = {
    tensor_method<"size", size>("size(dim=None): torch.Size of all dimensions, or the int of one."),
    tensor_method<"stride", stride>("stride(dim=None): elements between neighbours, per dimension or of one."),
    tensor_method<"dim", dim>(METH_NOARGS, "Number of dimensions."),
    tensor_method<"ndimension", dim>(METH_NOARGS, "Number of dimensions."),
    tensor_method<"numel", numel>(METH_NOARGS, "Number of elements."),
    tensor_method<"nelement", numel>(METH_NOARGS, "Number of elements."),
    tensor_method<"element_size", element_size>(METH_NOARGS, "Bytes of one element."),
    tensor_method<"storage_offset", storage_offset>(METH_NOARGS, "Elements before the first one in the storage."),
    tensor_method<"data_ptr", data_ptr>(METH_NOARGS, "Address of the first element."),
    tensor_method<"is_contiguous", is_contiguous>(
        "is_contiguous(memory_format=torch.contiguous_format): whether there are no gaps in that order."),
    tensor_method<"get_device", get_device_index>(METH_NOARGS, "Index of the accelerator; -1 on the CPU."),
    tensor_method<"is_floating_point", is_floating_point>(METH_NOARGS),
    tensor_method<"is_complex", is_complex_method>(METH_NOARGS),
    tensor_method<"is_signed", is_signed_method>(METH_NOARGS),
    tensor_method<"is_inference", is_inference_method>(METH_NOARGS,
                                                       "is_inference(): whether it was made in inference mode."),
    tensor_method<"requires_grad_", requires_grad_>(
        "requires_grad_(requires_grad=True): starts or stops recording on this leaf."),
    tensor_method<"detach_", detach_>(METH_NOARGS, "Makes this tensor a leaf without history."),
    {"as_subclass", as_subclass, METH_O, "as_subclass(cls): the same elements as an object of a subclass of Tensor."},
    fast_function("_make_subclass", make_subclass, nullptr, METH_STATIC),
    tensor_method<"backward", tensor_backward>(
        "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None): accumulates gradients into the "
        "leaves."),
    tensor_method<"register_hook", register_hook>(
        METH_O, "register_hook(hook): calls hook(grad) when this tensor's gradient is computed."),
    tensor_method<"register_post_accumulate_grad_hook", register_post_accumulate_grad_hook>(
        METH_O,
        "register_post_accumulate_grad_hook(hook): calls hook(self) after backward() added to this leaf's grad."),
    tensor_method<"retain_grad", retain_grad>(METH_NOARGS,
                                              "Lets backward() fill .grad of this tensor, which is no leaf."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace vivace
