// Recurrent networks: the input's part of the gates for all steps in one product, then the operator that runs the
// steps.
#include <vector>

#include "generated/kernels/nn/recurrent.h"
#include "generated/ops/index/join.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/nn/dropout.h"
#include "generated/ops/nn/recurrent.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "runtime/autograd/tangent.h"
#include "runtime/kernels/recurrent.h"

namespace vivace::composite {
namespace {

using kernels::kGru;
using kernels::kLstm;
using kernels::kRelu;
using kernels::kTanh;

struct Options {
  const char* op;
  int64_t mode;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

using Results = std::tuple<TensorRef, TensorRef, TensorRef>;

TensorRef joined(const std::vector<TensorRef>& parts, bool stacked, int64_t dim) {
  std::vector<Tensor*> list;
  for (const TensorRef& t : parts) list.push_back(t.get());
  return stacked ? ops::stack(list, dim) : list.size() == 1 ? parts[0] : ops::cat(list, dim);
}

/// Whether a derivative may ask for what the steps computed.
bool needs_reserve() { return tls.grad_mode || open_dual_levels() > 0; }

/// input: (T, B, F), or packed with batch_sizes. The states are stacked over layers and directions.
Results run_layers(const Options& o, Tensor& input, Tensor* batch_sizes, Tensor& h0, Tensor* c0, TensorList params) {
  if (o.num_layers < 0 || uint64_t(o.num_layers) > params.size())
    fail(o.op, ": got ", params.size(), " weights, too few for ", o.num_layers, " layers");
  const int64_t directions = o.bidirectional ? 2 : 1, slots = o.num_layers * directions;
  const bool projects = c0 && h0.dim() > 0 && c0->dim() > 0 && h0.size(-1) != c0->size(-1);
  const size_t each = 2 + (o.has_biases ? 2 : 0) + (projects ? 1 : 0);
  if (params.size() != size_t(slots) * each)
    fail(o.op, ": expected ", slots * int64_t(each), " weights for ", slots, " layers and directions, got ",
         params.size());
  if (input.dim() != (batch_sizes ? 2 : 3))
    fail(o.op, ": input must have ", batch_sizes ? 2 : 3, " dimensions, got ", input.dim());
  for (Tensor* state : {&h0, c0})
    if (state && (state->dim() != 3 || state->sizes()[0] != slots))
      fail(o.op, ": expected states of (", slots, ", batch, hidden), got ", state->sizes());
  TensorRef x = TensorRef::share(&input);
  std::vector<TensorRef> last_h, last_c;
  for (int64_t layer = 0; layer < o.num_layers; ++layer) {
    std::vector<TensorRef> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t slot = layer * directions + direction;
      Tensor* const* p = params.data() + size_t(slot) * each;
      Tensor *b_ih = o.has_biases ? p[2] : nullptr, *b_hh = o.has_biases ? p[3] : nullptr;
      TensorRef gates = ops::linear(*x, *p[0], b_ih), h = ops::select_int(h0, 0, slot),
                c = c0 ? ops::select_int(*c0, 0, slot) : TensorRef();
      auto [output, h_n, c_n, kept] =
          ops::recurrence(*gates, *h, c.get(), *p[1], b_hh, projects ? p[each - 1] : nullptr, batch_sizes, o.mode,
                          direction == 1, needs_reserve());
      outputs.push_back(std::move(output));
      last_h.push_back(std::move(h_n));
      if (c0) last_c.push_back(std::move(c_n));
    }
    x = joined(outputs, false, -1);
    if (o.dropout > 0 && o.train && layer + 1 < o.num_layers) x = ops::dropout(*x, o.dropout, true, false);
  }
  return {std::move(x), joined(last_h, true, 0), c0 ? joined(last_c, true, 0) : TensorRef()};
}

Results run_padded(const Options& o, Tensor& input, Tensor& h0, Tensor* c0, TensorList params, bool batch_first) {
  if (!batch_first) return run_layers(o, input, nullptr, h0, c0, params);
  TensorRef by_time = ops::transpose_int(input, 0, 1);
  Results r = run_layers(o, *by_time, nullptr, h0, c0, params);
  std::get<0>(r) = ops::transpose_int(*std::get<0>(r), 0, 1);
  return r;
}

std::pair<TensorRef, TensorRef> first_two(Results r) { return {std::move(std::get<0>(r)), std::move(std::get<1>(r))}; }

void check_pair(const char* op, TensorList hx) {
  if (hx.size() != 2) fail(op, ": expected two hidden states, got ", hx.size());
}

/// One step: the new h, and the new c of an LSTM.
std::pair<TensorRef, TensorRef> run_cell(const char* op, int64_t mode, Tensor& input, Tensor& h, Tensor* c,
                                         Tensor& w_ih, Tensor& w_hh, Tensor* b_ih, Tensor* b_hh) {
  if ((input.dim() != 1 && input.dim() != 2) || h.dim() != input.dim())
    fail(op, ": expected input and hidden of 1 or 2 dimensions both, got ", input.dim(), " and ", h.dim());
  TensorRef gates = ops::linear(input, w_ih, b_ih);
  if (input.dim() == 2) {
    auto [output, h_n, c_n, kept] =
        ops::recurrence(*gates, h, c, w_hh, b_hh, nullptr, nullptr, mode, false, needs_reserve());
    return {std::move(output), std::move(c_n)};
  }
  TensorRef gate_row = ops::unsqueeze(*gates, 0), row = ops::unsqueeze(h, 0),
            c_row = c ? ops::unsqueeze(*c, 0) : TensorRef();
  auto [output, h_n, c_n, kept] =
      ops::recurrence(*gate_row, *row, c_row.get(), w_hh, b_hh, nullptr, nullptr, mode, false, needs_reserve());
  return {ops::select_int(*output, 0, 0), c ? ops::select_int(*c_n, 0, 0) : TensorRef()};
}

}  // namespace

Results lstm_input(Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout,
                   bool train, bool bidirectional, bool batch_first) {
  check_pair("lstm", hx);
  return run_padded({"lstm", kLstm, has_biases, num_layers, dropout, train, bidirectional}, input, *hx[0], hx[1],
                    params, batch_first);
}
Results lstm_data(Tensor& data, Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases,
                  int64_t num_layers, double dropout, bool train, bool bidirectional) {
  check_pair("lstm", hx);
  return run_layers({"lstm", kLstm, has_biases, num_layers, dropout, train, bidirectional}, data, &batch_sizes, *hx[0],
                    hx[1], params);
}
std::tuple<TensorRef, TensorRef> lstm_cell(Tensor& input, TensorList hx, Tensor& w_ih, Tensor& w_hh, Tensor* b_ih,
                                           Tensor* b_hh) {
  check_pair("lstm_cell", hx);
  return run_cell("lstm_cell", kLstm, input, *hx[0], hx[1], w_ih, w_hh, b_ih, b_hh);
}

#define VIVACE_ONE_STATE(name, mode)                                                                                \
  std::tuple<TensorRef, TensorRef> name##_input(Tensor& input, Tensor& hx, TensorList params, bool has_biases,      \
                                                int64_t num_layers, double dropout, bool train, bool bidirectional, \
                                                bool batch_first) {                                                 \
    return first_two(run_padded({#name, mode, has_biases, num_layers, dropout, train, bidirectional}, input, hx,    \
                                nullptr, params, batch_first));                                                     \
  }                                                                                                                 \
  std::tuple<TensorRef, TensorRef> name##_data(Tensor& data, Tensor& batch_sizes, Tensor& hx, TensorList params,    \
                                               bool has_biases, int64_t num_layers, double dropout, bool train,     \
                                               bool bidirectional) {                                                \
    return first_two(run_layers({#name, mode, has_biases, num_layers, dropout, train, bidirectional}, data,         \
                                &batch_sizes, hx, nullptr, params));                                                \
  }                                                                                                                 \
  TensorRef name##_cell(Tensor& input, Tensor& hx, Tensor& w_ih, Tensor& w_hh, Tensor* b_ih, Tensor* b_hh) {        \
    return run_cell(#name "_cell", mode, input, hx, nullptr, w_ih, w_hh, b_ih, b_hh).first;                         \
  }
VIVACE_ONE_STATE(gru, kGru)
VIVACE_ONE_STATE(rnn_tanh, kTanh)
VIVACE_ONE_STATE(rnn_relu, kRelu)
#undef VIVACE_ONE_STATE

}  // namespace vivace::composite
