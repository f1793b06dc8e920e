// The graph: a Node is a Python object (collected, pooled) that holds edges to the inputs' history and what backward
// needs. An Edge to a leaf points to the tensor itself; its AccumulateGrad object exists only if somebody asks for it.
#pragma once
#include <vector>

#include "runtime/dispatch/op.h"

namespace vivace {

struct Node;

/// Where the gradient of one input goes.
class Edge {
 public:
  Edge() = default;
  Edge(Node* fn, uint32_t nr) : bits_(reinterpret_cast<uintptr_t>(fn)), nr_(nr) {}
  static Edge leaf(Tensor* t) {
    Edge e;
    e.bits_ = reinterpret_cast<uintptr_t>(t) | 1;
    return e;
  }
  explicit operator bool() const { return bits_ != 0; }
  bool is_leaf() const { return bits_ & 1; }
  Node* node() const { return reinterpret_cast<Node*>(bits_); }
  Tensor* tensor() const { return reinterpret_cast<Tensor*>(bits_ & ~uintptr_t(1)); }
  Object* object() const { return reinterpret_cast<Object*>(bits_ & ~uintptr_t(1)); }
  uint32_t nr() const { return uint32_t(nr_); }

 private:
  uintptr_t bits_ = 0;  // owned by the node that the edge is in
  uint64_t nr_ = 0;     // which output of the target
};

/// Which gradients a backward formula has to produce: bit i for edge i.
using Needs = uint64_t;

/// Computes gradients: `grads` has one entry per output of the forward op (null: undefined, which is zero), `out` one
/// per edge (new references; null stays undefined). Reads the node's saved values through `saved_tensor` and
/// `node.saved()`.
using Apply = void (*)(Node& node, Tensor* const* grads, Tensor** out, Needs needs);

enum class SaveFrom : uint8_t {
  Arg,
  Result,
  ArgSizes,
  ArgDType,
  ArgLayout,  // sizes, strides and the storage offset, in one list
};
inline constexpr uint8_t kAnyEdge = 0x80, kEveryEdge = 0xff;
struct SaveSpec {
  SaveFrom from;
  uint8_t index;  // of the argument or result
  uint8_t edges;  // bit i: the gradient of edge i is computed from it; kAnyEdge: it is needed whichever there are
};

struct NodeInfo {
  const char* name;  // "AddBackward0"
  Apply apply;
  uint8_t nedges;  // differentiable arguments; tensor lists contribute one edge per element
  uint8_t nsaves;
  uint8_t noutputs;          // of the forward op; 0: a list, its length at run time
  bool wants_zeros;          // undefined incoming gradients are materialised as zeros
  const uint8_t* edge_args;  // argument index of each edge
  const SaveSpec* saves;
  uint32_t nondiff_outputs;  // bit i: output i (indices and so on) never requires grad
  bool fixed_shape;          // every node has nedges edges and noutputs outputs: no tensor lists. Such nodes are pooled
  mutable PyTypeObject* type;  // made at first use
  mutable Node* free_list;     // freed nodes, linked through `buffer0`
  mutable int free_count;
  bool runs_always = false;  // even if no gradient arrived
  bool pointwise = false;    // `apply` works element by element: applied to tangents it gives the outputs'
  uint8_t linear = 0;        // bit i: the outputs are linear in the argument of edge i while the others stay
};

inline constexpr int kMetaDims = 4;
/// Layout of one output of the forward op; a gradient that arrives is summed, cast and checked to it.
struct OutputMeta {
  DType dtype;
  uint8_t ndim;
  Device device;
  union {
    int64_t inline_sizes[kMetaDims];
    int64_t* heap_sizes;  // ndim > kMetaDims
  };
  IntList sizes() const { return {ndim > kMetaDims ? heap_sizes : inline_sizes, ndim}; }
};

struct NodeExtra;  // hooks and what custom Functions keep

/// What the node of a custom Function has in place of `meta0`: it is the `ctx` of the user's code, with attributes.
struct FunctionPart {
  Object* dict;
  Object* weakrefs;
};

struct Node : Object {
  const NodeInfo* info;
  uint64_t sequence;  // order of creation in this process
  Object* code;       // forward line: code object of the frame that made the node (owned), and
  int32_t lasti;      //   the offset of its instruction
  uint32_t nedges;
  uint32_t noutputs;
  uint32_t nsaves;    // 0 after the saved values were released
  uint32_t capacity;  // saved values that there is room for
  bool released;
  bool standalone;    // of no graph: what was saved keeps the history that it has
  bool needed;        // in the current run
  uint64_t run;       // id of the run that claimed the fields around here
  Tensor** buffer;    // in the current run: gradients that arrived, one per output
  Tensor* buffer0;    //   used as the buffer of single-output nodes
  NodeExtra* extra;   // owned
  OutputMeta* metas;  // noutputs of them: `meta0` or owned heap memory
  union {
    OutputMeta meta0;
    FunctionPart function;
  };
  // Edges, then saved Values, follow the object.
  Edge* edges() { return reinterpret_cast<Edge*>(this + 1); }
  Value* saved() { return reinterpret_cast<Value*>(edges() + nedges); }
};

/// Owns what a saved list, string or object refers to.
void own_saved(Value& slot);
/// Saves what the k-th saved value is of an argument of the call.
void save_argument(Node& node, int k, const Value* args);
/// A saved tensor, checked against its version and, when a graph is being made, connected to its history. Throws if it
/// was modified. The engine has made sure that the values are still there.
TensorRef saved_tensor(Node& node, int k);
/// A saved list while a formula uses it.
struct SavedList {
  std::vector<TensorRef> tensors;
  operator TensorList() const { return {reinterpret_cast<Tensor* const*>(tensors.data()), tensors.size()}; }
};
/// saved_tensor for a list of tensors that get no gradient, null for None; the versions that they had stand behind the
/// list.
SavedList saved_list(Node& node, int k);
/// The k-th saved value that is no tensor.
inline const Value& saved_value(Node& node, int k) { return node.saved()[k]; }

/// Whether derivatives may work on memory, past the dispatcher: no graph is asked for, and no tensor is foreign.
inline bool may_fuse() { return !tls.grad_mode && !tls.foreign_backward; }

}  // namespace vivace
