// Recording operators and their arguments; see layer.h.
#include "runtime/profiler/layer.h"

#include <bit>

#include "runtime/autograd/grad.h"
#include "runtime/autograd/node.h"
#include "runtime/core/tensor_object.h"
#include "runtime/dispatch/foreign.h"
#include "runtime/profiler/recorder.h"

namespace vivace::profiler {
namespace {

static_assert(sizeof(ArgumentHead) == sizeof(int64_t));

void note_head(std::vector<int64_t>& words, ArgumentHead head) { words.push_back(std::bit_cast<int64_t>(head)); }

void note_tensor(std::vector<int64_t>& words, const Tensor* t) {
  if (!t) return note_head(words, {Tag::None, DType::Float32, 0, 0});
  note_head(words, {Tag::Tensor, t->dtype(), t->ndim_, 0});
  words.insert(words.end(), t->dims_, t->dims_ + 2 * t->ndim_);
}

void note_argument(std::vector<int64_t>& words, const Value& v) {
  if (v.tag == Tag::Tensor) return note_tensor(words, v.tensor);
  const bool list = v.tag == Tag::IntList || v.tag == Tag::FloatList || v.tag == Tag::TensorList;
  note_head(words, {v.tag, DType::Float32, 0, list ? uint32_t(v.count) : 0});
  switch (v.tag) {
    case Tag::Bool:
    case Tag::Int:
    case Tag::Float:
    case Tag::DType:
    case Tag::Layout:
    case Tag::MemoryFormat:
      words.push_back(v.i);
      break;
    case Tag::IntList:
      words.insert(words.end(), v.ints, v.ints + v.count);
      break;
    case Tag::FloatList:
      for (const double x : v.float_list()) words.push_back(std::bit_cast<int64_t>(x));
      break;
    case Tag::TensorList:
      for (const Tensor* t : v.tensor_list()) note_tensor(words, t);
      break;
    default:
      break;
  }
}

uint32_t note_arguments(Recorder& recorder, const Op& op, const Value* args) {
  const size_t begin = recorder.words.size();
  if (begin >= kNone) return kNone;
  for (int i = 0; i < op.nargs; ++i) note_argument(recorder.words, args[i]);
  return uint32_t(begin);
}

}  // namespace

Object* operator_kernel(const Op& op, KeySet keys, Value* args) {
  keys &= below(Key::Profiler);
  Recorder* const recorder = here;
  if (!recorder) return redispatch(op, keys, args);
  const uint64_t next = next_sequence();
  const uint32_t generation = recorder->generation;
  struct End {
    Recorder& recorder;
    uint32_t event, generation;
    ~End() { recorder.end(event, generation); }
  } const end{*recorder, recorder->begin(Kind::Operator, &op, -1), generation};
  if (recorder->wants & kArguments) {
    Event& event = recorder->at(end.event);
    event.arguments = note_arguments(*recorder, op, args);
    event.start = ticks();
  }
  Object* result = redispatch(op, keys, args);
  if (next_sequence() == next || !result || recorder->generation != generation) return result;
  for (Tensor* t : result_tensors(result))
    if (is_tensor(t) && t->grad_fn && t->grad_fn->sequence >= next)
      recorder->at(end.event).sequence = int64_t(t->grad_fn->sequence);
  return result;
}

void install() {
  for (Op* op : all_ops()) set_kernel(*op, Key::Profiler, operator_kernel);
}

}  // namespace vivace::profiler
