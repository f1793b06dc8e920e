// Life of nodes: free lists by kind, and frees that run from one worklist so that deep graphs need no stack.
#include "runtime/autograd/node.h"

#include <cstdlib>
#include <cstring>

#include "runtime/autograd/function_node.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/node_object.h"

namespace vivace {

PythonHooks python_hooks;

namespace {

#if defined(VIVACE_NO_POOLS) || defined(Py_REF_DEBUG)
constexpr int kKeep = 0;
#else
constexpr int kKeep = 512;  // nodes kept per kind
#endif

uint64_t sequence = 0;
Node* dead = nullptr;  // worklist of nodes to free, linked through `buffer0`
bool draining = false;

inline size_t node_bytes(uint32_t nedges, uint32_t nsaves) {
  return sizeof(Node) + nedges * sizeof(Edge) + nsaves * sizeof(Value);
}

inline void drop_edges(Node& node) {
  Edge* edges = node.edges();
  for (uint32_t i = 0; i < node.nedges; ++i) {
    Object* target = edges[i].object();
    edges[i] = Edge();
    Py_XDECREF(target);
  }
}

/// Gives up what a saved list, string or object refers to.
[[gnu::noinline]] void disown(Value& v, Tag tag) {
  switch (tag) {
    case Tag::Object:
      Py_DECREF(v.object);
      break;
    case Tag::TensorList:
      for (Tensor* t : v.tensor_list()) Py_XDECREF(t);
      [[fallthrough]];
    case Tag::IntList:
    case Tag::FloatList:
    case Tag::ScalarList:
    case Tag::String:
      std::free(const_cast<char*>(v.chars));
      break;
    default:
      break;
  }
}

inline void drop_saved(Node& node) {
  Value* saved = node.saved();
  const uint32_t n = node.nsaves;
  node.nsaves = 0;  // first: freeing may run Python code that looks at this node
  node.released = true;
  for (uint32_t i = 0; i < n; ++i) {
    const Tag tag = saved[i].tag;
    saved[i].tag = Tag::None;
    if (tag == Tag::Tensor)
      Py_DECREF(saved[i].tensor);
    else if (tag > Tag::Tensor) [[unlikely]]
      disown(saved[i], tag);
  }
}

/// Frees what the node holds. A pooled node keeps its type, shape and layouts, and is null elsewhere.
inline void destroy(Node& node) {
  drop_saved(node);
  drop_edges(node);
  if (node.extra) [[unlikely]]
    free_node_extra(node);
  Py_XDECREF(node.code);
  const NodeInfo& info = *node.info;
  if (info.fixed_shape && info.free_count < kKeep) [[likely]] {
    node.buffer0 = reinterpret_cast<Tensor*>(info.free_list);
    info.free_list = &node;
    ++info.free_count;
    return;
  }
  for (uint32_t i = 0; i < node.noutputs; ++i)
    if (node.metas[i].ndim > kMetaDims) std::free(node.metas[i].heap_sizes);
  if (node.metas != &node.meta0) std::free(node.metas);
  PyTypeObject* type = Py_TYPE(&node);
  free_node(&node);
  Py_DECREF(type);
}

/// A new node with everything null.
[[gnu::noinline]] Node* blank_node(const NodeInfo& info, uint32_t nedges, uint32_t nsaves, uint32_t noutputs) {
  if (!info.type) info.type = python_hooks.make_node_type(info);
  const size_t bytes = node_bytes(nedges, nsaves);
  Node* node = allocate_node(info.type, bytes);
  std::memset(reinterpret_cast<char*>(node) + sizeof(Object), 0, bytes - sizeof(Object));
  node->info = &info;
  node->nedges = nedges;
  node->noutputs = noutputs;
  node->capacity = nsaves;
  node->metas = noutputs <= 1 ? &node->meta0 : static_cast<OutputMeta*>(std::calloc(noutputs, sizeof(OutputMeta)));
  return node;
}

}  // namespace

Node* new_node(const NodeInfo& info, uint32_t nedges, uint32_t nsaves, uint32_t noutputs) {
  Node* node = info.free_list;
  if (node) [[likely]] {
    info.free_list = reinterpret_cast<Node*>(node->buffer0);
    --info.free_count;
    node->buffer0 = nullptr;
    node->released = false;
    Py_SET_REFCNT(node, 1);
  } else {
    node = blank_node(info, nedges, nsaves, noutputs);
  }
  node->nsaves = nsaves;
  node->sequence = sequence++;
  python_hooks.capture_line(&node->code, &node->lasti);
  track_new(node);
  return node;
}

uint64_t next_sequence() { return sequence; }

void node_dealloc(Object* self) {
  Node* node = reinterpret_cast<Node*>(self);
  if (is_tracked(self)) untrack(self);
  node->buffer0 = reinterpret_cast<Tensor*>(dead);
  dead = node;
  if (draining) return;
  draining = true;
  while (dead) {
    Node* next = dead;
    dead = reinterpret_cast<Node*>(next->buffer0);
    destroy(*next);
  }
  draining = false;
}

int node_traverse(Object* self, visitproc visit, void* arg) {
  Node& node = *reinterpret_cast<Node*>(self);
  Py_VISIT(Py_TYPE(self));
  for (uint32_t i = 0; i < node.nedges; ++i) Py_VISIT(node.edges()[i].object());
  for (uint32_t i = 0; i < node.nsaves; ++i) {
    const Value& v = node.saved()[i];
    if (v.tag == Tag::Tensor || v.tag == Tag::Object) Py_VISIT(v.object);
    if (v.tag == Tag::TensorList)
      for (Tensor* t : v.tensor_list()) Py_VISIT(t);
  }
  return node.extra ? traverse_node_extra(node, visit, arg) : 0;
}

int node_clear(Object* self) {
  Node& node = *reinterpret_cast<Node*>(self);
  release_saved(node);
  drop_edges(node);
  if (node.extra) clear_node_extra(node);
  return 0;
}

NodeExtra& node_extra(Node& node) {
  if (!node.extra) node.extra = new NodeExtra;
  return *node.extra;
}

int traverse_node_extra(Node& node, visitproc visit, void* arg) {
  const NodeExtra& e = *node.extra;
  for (Object* o : {e.tensor_hooks, e.retain_hooks, e.pre_hooks, e.post_hooks, e.metadata}) Py_VISIT(o);
  return e.function ? traverse_function(node, visit, arg) : 0;
}

void clear_node_extra(Node& node) {
  NodeExtra& e = *node.extra;
  for (Object** o : {&e.tensor_hooks, &e.retain_hooks, &e.pre_hooks, &e.post_hooks, &e.metadata}) Py_CLEAR(*o);
  if (e.function) clear_function(node);
}

void free_node_extra(Node& node) {
  PyObject *type, *value, *traceback;
  const bool raised = PyErr_Occurred();  // what is freed may run Python code, which must not see the error
  if (raised) PyErr_Fetch(&type, &value, &traceback);
  clear_node_extra(node);
  delete node.extra->function;
  delete std::exchange(node.extra, nullptr);
  if (raised) PyErr_Restore(type, value, traceback);
}

void release_saved(Node& node) { drop_saved(node); }

int64_t* heap_sizes(OutputMeta& m, const Tensor& t) {
  if (m.ndim > kMetaDims) std::free(m.heap_sizes);
  if (t.ndim_ <= kMetaDims) return m.inline_sizes;
  return m.heap_sizes = static_cast<int64_t*>(std::malloc(t.ndim_ * sizeof(int64_t)));
}

}  // namespace vivace
