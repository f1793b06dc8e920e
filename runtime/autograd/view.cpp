// In-place on views: the root's history becomes CopySlices, which runs the op's backward on the slice of the gradient;
// the views of the family take AsStridedBackward0 of the root when they are used next.
#include "runtime/autograd/view.h"

#include <optional>
#include <vector>

#include "generated/ops/factory/convert.h"
#include "generated/ops/factory/fresh.h"
#include "generated/ops/view/regroup.h"
#include "runtime/autograd/explain.h"
#include "runtime/autograd/formulas/view.h"
#include "runtime/autograd/grad.h"
#include "runtime/autograd/hooks.h"
#include "runtime/autograd/layers.h"
#include "runtime/autograd/node_object.h"
#include "runtime/autograd/rebase.h"
#include "runtime/autograd/tangent.h"
#include "runtime/core/tensor_object.h"

namespace vivace {
namespace {

/// Sizes and strides are saved as an IntList each, the offset as an int; then the dtype.
struct Geometry {
  IntList sizes, strides;
  int64_t offset;
  DType dtype;
};
constexpr int kGeometrySaves = 4;

void save_geometry(Node& node, int at, const Geometry& g) {
  node.saved()[at] = Value::of(g.sizes);
  node.saved()[at + 1] = Value::of(g.strides);
  own_saved(node.saved()[at]);
  own_saved(node.saved()[at + 1]);
  node.saved()[at + 2] = Value::of(g.offset);
  node.saved()[at + 3] = Value::of(g.dtype);
}

Geometry geometry_of(const Tensor& t) { return {t.sizes(), t.strides(), t.storage_offset(), t.dtype()}; }

Geometry saved_geometry(Node& node, int at) {
  const Value* v = node.saved() + at;
  return {v[0].int_list(), v[1].int_list(), v[2].i, v[3].dtype()};
}

/// A geometry of complex numbers as that of pairs of real ones. Others stay.
struct RealGeometry {
  Dims sizes, strides;
  int64_t offset;

  explicit RealGeometry(const Geometry& g) : sizes(g.sizes), strides(g.strides), offset(g.offset) {
    if (!is_complex(g.dtype)) return;
    for (int d = 0; d < strides.n; ++d) strides[d] *= 2;
    sizes.push(2);
    strides.push(1);
    offset *= 2;
  }
};

/// Whether memory of one dtype is looked at as real and as complex numbers.
bool is_part(DType a, DType b) { return is_complex(a) != is_complex(b) && real_of(a) == real_of(b); }

TensorRef in_real_numbers(Tensor& t) { return is_complex(t.dtype()) ? ops::view_as_real(t) : TensorRef::share(&t); }
TensorRef in_numbers_of(DType dtype, Tensor& real) {
  return is_complex(dtype) ? ops::view_as_complex(real) : TensorRef::share(&real);
}

/// The part of a root's gradient that belongs to a view; of another dtype, by way of real numbers.
TensorRef slice_of(Tensor& whole, const Geometry& base, const Geometry& view) {
  if (base.dtype == view.dtype)
    return ops::as_strided(whole, view.sizes, view.strides, whole.storage_offset() + view.offset - base.offset);
  const RealGeometry from(base), to(view);
  const TensorRef parts = in_real_numbers(whole);
  return in_numbers_of(
      view.dtype, *ops::as_strided(*parts, to.sizes, to.strides, parts->storage_offset() + to.offset - from.offset));
}

void as_strided_apply(Node& node, Tensor* const* grads, Tensor** out, Needs) {
  const Geometry base = saved_geometry(node, 0), view = saved_geometry(node, kGeometrySaves);
  if (base.dtype == view.dtype) {
    out[0] = formulas::as_strided_backward(*grads[0], base.sizes, base.strides, base.offset, view.sizes, view.strides,
                                           view.offset)
                 .release();
    return;
  }
  const RealGeometry to(base), from(view);
  const TensorRef g = in_real_numbers(*grads[0]);
  out[0] = in_numbers_of(base.dtype, *formulas::as_strided_backward(*g, to.sizes, to.strides, to.offset, from.sizes,
                                                                    from.strides, from.offset))
               .release();
}

const NodeInfo as_strided_info = {.name = "AsStridedBackward0",
                                  .apply = as_strided_apply,
                                  .nedges = 1,
                                  .nsaves = 2 * kGeometrySaves,
                                  .noutputs = 1,
                                  .fixed_shape = true};

/// Whether the first edge of an in-place op's node leads to self as it was before; else self was overwritten.
bool passes_to_self(const Node& node) { return node.info->nedges > 0 && node.info->edge_args[0] == 0; }

/// A node from `root`, an edge that is shared, to a view of it that is laid out like t.
Ref<Node> as_strided_node(const Edge& root, const Geometry& base, const Geometry& view, const Tensor& t) {
  auto node = Ref<Node>::steal(new_node(as_strided_info, 1, 2 * kGeometrySaves, 1));
  node->edges()[0] = root;
  Py_XINCREF(root.object());
  save_geometry(*node, 0, base);
  save_geometry(*node, kGeometrySaves, view);
  set_meta(*node, 0, t);
  return node;
}

/// While a graph is made of an in-place op's derivative: what it saved of self is connected to the root as it was.
class SelfBefore {
 public:
  SelfBefore(Node& function, Ref<Node> view) : edge_(function.edges()[0]), view_(std::move(view)) {
    edge_ = Edge(view_.get(), 0);
  }
  ~SelfBefore() { edge_ = Edge(); }
  SelfBefore(const SelfBefore&) = delete;

 private:
  Edge& edge_;
  Ref<Node> view_;
};

/// The same for what it saved of its result: that is a slice of the root as it became.
class SelfAfter {
 public:
  SelfAfter(const Node& function, Ref<Node> view) : view_(std::move(view)), before_(written_slice) {
    written_slice = {&function, Edge(view_.get(), 0)};
  }
  ~SelfAfter() { written_slice = before_; }
  SelfAfter(const SelfAfter&) = delete;

 private:
  Ref<Node> view_;
  WrittenSlice before_;
};

constexpr int kFunction = 2 * kGeometrySaves;  // the saved value that holds the op's own node

void copy_slices_apply(Node& node, Tensor* const* grads, Tensor** out, Needs needs) {
  const Geometry base = saved_geometry(node, 0), view = saved_geometry(node, kGeometrySaves);
  Node& function = *reinterpret_cast<Node*>(node.saved()[kFunction].object);
  Tensor& g = *grads[0];
  TensorRef whole = is_foreign(g.keys) ? ops::new_empty_strided(g, base.sizes, base.strides)
                                       : empty_strided(base.sizes, base.strides, g.dtype(), g.device());
  ops::copy_(*whole, g, false);
  TensorRef slice;
  {
    const GradModeGuard no_grad(false);
    slice = slice_of(*whole, base, view);
    slice->origin = ViewOrigin::Recorded;
  }
  if (whole->requires_grad()) regenerate_view(*slice);  // by geometry: nothing is saved that the copy below changes
  TensorRef slice_grad = ops::clone(*slice, std::nullopt);
  Tensor* incoming[] = {slice_grad.get()};
  const bool through = passes_to_self(function);
  // Behind edge 0, which goes to the root, stand the function's edges but the one to self.
  TensorRef inner;
  std::vector<TensorRef> results(function.nedges + 1);
  std::optional<SelfBefore> self_before;
  if (through && tls.grad_mode && node.edges()[0])
    self_before.emplace(function, as_strided_node(node.edges()[0], base, view, *slice_grad));
  std::optional<SelfAfter> self_after;
  if (tls.grad_mode) self_after.emplace(function, as_strided_node(Edge(&node, 0), base, view, *slice_grad));
  function.info->apply(function, incoming, reinterpret_cast<Tensor**>(results.data()),
                       through ? needs | 1 : needs >> 1);
  if (through) inner = std::move(results[0]);
  for (uint32_t i = through; i < function.nedges; ++i) out[1 + i - through] = results[i].release();
  if (inner)
    ops::copy_(*slice, *inner, false);
  else
    ops::zero_(*slice);
  out[0] = whole.release();
}

const NodeInfo copy_slices_info = {
    .name = "CopySlices", .apply = copy_slices_apply, .nsaves = kFunction + 1, .noutputs = 1};

}  // namespace

void regenerate_view(Tensor& t) {
  Tensor& root = *t.base;
  if (t.origin != ViewOrigin::Recorded && (t.grad_fn || root.requires_grad())) [[unlikely]]
    refuse_view(t, true);
  t.epoch = root.epoch;
  if (!root.requires_grad()) {
    Node* old = std::exchange(t.grad_fn, nullptr);
    t.keys &= ~bit(Key::Autograd);
    Py_XDECREF(old);
    return;
  }
  if (t.dtype() != root.dtype() && !is_part(t.dtype(), root.dtype()))
    fail("a view of dtype ", t.dtype(), " of a tensor of dtype ", root.dtype(),
         " can't be used after the tensor was changed in place with gradients recorded; take the view again");
  const Edge edge = make_edge(&root);
  const auto owner = Ref<Object>::steal(edge.object());
  set_history(t, *as_strided_node(edge, geometry_of(root), geometry_of(t), t), 0);
}

TensorRef part_of_root(Tensor& whole, const Tensor& view) {
  return slice_of(whole, geometry_of(*view.base), geometry_of(view));
}

Node* written_by(Node& node) {
  return node.info == &copy_slices_info && node.nsaves ? reinterpret_cast<Node*>(node.saved()[kFunction].object)
                                                       : nullptr;
}

void refuse_view(const Tensor& t, bool indirectly) {
  const char* what = indirectly ? "its base or another view of its base has been" : "is being";
  const std::string output =
      t.grad_fn ? str("Output ", t.output_nr, " of ", forward_name(*t.grad_fn), " is a view") : "";
  const std::string made = t.grad_fn ? str(" (it is an output of ", describe(*t.grad_fn), ")") : "";
  const std::string subject = output.empty() ? "A view " : output + " and ";
  const std::string unrecorded = output.empty() ? "A view was created" : output + " of a view which was created";
  const auto ambiguous = [](const char* mode) {
    return str(
        " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
        "both the view and the inplace either both inside the ",
        mode,
        " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
        "tracked).");
  };
  switch (t.origin) {
    case ViewOrigin::WithoutGrad:
      fail(unrecorded, " in no_grad mode and ", what, " modified inplace with grad mode enabled.", ambiguous("no_grad"),
           made);
    case ViewOrigin::Inference:
      fail(unrecorded, " in inference mode and ", what, " modified inplace in normal mode.",
           ambiguous("inference_mode"), made);
    case ViewOrigin::OneOfSeveral:
      fail(subject, what,
           " modified inplace. This view is the output of a function that returns multiple views. Such functions do "
           "not allow the output views to be modified inplace. You should replace the inplace operation by an "
           "out-of-place one.",
           made);
    default:
      fail(subject, what,
           " modified inplace. This view was created inside a custom Function (or because an input was returned as-is) "
           "and the autograd logic to handle view+inplace would override the custom backward associated with the "
           "custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning "
           "the output of the custom Function.",
           made);
  }
}

void rebase_history(Tensor& self, Node& node, uint32_t nr) {
  Node* const before = self.grad_fn;
  const auto owner_before = Ref<Node>::share(before);
  const uint32_t nr_before = self.output_nr;
  if (!self.base) {
    set_history(self, node, nr);
    ++self.epoch;
    if (before && self.extra && self.extra->retains_grad) [[unlikely]]
      move_retain_hook(*before, nr_before, node, nr);
    return;
  }
  set_meta(node, 0, self);
  Tensor& root = *self.base;
  if (self.dtype() != root.dtype() && !is_part(self.dtype(), root.dtype()))
    fail("in-place operations with gradients on a view of dtype ", self.dtype(), " of a tensor of dtype ", root.dtype(),
         " are not supported; work on a copy");
  const uint32_t skip = passes_to_self(node), others = node.nedges - skip;
  Node* slices = new_node(copy_slices_info, 1 + others, kFunction + 1, 1);
  auto owner = Ref<Node>::steal(slices);
  slices->edges()[0] = make_edge(&root);
  for (uint32_t i = 0; i < others; ++i) {
    slices->edges()[1 + i] = node.edges()[skip + i];
    Py_XINCREF(node.edges()[skip + i].object());
  }
  if (skip) {  // the way to self leads through the root; this one might lead back here
    const auto unused = Ref<Object>::steal(node.edges()[0].object());
    node.edges()[0] = Edge();
  }
  save_geometry(*slices, 0, geometry_of(root));
  save_geometry(*slices, kGeometrySaves, geometry_of(self));
  Value& function = slices->saved()[kFunction];
  function.tag = Tag::Object;
  function.object = &node;
  Py_INCREF(&node);
  Node* const root_before = root.grad_fn;
  const auto owner_root = Ref<Node>::share(root_before);
  const uint32_t root_nr = root.output_nr;
  set_history(root, *slices, 0);
  ++root.epoch;
  regenerate_view(self);
  if (root_before && root.extra && root.extra->retains_grad) [[unlikely]]
    move_retain_hook(*root_before, root_nr, *slices, 0);
  if (before && self.extra && self.extra->retains_grad) [[unlikely]]
    move_retain_hook(*before, nr_before, *self.grad_fn, self.output_nr);
}

void adopt_view(Tensor& v, Tensor& t, bool detached) {
  Tensor* const root = t.base ? t.base : &t;
  if (v.base || v.grad_fn || &v == root || &v == &t) return;
  if (v.keys & t.keys & bit(Key::NoData)) {  // what they share is the version, which writes to either raise
    v.data_ = t.storage_->data + v.storage_offset() * int64_t(v.item_size());
    retain(t.storage_);
    release(std::exchange(v.storage_, t.storage_));
    v.version_ = t.version_;
    if (t.extra && t.extra->own_version) adopt_version(v, t);
  }
  if (detached) return;
  v.base = static_cast<Tensor*>(Py_NewRef(root));
  v.origin = tls.grad_mode ? t.origin : ViewOrigin::WithoutGrad;
  v.epoch = root->epoch;
  v.keys |= bit(Key::View);
  track(v);
}

Object* view_kernel(const Op& op, KeySet keys, Value* args) {
  KeySet found = 0;
  bool lacking = false;  // tangents
  // A write through a view is a write to its root, also through one that requires no grad for being made without.
  const KeySet of_root = bit(Key::Watched) | (op.op_class == OpClass::InPlace ? bit(Key::Autograd) : 0);
  for (uint32_t m = op.tensor_args; m; m &= m - 1) {
    if (Tensor* t = args[__builtin_ctz(m)].tensor) {
      sync_view(*t);
      found |= t->keys | (t->base ? t->base->keys & of_root : 0);
      lacking |= lacks_tangents(*t);
    }
  }
  for (uint32_t m = op.list_args; m; m &= m - 1) {
    for (Tensor* t : args[__builtin_ctz(m)].tensor_list()) {
      if (!t) continue;
      sync_view(*t);
      found |= t->keys | (t->base ? t->base->keys & of_root : 0);
      lacking |= lacks_tangents(*t);
    }
  }
  if (lacking && op.table.keys & ~tls.exclude & bit(Key::ForwardAD)) [[unlikely]]
    return forward_kernel(op, keys | bit(Key::ForwardAD), args);
  return redispatch(op, (keys | (found & ~tls.exclude)) & below(Key::View), args);
}

}  // namespace vivace
