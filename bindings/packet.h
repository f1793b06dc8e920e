// What the generated tables tell the bindings: which operators stand behind a Python name, and behind a Python
// operator. The generator fills Packets; bindings/call.cpp and bindings/bind_arguments.cpp walk them.
#pragma once
#include "runtime/dispatch/op.h"

namespace vivace {

/// A result that is a tuple with names: torch.return_types.max(values, indices).
struct NamedResult {
  const char* name;  // "torch.return_types.max"
  const char* const* fields;
  int count;
  mutable PyTypeObject* type;  // made at first use
};

/// One signature of a Python name.
struct Overload {
  Op* op;
  Op* out;                   // called instead if out= is given; null: there is no out=
  const NamedResult* named;  // null: the result as it is
  bool varargs;              // its only positional parameter (after self) is int[]: `x.view(2, 3)`
};

/// A Python function or method: overloads in the order in which they are tried. Functions and methods of one name
/// differ in the overloads that they have, so each has a Packet.
struct Packet {
  const char* name;      // "add"
  const char* qualname;  // "torch.add", "Tensor.add", "torch.nn.functional.linear": for errors
  const Overload* overloads;
  int count;
  const char* doc;
};

/// Parses and calls. `self` is the first argument of the op; kwnames as in vectorcall. Null with an exception set on
/// failure.
Object* call_method(const Packet& packet, Object* self, Object* const* args, Py_ssize_t nargs,
                    Object* kwnames) noexcept;
Object* call_function(const Packet& packet, Object* const* args, Py_ssize_t nargs, Object* kwnames) noexcept;
/// A read-only attribute (x.mT): calls the packet's only op on self.
Object* call_property(const Packet& packet, Object* self) noexcept;
/// `self.NAME = value`: writes to the view that the property gives. -1 with an exception set on failure.
int assign_property(const Packet& packet, Object* self, Object* value) noexcept;

/// What stands behind a Python operator on (Tensor, Tensor), (Tensor, number), (number, Tensor); null: NotImplemented.
struct Operator {
  const char* symbol;  // "+", "+="
  Op* tensor_tensor;
  Op* tensor_scalar;
  Op* scalar_tensor;
  bool swap;             // (number, Tensor): call tensor_scalar with the operands swapped
  const Packet* packet;  // the method of that name, for subclasses and errors
};
/// `a OP b`; one of them is a Tensor. In place: a is.
Object* call_operator(const Operator& op, Object* a, Object* b) noexcept;
/// `OP a`.
Object* call_unary_operator(const Packet& packet, Object* a) noexcept;
/// `~a`, which PyTorch refuses for floats before it looks for an operator.
Object* call_invert(const Packet& packet, Object* a) noexcept;

// ---- the tables, generated (build/generated/bindings_tables.cpp); arrays of methods end with an empty entry

extern PyMethodDef kTensorMethods[];
extern PyGetSetDef kTensorProperties[];
/// nb_add, nb_inplace_add, nb_negative, ... as slots of a type spec; ends with {0, null}.
extern PyType_Slot kTensorOperatorSlots[];
/// By Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE.
extern const Operator kTensorComparisons[6];

/// The functions of one namespace.
struct FunctionTable {
  const char* name;  // "torch", "nn.functional", "linalg", "special", "fft", "private"
  PyMethodDef* functions;
};
extern const FunctionTable kFunctionTables[];
extern const int kNumFunctionTables;
/// All named results, for torch.return_types.
extern const NamedResult* const kNamedResults[];
extern const int kNumNamedResults;
/// Gives a named result its type, the same for all of one name.
void make_type(const NamedResult& names);

}  // namespace vivace
