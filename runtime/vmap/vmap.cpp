// What operators do with batched tensors. The innermost vmap among the arguments takes its tensors apart, calls the
// operator on the physical ones, and makes the results batched again; autograd and everything else happens there.
//
// `places` of a rule says how, by a letter for each argument:
//   .  given as it is; a tensor here must not be batched
//   p  operand of a pointwise operator: sizes are filled up with ones behind the batch, so that broadcasting aligns
//   q  the same, but without a say in the result's dtype
//   f  a batched tensor's physical one, another as it is
//   e  the same, another is expanded over the samples
//   c  the same for cat's list: what has no elements in one dim goes with tensors of any rank, and is left out
//   d  dims of the first tensor
//   D  the same, none stands for all
//   n  dims of the first tensor with one more
//   r  all dims in a new order
//   s  sizes of a result
//   x  sizes to expand to
#include "runtime/vmap/batched.h"

#include <algorithm>
#include <unordered_map>

#include "generated/ops/factory/convert.h"
#include "generated/ops/index/join.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "runtime/core/promote.h"
#include "runtime/dispatch/arguments.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/dispatch/generic.h"
#include "runtime/loop/pointwise.h"

namespace vivace {

VmapHooks vmap_hooks;

namespace {

auto& rules = *new std::unordered_map<const Op*, VmapRule>;  // they hold objects, which must not outlive Python

bool is_pointwise(const Op& op) { return op.table.kernels[int(Key::Meta)] == pointwise_meta; }

std::string pointwise_places(const Op& op) {
  std::string places(op.nargs, '.');
  const auto& info = *static_cast<const PointwiseInfo*>((op.functional ? op.functional : &op)->data);
  for (int k = 0; k < info.noperands; ++k) {
    const size_t i = info.operands[k];
    if (i < places.size()) places[i] = info.followers >> k & 1 ? 'q' : 'p';
  }
  for (int i = 0; i < op.nargs; ++i)
    if (places[size_t(i)] == '.' && op.tensor_args >> i & 1) places[size_t(i)] = 'q';
  return places;
}

const VmapRule& rule_of(const Op& op) {
  const auto found = rules.find(&op);
  if (found != rules.end()) return found->second;
  VmapRule rule = vmap_hooks.find_rule(op);
  if (rule.kind == VmapRule::Loop && is_pointwise(op)) {
    rule.kind = VmapRule::Places;
    rule.places = pointwise_places(op);
  } else if (rule.kind == VmapRule::Loop && op.op_class == OpClass::InPlace && op.functional) {
    rule.kind = VmapRule::Functional;
  }
  return rules.emplace(&op, std::move(rule)).first->second;
}

bool is_of(const Tensor& t, int level) { return is_batched(t) && batch_of(t).level == level; }

/// A result of the operator on physical tensors, as the caller gets it. The first dim of each is the batch.
Object* wrap_results(const Op& op, Object* result, int level, bool squeeze) {
  auto owned = Ref<Object>::steal(result);
  const int64_t size = vmap_level(level).size;
  for (Tensor*& slot : result_tensors(result)) {
    auto* object = static_cast<Object*>(slot);
    if (object == Py_None) continue;
    if (!is_tensor(object)) fail("vmap: ", op.name, " gives a value of all samples, not one for each");
    TensorRef t = TensorRef::share(slot);
    if (squeeze && t->dim() == 2) t = ops::squeeze_dim(*t, 1);
    if (t->numel() == 0 && size != 0 && (t->dim() == 0 || t->sizes()[0] != size)) continue;  // stands for no result
    if (t->dim() == 0 || t->sizes()[0] != size) fail("vmap: the rule of ", op.name, " lost the samples");
    TensorRef wrapped = batched(std::move(t), level);
    if (object == owned.get()) return wrapped.release();
    Tensor* old = std::exchange(slot, wrapped.release());
    Py_DECREF(static_cast<Object*>(old));
  }
  return owned.release();
}

/// The arguments of a call on physical tensors, and what they refer to.
class Physical {
 public:
  Value values[32];

  Physical(const Op& op, const Value* args, int level) : op_(op), level_(level), size_(vmap_level(level).size) {
    std::copy_n(args, op.nargs, values);
  }

  /// False if an argument marked '.' is batched.
  bool place(std::string_view places) {
    if (places[0] == 'c') leave_out_empty(values[0]);
    const Tensor* first = first_tensor();
    const int64_t rank = !first ? 0 : is_of(*first, level_) ? batch_of(*first).physical->dim() - 1 : first->dim();
    const bool wants_dim = places.find_first_of("dD") != places.npos;
    inserted_ = wants_dim && rank == 0;
    const bool pointwise = places.find_first_of("pq") != places.npos;
    if (pointwise) measure(places);
    for (int i = 0; i < op_.nargs; ++i) {
      Value& v = values[i];
      switch (places[size_t(i)]) {
        case '.':
          if (has_batched(v)) return false;
          break;
        case 'd':
        case 'D':
          v = moved_dims(v, rank, places[size_t(i)] == 'D');
          break;
        case 'n':
          v = moved_dims(v, rank + 1, false);
          break;
        case 'r':
          v = permutation(v, rank);
          break;
        case 's':
          v = sizes(v, *first);
          break;
        case 'x':
          values[0] = Value::of(keep(aligned(*values[0].tensor, v.count + 1)));
          v = prefixed(v, size_);
          break;
        default:
          place_tensors(v, places[size_t(i)]);
      }
    }
    return true;
  }

  bool inserted() const { return inserted_; }

 private:
  const Op& op_;
  int level_;
  int64_t size_;
  bool inserted_ = false;
  int64_t rank_ = 0;    // of the largest operand, without the batch
  bool casts_ = false;  // to common_
  DType common_ = DType::Float32;
  std::vector<TensorRef> kept_;
  std::vector<std::vector<Tensor*>> lists_;
  Dims ints_[3];
  int nints_ = 0;

  Tensor* keep(TensorRef t) {
    kept_.push_back(std::move(t));
    return kept_.back().get();
  }

  const Tensor* first_tensor() const {
    const Tensor* first = nullptr;
    for_each_tensor(op_, values, [&](const Tensor& t, int) { first = first ? first : &t; });
    return first;
  }

  bool has_batched(const Value& v) const {
    if (v.tag == Tag::Tensor) return v.tensor && is_of(*v.tensor, level_);
    if (v.tag != Tag::TensorList) return false;
    return std::ranges::any_of(v.tensor_list(), [&](const Tensor* t) { return t && is_of(*t, level_); });
  }

  /// Of a pointwise call: the rank, and the dtype that samples promote to where the batch would have its say.
  void measure(std::string_view places) {
    ResultType type;
    bool scalar_sample = false;
    for (int i = 0; i < op_.nargs; ++i) {
      const Value& v = values[i];
      const char place = places[size_t(i)];
      if (place != 'p' && place != 'q') continue;
      if (v.tag == Tag::Tensor && v.tensor) {
        rank_ = std::max(rank_, v.tensor->dim());
        if (place == 'q') continue;
        type.add(*v.tensor);
        scalar_sample |= v.tensor->dim() == 0 && is_of(*v.tensor, level_);
      } else if (v.tag >= Tag::Bool && v.tag <= Tag::Complex && place == 'p') {
        type.add(v.scalar());
      }
    }
    casts_ = scalar_sample;
    if (casts_) common_ = type.dtype();
  }

  /// A physical tensor with ones behind the batch, so that it has this many dims.
  static TensorRef aligned(Tensor& t, int64_t dims) {
    TensorRef out = TensorRef::share(&t);
    while (out->dim() < dims) out = ops::unsqueeze(*out, 1);
    return out;
  }

  Tensor* placed(Tensor& t, char place) {
    const bool mine = is_of(t, level_);
    Tensor* physical = mine ? batch_of(t).physical.get() : &t;
    switch (place) {
      case 'p':
      case 'q': {
        if (!mine) return physical;
        if (place == 'p' && casts_ && rank_ > 0 && t.dim() == 0 && physical->dtype() != common_)
          physical = keep(ops::_to_copy(*physical, common_));
        return physical->dim() == rank_ + 1 ? physical : keep(aligned(*physical, rank_ + 1));
      }
      case 'c':
      case 'e':
        if (!mine) {
          Dims wide{size_};
          for (const int64_t s : t.sizes()) wide.push(s);
          physical = keep(ops::expand(t, wide, false));
        }
        break;
      default:
        break;
    }
    if (inserted_ && (mine || place != 'f') && physical->dim() == 1) physical = keep(ops::unsqueeze(*physical, 1));
    return physical;
  }

  void leave_out_empty(Value& v) {
    std::vector<Tensor*> list;
    for (Tensor* t : v.tensor_list())
      if (t->dim() != 1 || t->numel() != 0) list.push_back(t);
    if (list.empty() || list.size() == size_t(v.count)) return;
    lists_.push_back(std::move(list));
    v = Value::of(TensorList(lists_.back()));
  }

  void place_tensors(Value& v, char place) {
    if (v.tag == Tag::Tensor && v.tensor) v = Value::of(placed(*v.tensor, place));
    if (v.tag != Tag::TensorList) return;
    lists_.emplace_back();
    std::vector<Tensor*>& list = lists_.back();
    for (Tensor* t : v.tensor_list()) list.push_back(t ? placed(*t, place) : nullptr);
    v = Value::of(TensorList(list));
  }

  Dims& ints() { return ints_[nints_++]; }

  Value moved_dims(const Value& v, int64_t rank, bool none_is_all) {
    if (v.tag == Tag::Int) return Value::of(wrap_dim(v.i, rank) + 1);
    const bool none = v.tag == Tag::None || v.count == 0;
    if (none && !none_is_all) return v;
    Dims& dims = ints();
    if (none)
      for (int64_t d = 0; d < std::max<int64_t>(rank, 1); ++d) dims.push(d + 1);
    else
      for (const int64_t d : v.int_list()) dims.push(wrap_dim(d, rank) + 1);
    return Value::of(IntList(dims));
  }

  Value permutation(const Value& v, int64_t rank) {
    Dims& dims = ints();
    dims.push(0);
    for (const int64_t d : v.int_list()) dims.push(wrap_dim(d, rank) + 1);
    return Value::of(IntList(dims));
  }

  Value prefixed(const Value& v, int64_t first) {
    Dims& dims = ints();
    dims.push(first);
    for (const int64_t s : v.int_list()) dims.push(s);
    return Value::of(IntList(dims));
  }

  /// Sizes of a result with as many elements as the first tensor has: one of them may be -1.
  Value sizes(const Value& v, const Tensor& first) {
    Value out = prefixed(v, size_);
    if (size_ != 0) return out;
    Dims& dims = ints_[nints_ - 1];
    int64_t rest = 1;
    for (const int64_t s : v.int_list()) rest *= s == -1 ? 1 : s;
    for (int64_t& s : dims)
      if (s == -1) s = rest == 0 ? 0 : first.numel() / rest;
    return out;
  }
};

[[noreturn]] void refuse_in_place(const Op& op) {
  const std::string name =
      is_pointwise(op) || op.name == std::string_view("copy_") ? "inplace arithmetic" : str("aten::", op.name);
  fail("vmap: ", name,
       "(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements "
       "than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. "
       "Please try to use out-of-place operators instead of ",
       name, ". If said operator is being called inside the PyTorch framework, please file a bug report instead.");
}

/// Calls op on samples one by one.
Object* loop(const Op& op, int level, Value* args) {
  const int64_t size = vmap_level(level).size;
  if (op.op_class == OpClass::Out || op.op_class == OpClass::View)
    fail("Batching rule not implemented for aten::", op.name, *op.overload ? "." : "", op.overload,
         "; the fallback path doesn't work on out= or view ops.");
  if (op.nreturns == 0 && op.op_class == OpClass::Plain &&
      std::string_view(op.schema).find("-> Tensor") == std::string_view::npos)
    fail("Batching rule not implemented for aten::", op.name, *op.overload ? "." : "", op.overload,
         ". We could not generate a fallback.");
  if (size == 0) fail("The fallback path does not support vmap over dims of size 0");
  warn(str("There is a performance drop because we have not yet implemented the batching rule for aten::", op.name,
           *op.overload ? "." : "", op.overload,
           ". Please file us an issue on GitHub so that we can prioritize its implementation.")
           .c_str());
  std::vector<std::vector<TensorRef>> columns;  // of each result its samples
  bool is_tuple = false, is_list = false;
  for (int64_t i = 0; i < size; ++i) {
    std::vector<TensorRef> kept;
    std::vector<std::vector<Tensor*>> lists;
    auto sample = [&](Tensor* t) {
      if (!t || !is_of(*t, level)) return t;
      kept.push_back(ops::select_int(*batch_of(*t).physical, 0, i));
      return kept.back().get();
    };
    Value values[32];
    for (int a = 0; a < op.nargs; ++a) {
      values[a] = args[a];
      if (args[a].tag == Tag::Tensor) values[a].tensor = sample(args[a].tensor);
      if (args[a].tag != Tag::TensorList) continue;
      lists.emplace_back();
      for (Tensor* t : args[a].tensor_list()) lists.back().push_back(sample(t));
      values[a] = Value::of(TensorList(lists.back()));
    }
    Object* result = dispatch(op, gather_keys(op, values), values);
    const auto owned = Ref<Object>::steal(result);
    if (op.op_class == OpClass::InPlace) continue;
    is_tuple = PyTuple_Check(result);
    is_list = PyList_Check(result);
    const std::span<Tensor*> tensors = result_tensors(result);
    columns.resize(tensors.size());
    for (size_t k = 0; k < tensors.size(); ++k)
      if (static_cast<Object*>(tensors[k]) != Py_None) columns[k].push_back(TensorRef::share(tensors[k]));
  }
  if (op.op_class == OpClass::InPlace) return Py_NewRef(static_cast<Object*>(args[0].tensor));
  std::vector<Ref<Object>> results;
  for (const std::vector<TensorRef>& column : columns) {
    std::vector<Tensor*> raw;
    for (const TensorRef& t : column) raw.push_back(t.get());
    results.push_back(raw.empty() ? Ref<Object>::share(Py_None)
                                  : Ref<Object>::steal(batched(ops::stack(raw, 0), level).release()));
  }
  if (!is_tuple && !is_list) return results.at(0).release();
  const auto n = Py_ssize_t(results.size());
  Object* out = is_tuple ? PyTuple_New(n) : PyList_New(n);
  if (!out) throw PythonError{};
  for (Py_ssize_t k = 0; k < n; ++k) {
    Object* item = results[size_t(k)].release();
    if (is_tuple)
      PyTuple_SET_ITEM(out, k, item);
    else
      PyList_SET_ITEM(out, k, item);
  }
  return out;
}

/// The operator itself on physical tensors; null if the rule's letters don't cover this call.
Object* call_placed(const Op& op, std::string_view places, int level, Value* args) {
  Physical physical(op, args, level);
  {
    const VmapDepth outer(level - 1);
    if (!physical.place(places)) return nullptr;
    Ref<Object> result = Ref<Object>::steal(dispatch(op, gather_keys(op, physical.values), physical.values));
    if (op.op_class != OpClass::InPlace) return wrap_results(op, result.release(), level, physical.inserted());
  }
  refresh_layout(*args[0].tensor);
  return Py_NewRef(static_cast<Object*>(args[0].tensor));
}

}  // namespace

int innermost_level(const Op& op, const Value* args) {
  int level = 0;
  for_each_tensor(op, args, [&](const Tensor& t, int) { level = std::max(level, level_of(t)); });
  return level;
}

void forget_vmap_rule(const Op& op) { rules.erase(&op); }

Object* vmap_kernel(const Op& op, KeySet keys, Value* args) {
  int level = innermost_level(op, args);
  const VmapRule& rule = rule_of(op);
  if (level == 0) {
    if (!rule.is_random) return redispatch(op, keys & below(Key::Vmap), args);
    level = VmapDepth::now();
  }
  if (op.op_class == OpClass::Out) return loop(op, level, args);  // which refuses
  if (op.op_class == OpClass::InPlace && !is_of(*args[0].tensor, level) && !rule.is_random) refuse_in_place(op);
  switch (rule.kind) {
    case VmapRule::Places:
      if (Object* result = call_placed(op, rule.places, level, args)) return result;
      if (!rule.function) break;
      [[fallthrough]];
    case VmapRule::Function:
      if (Object* result = vmap_hooks.call_function(op, rule, level, args)) return result;
      break;
    case VmapRule::Decomposed:
      return vmap_hooks.call_decomposed(op, rule, args);
    case VmapRule::Functional:
      return composite_inplace(op, keys, args);
    case VmapRule::Loop:
      break;
  }
  const VmapDepth outer(level - 1);
  return loop(op, level, args);
}

void install_vmap() {
  static const bool once = [] {
    guard_memory();
    for (Op* op : all_ops()) {
      if (is_implicit_composite(*op)) continue;
      set_kernel(*op, Key::Vmap, vmap_kernel);
    }
    return true;
  }();
  (void)once;
}

}  // namespace vivace
