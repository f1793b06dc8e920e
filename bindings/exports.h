// What each file of bindings/ contributes to the module and to the Tensor type; tables end with an empty entry.
#pragma once
#include "runtime/core/dtype.h"
#include "runtime/core/object.h"

namespace vivace {

/// Readies dtype, finfo, iinfo, device, layout, memory_format and Size and adds them, with all their values and
/// aliases, to the module. Throws PythonError.
void init_value_types(Object* module);
/// Adds Generator and default_generator.
void init_generator(Object* module);
/// Adds no_grad, enable_grad, set_grad_enabled, inference_mode and what reads those modes.
void init_grad_modes(Object* module);
/// Adds what amp/autocast_mode.py is written with.
void init_autocast(Object* module);
/// Adds set_num_threads and its kin.
void init_threads(Object* module);
/// Lets profiles note stacks.
void init_profiler();
/// Adds the type of storages and what makes tensors over them.
void init_storages(Object* module);

// functions of the module
extern PyMethodDef kConstructorFunctions[];  // tensor, as_tensor, asarray, scalar_tensor, frombuffer
extern PyMethodDef kDTypeFunctions[];        // result_type, promote_types, can_cast, set_default_dtype, is_tensor, ...
extern PyMethodDef kNumpyFunctions[];        // from_numpy
extern PyMethodDef kDlpackFunctions[];       // from_dlpack
extern PyMethodDef kProfilerFunctions[];     // what profiler/ is written with

// methods of Tensor
extern PyMethodDef kConstructorMethods[];  // new_tensor, new
extern PyMethodDef kItemMethods[];         // item, tolist, __complex__, __contains__, ...
extern PyMethodDef kNumpyMethods[];        // numpy, __array__
extern PyMethodDef kStorageMethods[];      // untyped_storage, share_memory_
extern PyMethodDef kDlpackMethods[];       // __dlpack__, __dlpack_device__
extern PyGetSetDef kNumpyGetSets[];        // __array_interface__, __array_struct__

// slots of Tensor
Object* tensor_subscript(Object* self, Object* key);                 // mp_subscript
int tensor_ass_subscript(Object* self, Object* key, Object* value);  // mp_ass_subscript
Py_ssize_t tensor_length(Object* self);                              // mp_length, sq_length
Object* tensor_sequence_item(Object* self, Py_ssize_t index);        // sq_item
int tensor_contains(Object* self, Object* element);                  // sq_contains
Object* tensor_iter(Object* self);                                   // tp_iter
int tensor_bool(Object* self);                                       // nb_bool
Object* tensor_int(Object* self);                                    // nb_int
Object* tensor_float(Object* self);                                  // nb_float
Object* tensor_index(Object* self);                                  // nb_index

/// torch.Tensor(...) and the typed classes of old: data, sizes, a storage or nothing.
/// `any_dtype`: a tensor as data may have another dtype.
Object* legacy_tensor_new(DType dtype, Object* args, Object* kwargs, bool any_dtype);

}  // namespace vivace
