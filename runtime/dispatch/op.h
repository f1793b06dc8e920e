// Operators as data: schema, dispatch table, how autograd records them. Generated code fills these structs; everything
// that handles all operators alike (argument parser, autograd, boxed kernels) walks them. A kernel gets its arguments
// as an array of Values in schema order, with all defaults filled in, and returns a new reference (a Tensor, a tuple or
// list of tensors, a number).
#pragma once
#include <span>
#include <string_view>

#include "runtime/core/tensor.h"
#include "runtime/dispatch/keys.h"

namespace vivace {

/// One argument. Borrowed, except where a Node saved it.
struct Value {
  union {
    int64_t i;  // Bool, Int, DType, Device (type | index << 8), Layout, MemoryFormat
    double f;
    Tensor* tensor;
    Tensor* const* tensors;
    const int64_t* ints;
    const double* floats;
    const Scalar* scalars;
    const char* chars;
    Object* object;
  };
  union {
    double imag;
    int64_t count;  // of a list or string
  };
  Tag tag;

  bool is_none() const { return tag == Tag::None; }
  bool is_tensor() const { return tag == Tag::Tensor; }
  const Scalar& scalar() const { return reinterpret_cast<const Scalar&>(*this); }
  IntList int_list() const { return {ints, size_t(count)}; }
  std::span<const double> float_list() const { return {floats, size_t(count)}; }
  TensorList tensor_list() const { return {tensors, size_t(count)}; }
  std::string_view string() const { return {chars, size_t(count)}; }
  DType dtype() const { return DType(i); }
  Device device() const { return {DeviceType(i & 0xff), int8_t(i >> 8)}; }
  MemoryFormat memory_format() const { return MemoryFormat(i); }

  static Value none() {
    Value v;
    v.i = 0;
    v.count = 0;
    v.tag = Tag::None;
    return v;
  }
  static Value of(Tensor* t) {
    Value v;
    v.tensor = t;
    v.count = 0;
    v.tag = t ? Tag::Tensor : Tag::None;
    return v;
  }
  static Value of(const Scalar& s) { return reinterpret_cast<const Value&>(s); }
  static Value of(int64_t x) { return of(Scalar(x)); }
  static Value of(bool x) { return of(Scalar(x)); }
  static Value of(double x) { return of(Scalar(x)); }
  static Value of(IntList l) {
    Value v;
    v.ints = l.data();
    v.count = int64_t(l.size());
    v.tag = Tag::IntList;
    return v;
  }
  static Value of(TensorList l) {
    Value v;
    v.tensors = l.data();
    v.count = int64_t(l.size());
    v.tag = Tag::TensorList;
    return v;
  }
  static Value of(std::string_view s) {
    Value v;
    v.chars = s.data();
    v.count = int64_t(s.size());
    v.tag = Tag::String;
    return v;
  }
  static Value of(DType t) {
    Value v;
    v.i = int64_t(t);
    v.count = 0;
    v.tag = Tag::DType;
    return v;
  }
  static Value of(Device d) {
    Value v;
    v.i = int64_t(d.type) | int64_t(d.index) << 8;
    v.count = 0;
    v.tag = Tag::Device;
    return v;
  }
  static Value of(MemoryFormat m) {
    Value v;
    v.i = int64_t(m);
    v.count = 0;
    v.tag = Tag::MemoryFormat;
    return v;
  }
};
static_assert(sizeof(Value) == 24 && sizeof(Scalar) == 24);

/// What the parser accepts for a parameter.
enum class ArgKind : uint8_t {
  Tensor,
  Scalar,
  Int,
  Float,
  Bool,
  IntList,
  FloatList,
  ScalarList,
  TensorList,
  DType,
  Layout,
  Device,
  MemoryFormat,
  String,
  Generator,
  IndexList,  // Tensor?[]: what stands between the brackets of advanced indexing
  Object,
};

struct ArgSpec {
  const char* name;
  ArgKind kind;
  bool optional;  // None is accepted
  bool keyword_only;
  bool has_default;
  bool is_output;    // out=
  bool is_mutated;   // (a!)
  int8_t list_size;  // int[2]: a single int stands for two; 0: no such rule
  Value fallback;    // the default; lists point to static memory
};

struct Op;
struct NodeInfo;
/// `keys`: the set that led here, this kernel's key included; pass `keys & below(key)` to `redispatch`.
using Kernel = Object* (*)(const Op& op, KeySet keys, Value* args);

enum class OpClass : uint8_t {
  Plain,    // fresh outputs
  InPlace,  // writes args[0] and returns it
  Out,      // writes its out arguments and returns them
  View,     // returns views of args[0]
};

/// What an in-place or out= form allows that PyTorch refuses for most operators.
enum Writes : uint8_t {
  kWritesCast = 1,     // a result of another dtype than out's, if it can be cast
  kWritesOverlap = 2,  // memory that is partly an input's
};

/// One kernel per dispatch key. Keys without one are fallen through.
struct KernelTable {
  struct Entry {
    Key key;
    Kernel kernel;
  };
  constexpr KernelTable(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) {
      keys |= bit(e.key);
      kernels[int(e.key)] = e.kernel;
    }
  }

  KeySet keys = 0;
  Kernel kernels[kNumKeys] = {};
};

struct Op {
  const char* name;      // "add"; in place "add_"
  const char* overload;  // "Tensor", "Scalar_out", ""
  const ArgSpec* args;
  uint8_t nargs;
  OpClass op_class;
  uint8_t nreturns;      // tensors in the result; 0: a list or no tensor
  uint8_t writes;        // flags of Writes
  uint32_t tensor_args;  // bit i: args[i] is a Tensor or Tensor?; lists are in `list_args`
  uint32_t list_args;    // bit i: args[i] is Tensor[] or Tensor?[]
  const NodeInfo* node;  // how autograd records the call; null: not differentiable
  const void* data;      // for generic kernels: PointwiseInfo and so on
  const Op* functional;  // of an InPlace or Out op: the op that computes the value; else null
  const char* schema;    // PyTorch's notation, for errors and docs
  KernelTable table;     // has CPU at least
};

/// Calls the kernel of the highest key in `keys`.
inline Object* redispatch(const Op& op, KeySet keys, Value* args) {
  return op.table.kernels[31 - __builtin_clz((keys & op.table.keys) | 1)](op, keys, args);
}
/// From the top: `keys` is the union over the tensor arguments (or a backend key for factories).
inline Object* dispatch(const Op& op, KeySet keys, Value* args) {
  return redispatch(op, (keys | tls.include) & ~tls.exclude, args);
}
/// Union of the keys of all tensors among the arguments; CPU if there are none. An absent Tensor? argument is a null
/// pointer.
KeySet gather_keys(const Op& op, const Value* args);

/// The objects of a result, tensors or None: itself, or the items of a tuple or list.
inline std::span<Tensor*> result_tensors(Object*& result) {
  if (PyTuple_Check(result))
    return {reinterpret_cast<Tensor**>(reinterpret_cast<PyTupleObject*>(result)->ob_item),
            size_t(PyTuple_GET_SIZE(result))};
  if (PyList_Check(result))
    return {reinterpret_cast<Tensor**>(reinterpret_cast<PyListObject*>(result)->ob_item),
            size_t(PyList_GET_SIZE(result))};
  return {reinterpret_cast<Tensor**>(&result), 1};
}

/// Finds an op by name and overload; null if there is none.
Op* find_op(std::string_view name, std::string_view overload);
/// All ops, in the catalogue's order.
std::span<Op* const> all_ops();

}  // namespace vivace
