// The tensor as an object: its types, its pool, its rarely used parts. For the autograd layer and the bindings.
#pragma once
#include "runtime/core/tensor.h"

namespace vivace {

extern PyTypeObject* tensor_type;     // torch.Tensor
extern PyTypeObject* parameter_type;  // torch.nn.Parameter; null until it is made

inline bool is_tensor_exact(const Object* o) { return Py_TYPE(o) == tensor_type; }
inline bool is_tensor(Object* o) { return Py_TYPE(o) == tensor_type || PyObject_TypeCheck(o, tensor_type); }

/// The tensor that an object is; the caller has checked it.
inline Tensor& tensor_of(Object* o) { return static_cast<Tensor&>(*o); }

/// A version counter apart from the storage's, shared by the views of a `.data` alias.
struct SharedVersion {
  uint32_t version;
  uint32_t refcount;
};

struct Tangent;

/// What few tensors have.
struct TensorExtra {
  Tangent* tangents = nullptr;  // owned: see autograd/tangent.h
  SharedVersion* own_version = nullptr;
  Node* accumulate_grad = nullptr;  // borrowed: the AccumulateGrad object that next_functions showed, while it lives
  Object* hooks = nullptr;          // owned: dict of id -> callable
  Object* post_accumulate_hooks = nullptr;
  Object* accumulate_pre_hooks = nullptr;  // of the AccumulateGrad object, which comes and goes
  Object* accumulate_post_hooks = nullptr;
  Object* name = nullptr;
  bool retains_grad = false;
};

/// The extra part, made if there is none.
TensorExtra& extra(Tensor& t);
/// Lets v share t's own version counter.
void adopt_version(Tensor& v, const Tensor& t);
/// Gives t a version counter of its own, at zero.
void detach_version(Tensor& t);

/// Lets Python's collector see t; call it before t gets anything that can lead back to it.
inline void track(Tensor& t) {
  if (!is_tracked(&t)) track_new(&t);
}

}  // namespace vivace
