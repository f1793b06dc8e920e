// Recurrent layers, step by step: a product with the state's weights, which are packed once, and the gates' elementwise
// part row by row. The states live in the results h_n and c_n, of which a step moves the rows that are still running.
#include "runtime/kernels/recurrent.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "generated/kernels/nn/recurrent.h"
#include "runtime/kernels/blas.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/isa/recurrent.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {

using kernels::kGru;
using kernels::kLstm;
using kernels::kTanh;
using kernels::Matrix;
using kernels::RecurrentSteps;

namespace {

/// Columns of a packed panel: a multiple of the widest tile of every instruction set.
constexpr int64_t kPanel = 64;
/// Packing pays from so many products on.
constexpr size_t kPackSteps = 4;

/// f(begin, end) over n rows or panels, on several threads if all together are `work` multiplications or more.
template <class F>
void share(int64_t n, int64_t work, F&& f) {
  if (work < 2 * kernels::kThreadWork || n < 2) return f(0, n);
  parallel_for(0, n, std::max<int64_t>(1, kernels::kThreadWork * n / work), f);
}

/// A matrix that is multiplied from the left many times: its columns in panels whose rows lie side by side.
template <class T>
class RightOperand {
 public:
  RightOperand(const Matrix& m, size_t products) : matrix_(m) {
    if (products < kPackSteps || m.rows == 0) return;
    const int64_t panels = (m.cols + kPanel - 1) / kPanel;
    packed_ = scratch<T>(panels * kPanel * m.rows);
    const T* from = reinterpret_cast<const T*>(m.data);
    for (int64_t j = 0; j < m.cols; j += kPanel) {
      const int64_t columns = std::min(kPanel, m.cols - j);
      T* to = packed_.get() + j * m.rows;
      if (m.col_stride == 1) {
        for (int64_t p = 0; p < m.rows; ++p) std::copy_n(from + p * m.row_stride + j, columns, to + p * kPanel);
      } else {
        const auto transpose = sizeof(T) == 4 ? move_loops().transpose4 : move_loops().transpose8;
        transpose(reinterpret_cast<char*>(to), kPanel * int64_t(sizeof(T)),
                  reinterpret_cast<const char*>(from + j * m.col_stride), m.col_stride * int64_t(sizeof(T)), columns,
                  m.rows);
      }
    }
  }

  /// out (rows, columns) = a @ this + added, all contiguous; added (null for none) is one row for all if
  /// added_rows is 0.
  void multiply(int64_t rows, const T* a, const T* added, int64_t added_rows, T* out) const {
    const int64_t k = matrix_.rows, n = matrix_.cols;
    if (!packed_) {
      if (added && added != out)
        for (int64_t r = 0; r < rows; ++r) std::copy_n(added + r * added_rows, n, out + r * n);
      char* left = reinterpret_cast<char*>(const_cast<T*>(a));
      return kernels::gemm(kDType, {left, rows, k, k, 1}, matrix_, {reinterpret_cast<char*>(out), rows, n, n, 1},
                           Scalar(1), Scalar(added ? 1 : 0));
    }
    share((n + kPanel - 1) / kPanel, rows * n * k, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin * kPanel; j < std::min(n, end * kPanel); j += kPanel)
        dense::loops<T>().gemm(rows, std::min(kPanel, n - j), k, 1, a, k, 1, packed_.get() + j * k, kPanel,
                               added ? 1 : 0, added ? added + j : nullptr, added_rows, out + j, n);
    });
  }

 private:
  static constexpr DType kDType = sizeof(T) == 4 ? DType::Float32 : DType::Float64;
  Matrix matrix_;
  std::unique_ptr<T[]> packed_;
};

Matrix transposed(const TensorRef& t) { return kernels::matrix(*t).transposed(); }

/// Where each row of step i finds the state before it: in the rows of the step that ran before, or in the first state.
template <class T>
struct StatesBefore {
  const RecurrentSteps& steps;
  const T* rows;  // of all steps, `row` apart
  int64_t row;
  const T* first;
  int64_t width;

  const T* at(size_t i, int64_t b) const {
    return i > 0 && b < steps.counts[i - 1] ? rows + (steps.starts[i - 1] + b) * row : first + b * width;
  }
};

}  // namespace

namespace kernels {

RecurrentSteps::RecurrentSteps(const Tensor& gates, Tensor* batch_sizes, bool reverse) {
  if (batch_sizes) {
    TensorRef sizes = dense_in(batch_sizes, DType::Int64);
    counts.assign(sizes->data<int64_t>(), sizes->data<int64_t>() + sizes->numel());
  } else {
    counts.assign(gates.dim() == 3 ? size_t(gates.sizes()[0]) : 1, gates.sizes()[gates.dim() - 2]);
  }
  for (int64_t n : counts) {
    starts.push_back(rows);
    rows += n;
  }
  if (!reverse) return;
  std::reverse(counts.begin(), counts.end());
  std::reverse(starts.begin(), starts.end());
}

}  // namespace kernels

namespace meta {

std::tuple<TensorRef, TensorRef, TensorRef, TensorRef> recurrence(Tensor& gates, Tensor& h0, Tensor* c0,
                                                                  Tensor& weight_hh, Tensor* bias_hh, Tensor* weight_hr,
                                                                  Tensor* batch_sizes, int64_t mode, bool, bool keep) {
  const char* op = "recurrent layer";
  const DType dtype = gates.dtype();
  kernels::check_floating(dtype, op);
  for (Tensor* t : {&h0, c0, &weight_hh, bias_hh, weight_hr})
    if (t && t->dtype() != dtype)
      fail(op, ": Input and hidden tensors are not the same dtype, found input tensor with ", dtype,
           " and hidden tensor or weight with ", t->dtype());
  const int64_t width = gates.size(-1), units = width / kernels::gate_blocks(mode), out = weight_hh.size(-1);
  const int64_t state[] = {h0.size(0), out}, weight[] = {width, out}, cell[] = {h0.size(0), units};
  const auto differs = [](const Tensor& t, IntList sizes) { return !std::ranges::equal(t.sizes(), sizes); };
  if (differs(h0, state) || differs(weight_hh, weight) || (c0 && differs(*c0, cell)) ||
      (bias_hh && (bias_hh->dim() != 1 || bias_hh->numel() != width)) || (mode == kLstm) != (c0 != nullptr))
    fail(op, ": shapes don't fit: gates ", gates.sizes(), ", h0 ", h0.sizes(), ", weight_hh ", weight_hh.sizes());
  int64_t rows = gates.size(0), most = gates.size(-2);
  if (gates.dim() == 3) rows *= gates.sizes()[1];
  if (batch_sizes && !batch_sizes->is_meta()) {
    const RecurrentSteps steps(gates, batch_sizes, false);
    most = steps.size() ? *std::max_element(steps.counts.begin(), steps.counts.end()) : 0;
    if (steps.rows != rows || std::any_of(steps.counts.begin(), steps.counts.end(), [](int64_t n) { return n < 0; }))
      fail(op, ": batch_sizes must be counts that add up to ", rows, ", the rows of the input");
  }
  if (batch_sizes ? !batch_sizes->is_meta() && most > h0.size(0) : most != h0.size(0))
    fail(op, ": Expected hidden states of ", most, " sequences, got ", h0.size(0));
  Dims sizes(gates.sizes());
  sizes[sizes.size() - 1] = out;
  const int64_t kept_width = mode == kLstm ? 5 * units : mode == kGru ? 4 * units : 0;
  return {empty(IntList(sizes), dtype, gates.device()), empty(state, dtype, gates.device()),
          empty({mode == kLstm ? h0.size(0) : 0, units}, dtype, gates.device()),
          empty({keep ? rows : 0, kept_width}, compute_of(dtype), gates.device())};
}

}  // namespace meta

namespace kernels {

void recurrence(Tensor& gates, Tensor& h0, Tensor* c0, Tensor& weight_hh, Tensor* bias_hh, Tensor* weight_hr,
                Tensor* batch_sizes, int64_t mode, bool reverse, bool keep, Tensor& outputs, Tensor& h_n, Tensor& c_n,
                Tensor& kept) {
  const DType compute = compute_of(gates.dtype());
  const RecurrentSteps steps(gates, batch_sizes, reverse);
  const auto result = [&](Tensor& t) {
    return t.dtype() == compute ? TensorRef::share(&t) : empty(t.sizes(), compute);
  };
  const TensorRef x = dense_in(&gates, compute), w = dense_in(&weight_hh, compute), bias = dense_in(bias_hh, compute),
                  project = dense_in(weight_hr, compute), out = result(outputs), h = result(h_n), c = result(c_n);
  copy_into(*h, h0);
  if (c0) copy_into(*c, *c0);
  blas::table();  // loading needs the GIL, which the pool's threads do not have
  visit_compute(compute, "recurrent layer", [&]<class T>() {
    const auto& loops = dense::recurrent_loops<T>();
    const int64_t width = x->size(-1), n = width / gate_blocks(mode), p = w->size(-1), most = h->size(0);
    const int64_t kept_width = keep ? kept.size(-1) : 0;
    const RightOperand<T> right(transposed(w), steps.size());
    const RightOperand<T> down(project ? transposed(project) : Matrix{}, steps.size());
    const auto part = scratch<T>(most * width + 1), inner = scratch<T>(project ? most * n + 1 : 1);
    T *state = h->data<T>(), *cell = c->data<T>();
    for (size_t i = 0; i < steps.size(); ++i) {
      const int64_t rows = steps.counts[i], start = steps.starts[i];
      right.multiply(rows, state, data_or_null<T>(bias), 0, part.get());
      share(rows, rows * width * 16, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          const T *from = x->data<T>() + (start + b) * width, *y = part.get() + b * width;
          T *row = state + b * p, *keeps = kept_width ? kept.data<T>() + (start + b) * kept_width : nullptr;
          if (mode == kLstm)
            loops.lstm(from, y, cell + b * n, project ? inner.get() + b * n : row, keeps, n);
          else if (mode == kGru)
            loops.gru(from, y, row, row, keeps, n);
          else
            (mode == kTanh ? loops.tanh : loops.relu)(from, y, row, n);
        }
      });
      if (project) down.multiply(rows, inner.get(), nullptr, 0, state);
      std::copy_n(state, rows * p, out->data<T>() + start * p);
    }
  });
  if (out.get() != &outputs) copy_into(outputs, *out);
  if (h.get() != &h_n) copy_into(h_n, *h);
  if (c.get() != &c_n) copy_into(c_n, *c);
}

RecurrentGrads recurrence_grad(Tensor* g_outputs, Tensor* g_h, Tensor* g_c, Tensor& h0, Tensor* c0, Tensor& weight_hh,
                               Tensor* weight_hr, Tensor* batch_sizes, int64_t mode, bool reverse, Tensor& outputs,
                               Tensor& kept, uint64_t needs) {
  const DType dtype = outputs.dtype(), compute = compute_of(dtype);
  const RecurrentSteps steps(outputs, batch_sizes, reverse);
  const auto needed = [&](int i) { return ((needs >> i) & 1) != 0; };
  const auto start_from = [&](Tensor* g, IntList sizes) {
    TensorRef t = empty(sizes, compute);
    if (g)
      copy_into(*t, *g);
    else
      fill_into(*t, Scalar(0));
    return t;
  };
  const TensorRef up = dense_in(g_outputs, compute), first = dense_in(&h0, compute), first_c = dense_in(c0, compute),
                  w = dense_in(&weight_hh, compute), project = dense_in(weight_hr, compute),
                  out = dense_in(&outputs, compute), dh = start_from(g_h, h0.sizes()),
                  dc = c0 ? start_from(g_c, c0->sizes()) : TensorRef();
  const int64_t width = w->size(0), n = width / gate_blocks(mode), p = w->size(1), rows_all = steps.rows;
  Dims gate_sizes(outputs.sizes());
  gate_sizes[gate_sizes.size() - 1] = width;
  const TensorRef dx = empty(IntList(gate_sizes), compute),
                  dy = mode == kGru ? empty({rows_all, width}, compute) : TensorRef::share(dx.get());
  TensorRef dw, db, dr;
  blas::table();
  visit_compute(compute, "recurrent layer", [&]<class T>() {
    const auto& loops = dense::recurrent_loops<T>();
    const RightOperand<T> right(matrix(*w), steps.size());
    const RightOperand<T> widened(project ? matrix(*project) : Matrix{}, steps.size());
    const int64_t kept_width = kept.size(-1);
    const StatesBefore<T> states{steps, out->data<T>(), p, first->data<T>(), p};
    const StatesBefore<T> cells{steps, kept.data<T>() + 4 * n, kept_width, data_or_null<T>(first_c), n};
    T* state = dh->data<T>();
    // With a projection: the gradients of all steps' outputs, and those of what was projected in one step.
    const auto projected = scratch<T>(project ? rows_all * p + 1 : 1);
    const auto inner = scratch<T>(project ? h0.size(0) * n + 1 : 1);
    for (size_t i = steps.size(); i-- > 0;) {
      const int64_t rows = steps.counts[i], start = steps.starts[i];
      if (up) dense::loops<T>().accumulate(up->data<T>() + start * p, state, rows * p);
      if (project) {
        std::copy_n(state, rows * p, projected.get() + start * p);
        widened.multiply(rows, state, nullptr, 0, inner.get());
      }
      share(rows, rows * width * 16, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          const int64_t r = start + b;
          const T* keeps = kept.data<T>() + r * kept_width;
          T *row = state + b * p, *to = dx->data<T>() + r * width;
          if (mode == kLstm)
            loops.lstm_backward(keeps, cells.at(i, b), project ? inner.get() + b * n : row, dc->data<T>() + b * n, to,
                                n);
          else if (mode == kGru)
            loops.gru_backward(keeps, states.at(i, b), row, to, dy->data<T>() + r * width, n);
          else
            (mode == kTanh ? loops.tanh_backward : loops.relu_backward)(out->data<T>() + r * p, row, to, n);
        }
      });
      right.multiply(rows, dy->data<T>() + start * width, mode == kGru ? state : nullptr, p, state);
    }
    const auto flat = [](T* data, int64_t rows, int64_t columns) {
      return Matrix{reinterpret_cast<char*>(data), rows, columns, columns, 1};
    };
    if (needed(3)) {
      const auto before = scratch<T>(rows_all * p + 1);
      for (size_t i = 0; i < steps.size(); ++i)
        for (int64_t b = 0; b < steps.counts[i]; ++b)
          std::copy_n(states.at(i, b), p, before.get() + (steps.starts[i] + b) * p);
      dw = empty(w->sizes(), compute);
      gemm(compute, flat(dy->data<T>(), rows_all, width).transposed(), flat(before.get(), rows_all, p), matrix(*dw));
    }
    if (needed(4)) {
      db = start_from(nullptr, IntList(&width, 1));
      for (int64_t r = 0; r < rows_all; ++r)
        dense::loops<T>().accumulate(dy->data<T>() + r * width, db->data<T>(), width);
    }
    if (needed(5)) {
      const auto before = scratch<T>(rows_all * n + 1);
      for (int64_t r = 0; r < rows_all; ++r)
        loops.lstm_output(kept.data<T>() + r * kept_width, before.get() + r * n, n);
      dr = empty(project->sizes(), compute);
      gemm(compute, flat(projected.get(), rows_all, p).transposed(), flat(before.get(), rows_all, n), matrix(*dr));
    }
  });
  const auto typed = [&](const TensorRef& t) { return t && t->dtype() != dtype ? to_dtype(*t, dtype) : t; };
  return {typed(dx), typed(dh), typed(dc), typed(dw), typed(db), typed(dr)};
}

}  // namespace kernels
}  // namespace vivace
