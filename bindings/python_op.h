// Operators that Python extends: those it defines, and those of the catalogue that it gives kernels. A kernel is a
// Python callable in the operator's table like any other; an operator without one is untouched.
#pragma once
#include <string>
#include <vector>

#include "bindings/tables.h"
#include "runtime/dispatch/op.h"

namespace vivace {

/// What Python registered for one operator; made at the first registration, never freed.
struct PythonOp {
  Op* op;
  KernelTable original;  // the table without what Python registered
  Object* kernels[kNumKeys] = {};
  std::vector<Object*> names;  // of the arguments, interned
  std::string returns;         // a letter each: T tensor, L list of tensors, i int, f float, b bool, s number, o other
  bool defined = false;        // by Python, not in the catalogue
  bool fresh_results = false;  // no result may be an argument or share its memory
  KeySet with_keys = 0;        // keys whose callables get the set of keys as first argument
  KeySet replaced = 0;         // keys for which Python decides
  KeySet always = 0;           // keys that calls from Python add
  KeySet below = 0;            // keys of devices whose callables run below autograd, as kernels of a device do
};

/// Null where Python registered nothing.
PythonOp* find_python_op(const Op& op);
/// The same, made if need be.
PythonOp& python_op(Op& op);
/// The letters of `PythonOp::returns` for a schema.
std::string result_letters(std::string_view schema);
/// Gives op a kernel of the runtime's for a key, behind what Python registered.
void set_own_kernel(Op& op, Key key, Kernel kernel);
/// A kernel that calls the callable of its key.
Object* python_kernel(const Op& op, KeySet keys, Value* args);
/// A kernel of Key::Autograd: the callable, which records the call, gets all arguments by position; it is left out
/// where nothing is recorded.
Object* python_autograd(const Op& op, KeySet keys, Value* args);

/// An argument as an object.
Object* wrap_value(const Value& v);
/// The arguments of a call as Python gives them: a tuple, without defaults at its end, and a dict.
std::pair<Ref<Object>, Ref<Object>> python_arguments(const Op& op, const Value* args);
/// What Python returned for a call, as callers expect it: checked against the schema; of operators that write, the
/// arguments that they write.
Ref<Object> check_python_result(const Op& op, const Value* args, Ref<Object> result);

/// The tensors that a call writes to, and their versions before it: what Python wrote around the operators counts, too.
class WrittenArguments {
 public:
  WrittenArguments(const Op& op, const Value* args);
  void bump_versions() const;

 private:
  std::vector<std::pair<Tensor*, uint32_t>> written_;
};

/// An operator's name with its namespace and overload, as torch.ops has them: "aten::add.Tensor".
std::string full_name(const Op& op);
/// The operator of a full name ("aten::add.Tensor"); null if there is none.
Op* find_qualified(std::string_view qualname);
/// The same, the catalogue's first: Python may define another one of its name, to show it to __torch_dispatch__.
Op* find_own(std::string_view qualname);

void init_op_call(Object* module);
extern PyMethodDef kLibraryFunctions[];

}  // namespace vivace
