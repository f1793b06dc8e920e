// Products of matrices of half types: sums are made in float and rounded once. Bfloat16 has an instruction for it on
// some processors; elsewhere, and for float16, the operands are widened once.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/isa/bfloat16.h"
#include "runtime/kernels/move_loops.h"

namespace vivace::kernels {
namespace {

using bfloat16::kColumns;

constexpr int64_t kFewest = 4;        // rows and columns from which on packing pairs pays
constexpr int64_t kRowsAtOnce = 128;  // whose sums stay in a cache

const uint16_t* element(const Matrix& m, int64_t row, int64_t column) {
  return reinterpret_cast<const uint16_t*>(m.data) + row * m.row_stride + column * m.col_stride;
}

/// Rows of m as pairs of neighbours, in m's own memory where they stand so.
class PairRows {
 public:
  PairRows(const bfloat16::Loops& loops, const Matrix& m) : step_((m.cols + 1) / 2) {
    if (m.col_stride == 1 && m.cols % 2 == 0 && m.row_stride % 2 == 0 && uintptr_t(m.data) % alignof(uint32_t) == 0) {
      data_ = reinterpret_cast<const uint32_t*>(m.data);
      step_ = m.row_stride / 2;
      return;
    }
    packed_ = scratch<uint32_t>(m.rows * step_);
    data_ = packed_.get();
    if (m.row_stride == 1) {  // columns are paired, and turned
      const auto columns = scratch<uint32_t>(m.rows * step_);
      for (int64_t p = 0; p < step_; ++p)
        loops.interleave(element(m, 0, 2 * p), 2 * p + 1 < m.cols ? element(m, 0, 2 * p + 1) : nullptr,
                         columns.get() + p * m.rows, m.rows);
      move_loops().transpose4(reinterpret_cast<char*>(packed_.get()), step_ * int64_t(sizeof(uint32_t)),
                              reinterpret_cast<const char*>(columns.get()), m.rows * int64_t(sizeof(uint32_t)), step_,
                              m.rows);
      return;
    }
    for (int64_t i = 0; i < m.rows; ++i) {
      char* row = reinterpret_cast<char*>(packed_.get() + i * step_);
      if (m.cols % 2) packed_[(i + 1) * step_ - 1] = 0;
      convert_run(DType::BFloat16, row, sizeof(uint16_t), DType::BFloat16,
                  reinterpret_cast<const char*>(element(m, i, 0)), m.col_stride * int64_t(sizeof(uint16_t)), m.cols);
    }
  }
  const uint32_t* row(int64_t i) const { return data_ + i * step_; }
  int64_t step() const { return step_; }

 private:
  const uint32_t* data_;
  int64_t step_;
  std::unique_ptr<uint32_t[]> packed_;
};

/// Up to kColumns columns of m from `first` on, as [pair of rows][column].
void pack_panel(const bfloat16::Loops& loops, const Matrix& m, int64_t first, int64_t width, uint32_t* to) {
  const int64_t pairs = (m.rows + 1) / 2, whole = m.rows / 2;
  if (m.row_stride == 1) {
    move_loops().transpose4(reinterpret_cast<char*>(to), kColumns * int64_t(sizeof(uint32_t)),
                            reinterpret_cast<const char*>(element(m, 0, first)),
                            m.col_stride * int64_t(sizeof(uint16_t)), width, whole);
    for (int64_t c = 0; pairs > whole && c < width; ++c) to[whole * kColumns + c] = *element(m, m.rows - 1, first + c);
    return;
  }
  for (int64_t p = 0; p < pairs; ++p, to += kColumns) {
    const bool has_odd = 2 * p + 1 < m.rows;
    if (m.col_stride == 1) {
      loops.interleave(element(m, 2 * p, first), has_odd ? element(m, 2 * p + 1, first) : nullptr, to, width);
    } else {
      for (int64_t c = 0; c < width; ++c)
        to[c] = *element(m, 2 * p, first + c) | uint32_t(has_odd ? *element(m, 2 * p + 1, first + c) : 0) << 16;
    }
  }
}

/// c = alpha * sums + beta * c for one row of up to kColumns columns.
void put_row(float* sums, const Matrix& c, int64_t row, int64_t first, int64_t width, float alpha, float beta) {
  char* to = const_cast<char*>(reinterpret_cast<const char*>(element(c, row, first)));
  const int64_t step = c.col_stride * int64_t(sizeof(uint16_t));
  if (alpha != 1)
    for (int64_t i = 0; i < width; ++i) sums[i] *= alpha;
  if (beta != 0) {
    float added[kColumns];
    convert_run(DType::Float32, reinterpret_cast<char*>(added), sizeof(float), DType::BFloat16, to, step, width);
    for (int64_t i = 0; i < width; ++i) sums[i] += beta * added[i];
  }
  if (c.col_stride == 1)
    move_loops().to_bfloat16(to, reinterpret_cast<const char*>(sums), width);
  else
    convert_run(DType::BFloat16, to, step, DType::Float32, reinterpret_cast<const char*>(sums), sizeof(float), width);
}

void paired_gemm(const bfloat16::Loops& loops, const Matrix& a, const Matrix& b, const Matrix& c, float alpha,
                 float beta) {
  if (c.col_stride != 1 && c.row_stride == 1)
    return paired_gemm(loops, b.transposed(), a.transposed(), c.transposed(), alpha, beta);
  const PairRows rows(loops, a);
  const int64_t pairs = (a.cols + 1) / 2;
  const auto panel = scratch<uint32_t>(pairs * kColumns);
  if (c.cols % kColumns) std::fill_n(panel.get(), pairs * kColumns, 0u);
  alignas(64) float sums[kRowsAtOnce * kColumns];
  for (int64_t first = 0; first < c.cols; first += kColumns) {
    const int64_t width = std::min(kColumns, c.cols - first);
    pack_panel(loops, b, first, width, panel.get());
    for (int64_t i = 0; i < c.rows; i += kRowsAtOnce) {
      const int64_t n = std::min(kRowsAtOnce, c.rows - i);
      loops.panel(n, width, pairs, rows.row(i), rows.step(), panel.get(), sums);
      if (alpha == 1 && beta == 0 && c.col_stride == 1) {
        loops.narrow(n, width, sums, const_cast<uint16_t*>(element(c, i, first)), c.row_stride);
        continue;
      }
      for (int64_t r = 0; r < n; ++r) put_row(sums + r * kColumns, c, i + r, first, width, alpha, beta);
    }
  }
}

Matrix widened(DType dtype, const Matrix& m, std::unique_ptr<float[]>& buffer) {
  constexpr int64_t kSize = sizeof(uint16_t);
  buffer = scratch<float>(m.rows * m.cols + 1);
  const bool by_columns = m.row_stride == 1 && m.col_stride != 1;  // the copy is laid out as the matrix is
  const int64_t lines = by_columns ? m.cols : m.rows, length = by_columns ? m.rows : m.cols,
                line_step = by_columns ? m.col_stride : m.row_stride, step = by_columns ? 1 : m.col_stride;
  if (step == 1 && line_step == length)
    convert_run(DType::Float32, reinterpret_cast<char*>(buffer.get()), sizeof(float), dtype, m.data, kSize,
                lines * length);
  else
    for (int64_t i = 0; i < lines; ++i)
      convert_run(DType::Float32, reinterpret_cast<char*>(buffer.get() + i * length), sizeof(float), dtype,
                  m.data + i * line_step * kSize, step * kSize, length);
  const Matrix wide{reinterpret_cast<char*>(buffer.get()), lines, length, length, 1};
  return by_columns ? wide.transposed() : wide;
}

}  // namespace

void half_gemm(DType dtype, const Matrix& a, const Matrix& b, const Matrix& c, float alpha, float beta) {
  const bfloat16::Loops* loops = dtype == DType::BFloat16 ? bfloat16::loops() : nullptr;
  if (loops && std::min(c.rows, c.cols) >= kFewest && a.cols > 1) return paired_gemm(*loops, a, b, c, alpha, beta);
  std::unique_ptr<float[]> x, y, z;
  const Matrix wide_a = widened(dtype, a, x), wide_b = widened(dtype, b, y);
  Matrix sums = c;
  if (beta != 0) {
    sums = widened(dtype, c, z);
  } else {
    z = scratch<float>(c.rows * c.cols + 1);
    sums = {reinterpret_cast<char*>(z.get()), c.rows, c.cols, c.cols, 1};
  }
  gemm(DType::Float32, wide_a, wide_b, sums, Scalar(alpha), Scalar(beta));
  constexpr int64_t kSize = sizeof(uint16_t);
  for (int64_t i = 0; i < c.rows; ++i)
    convert_run(dtype, c.data + i * c.row_stride * kSize, c.col_stride * kSize, DType::Float32,
                sums.data + i * sums.row_stride * int64_t(sizeof(float)), sums.col_stride * int64_t(sizeof(float)),
                c.cols);
}

}  // namespace vivace::kernels
