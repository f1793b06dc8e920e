// Life of nodes: a pool by size, and frees that run from one worklist so that deep graphs need no stack.
#include "runtime/autograd/node.h"

#include <cstdlib>
#include <cstring>

#include "runtime/autograd/function_node.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/node_object.h"

namespace vivace {

PythonHooks python_hooks;

namespace {

constexpr int kStep = 64;     // bytes between size classes
constexpr int kClasses = 12;  // up to kStep * kClasses bytes are pooled
#if defined(VIVACE_NO_POOLS) || defined(Py_REF_DEBUG)
constexpr int kKeep = 0;
#else
constexpr int kKeep = 1024;
#endif
struct Pool {
  Node* items[kKeep + 1];
  int size = 0;
};
Pool pools[kClasses];

uint64_t sequence = 0;
Node* dead = nullptr;  // worklist of nodes to free, linked through `buffer0`
bool draining = false;

inline size_t node_bytes(uint32_t nedges, uint32_t nsaves) {
  return sizeof(Node) + nedges * sizeof(Edge) + nsaves * sizeof(Value);
}

void drop_edges(Node& node) {
  Edge* edges = node.edges();
  for (uint32_t i = 0; i < node.nedges; ++i) {
    Object* target = edges[i].object();
    edges[i] = Edge();
    Py_XDECREF(target);
  }
}

void destroy(Node& node) {
  release_saved(node);
  drop_edges(node);
  if (node.extra) free_node_extra(node);
  for (uint32_t i = 0; i < node.noutputs; ++i)
    if (node.metas[i].ndim > kMetaDims) std::free(node.metas[i].heap_sizes);
  if (node.metas != &node.meta0) std::free(node.metas);
  Py_XDECREF(node.code);
  const size_t c = (node_bytes(node.nedges, node.capacity) - 1) / kStep;
  PyTypeObject* type = Py_TYPE(&node);
  if (c < kClasses && pools[c].size < kKeep) {
    pools[c].items[pools[c].size++] = &node;
  } else {
    free_node(&node);
  }
  Py_DECREF(type);
}

}  // namespace

Node* new_node(const NodeInfo& info, uint32_t nedges, uint32_t nsaves, uint32_t noutputs) {
  if (!info.type) [[unlikely]]
    info.type = python_hooks.make_node_type(info);
  const size_t c = (node_bytes(nedges, nsaves) - 1) / kStep;
  Node* node;
  if (c < kClasses && pools[c].size > 0) [[likely]] {
    node = pools[c].items[--pools[c].size];
    Py_SET_TYPE(node, info.type);
    Py_INCREF(info.type);
    Py_SET_REFCNT(node, 1);
  } else {
    // tp_itemsize is 1: the type's basicsize and the payload make up the object, rounded up to its size class.
    const size_t bytes = c < kClasses ? (c + 1) * kStep : node_bytes(nedges, nsaves);
    node = allocate_node(info.type, bytes);
  }
  node->info = &info;
  node->sequence = sequence++;
  node->nedges = nedges;
  node->noutputs = noutputs;
  node->nsaves = nsaves;
  node->capacity = nsaves;
  node->released = false;
  node->run = 0;
  node->buffer = nullptr;
  node->buffer0 = nullptr;
  node->extra = nullptr;
  std::memset(static_cast<void*>(node->edges()), 0, nedges * sizeof(Edge) + nsaves * sizeof(Value));
  if (noutputs <= 1) [[likely]] {
    node->metas = &node->meta0;
    node->meta0.ndim = 0;
  } else {
    node->metas = static_cast<OutputMeta*>(std::calloc(noutputs, sizeof(OutputMeta)));
  }
  python_hooks.capture_line(&node->code, &node->lasti);
  PyObject_GC_Track(node);
  return node;
}

uint64_t next_sequence() { return sequence; }

void node_dealloc(Object* self) {
  Node* node = reinterpret_cast<Node*>(self);
  PyObject_GC_UnTrack(self);
  node->buffer0 = reinterpret_cast<Tensor*>(dead);
  dead = node;
  if (draining) return;
  draining = true;
  PyObject *type, *value, *traceback;
  const bool raised = PyErr_Occurred();  // what is freed may run Python code, which must not see the error
  if (raised) PyErr_Fetch(&type, &value, &traceback);
  while (dead) {
    Node* next = dead;
    dead = reinterpret_cast<Node*>(next->buffer0);
    destroy(*next);
  }
  if (raised) PyErr_Restore(type, value, traceback);
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
  clear_node_extra(node);
  delete node.extra->function;
  delete std::exchange(node.extra, nullptr);
}

void release_saved(Node& node) {
  Value* saved = node.saved();
  const uint32_t n = node.nsaves;
  node.nsaves = 0;  // first: freeing may run Python code that looks at this node
  node.released = true;
  for (uint32_t i = 0; i < n; ++i) {
    switch (saved[i].tag) {
      case Tag::Tensor:
      case Tag::Object:
        Py_DECREF(saved[i].object);
        break;
      case Tag::TensorList:
        for (Tensor* t : saved[i].tensor_list()) Py_XDECREF(t);
        [[fallthrough]];
      case Tag::IntList:
      case Tag::FloatList:
      case Tag::ScalarList:
      case Tag::String:
        std::free(const_cast<char*>(saved[i].chars));
        break;
      default:
        break;
    }
  }
}

void set_meta(Node& node, uint32_t nr, const Tensor& t) {
  OutputMeta& m = node.metas[nr];
  if (m.ndim > kMetaDims) std::free(m.heap_sizes);
  m.dtype = t.dtype_;
  m.device = t.device_;
  m.ndim = t.ndim_;
  int64_t* sizes = m.inline_sizes;
  if (m.ndim > kMetaDims) sizes = m.heap_sizes = static_cast<int64_t*>(std::malloc(m.ndim * sizeof(int64_t)));
  for (int d = 0; d < m.ndim; ++d) sizes[d] = t.dims_[d];
}

}  // namespace vivace
