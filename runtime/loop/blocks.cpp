// One thread walks its share of the blocks: each operand has a route to the loop (in place, gathered, converted).
#include "runtime/loop/blocks.h"

#include <algorithm>
#include <cstring>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/move_loops.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

constexpr int64_t kBlockBytes = 8192;  // of one buffer: those of a binary loop fit 32 KiB
constexpr int64_t kShortRun = 64;      // rows shorter than this are gathered together,
constexpr int64_t kMediumRun = 512;    // and those whose operands need a buffer anyway
constexpr int64_t kGrain = 32768;      // elements that are worth a thread

template <class T>
void gather_run(char* to, const char* from, int64_t stride, int64_t n) {
  T* out = reinterpret_cast<T*>(to);
  if (stride == 0) {
    move_loops().fill(to, from, sizeof(T), n * int64_t(sizeof(T)));
  } else if (stride == int64_t(sizeof(T))) {
    std::memcpy(to, from, size_t(n) * sizeof(T));
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = *reinterpret_cast<const T*>(from + i * stride);
  }
}
template <class T>
void scatter_run(char* to, const char* from, int64_t stride, int64_t n) {
  const T* in = reinterpret_cast<const T*>(from);
  if (stride == int64_t(sizeof(T))) return void(std::memcpy(to, from, size_t(n) * sizeof(T)));
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = in[i];
}

/// How one operand reaches the loop.
struct Route {
  int64_t size, loop_size;  // of an element in memory and in the loop
  bool line;                // element i of the whole is at data + i * size
  bool constant;            // one element
  bool converts;
  char* buffer;  // in the loop's type
};

/// One thread's share of a Blocks.
class Walk {
 public:
  Walk(const Blocks& blocks, int64_t begin, int64_t end, char* memory) : b_(blocks), at_(begin), end_(end) {
    // Three buffers for each operand: values as they lie in memory, and converted.
    int64_t widest = 1;
    for (int k = 0; k < b_.noperands; ++k) {
      Route& r = routes_[k];
      const BlockOperand& o = b_.operands[k];
      r.size = int64_t(item_size(o.dtype));
      r.loop_size = int64_t(item_size(o.loop_dtype));
      r.converts = o.dtype != o.loop_dtype;
      r.line = true;
      r.constant = k > 0;
      for (int64_t d = 0, step = r.size; d < b_.ndim; step *= b_.sizes[d++]) {
        r.line = r.line && o.strides[d] == step;
        r.constant = r.constant && o.strides[d] == 0;
      }
      r.buffer = memory + (k + 1) * kBlockBytes;
      widest = std::max({widest, r.size, r.loop_size});
    }
    raw_ = memory;
    block_ = kBlockBytes / widest;
    gathers_rows_ = b_.ndim > 1 && b_.sizes[0] < (needs_buffers() ? kMediumRun : kShortRun);
    int64_t rest = begin;
    for (int d = 0; d < b_.ndim; ++d) {
      index_[d] = rest % b_.sizes[d];
      rest /= b_.sizes[d];
    }
  }

  void run() {
    if (at_ >= end_) return;
    fill_constants(std::min(block_, end_ - at_));
    char* p[kMaxOperands + 1];
    while (at_ < end_) {
      int64_t n = std::min(block_, end_ - at_);
      if (!gathers_rows_ && b_.ndim > 0) n = std::min(direct() ? end_ - at_ : n, b_.sizes[0] - index_[0]);
      for (int k = 1; k < b_.noperands; ++k) p[k] = input(k, n);
      const BlockOperand& out = b_.operands[0];
      const Route& r = routes_[0];
      const bool in_place = !r.converts && (r.line || (!gathers_rows_ && out.strides[0] == r.size));
      p[0] = in_place ? address(0) : r.buffer;
      b_.loop(p, n, b_.params);
      if (!in_place) scatter(n);
      advance(n);
    }
  }

 private:
  /// Whether rows go through buffers, other than those that lie in one line.
  bool needs_buffers() const {
    for (int k = 0; k < b_.noperands; ++k) {
      const Route& r = routes_[k];
      if (r.converts || (!r.line && !r.constant && b_.operands[k].strides[0] != r.size)) return true;
    }
    return false;
  }

  /// Whether nothing needs a buffer: then blocks may be as long as a row.
  bool direct() const {
    for (int k = 0; k < b_.noperands; ++k)
      if (routes_[k].converts || routes_[k].constant || b_.operands[k].strides[0] != routes_[k].size) return false;
    return true;
  }

  char* address(int k) const {
    char* p = b_.operands[k].data;
    for (int d = 0; d < b_.ndim; ++d) p += index_[d] * b_.operands[k].strides[d];
    return p;
  }

  void fill_constants(int64_t n) {
    for (int k = 1; k < b_.noperands; ++k) {
      const Route& r = routes_[k];
      if (!r.constant) continue;
      const BlockOperand& o = b_.operands[k];
      alignas(16) char one[16];
      if (r.converts)
        kernels::convert_block(o.loop_dtype, one, o.dtype, o.data, 1);
      else
        std::memcpy(one, o.data, size_t(r.size));
      visit_bits(o.loop_dtype, [&]<class T>() { gather_run<T>(r.buffer, one, 0, n); });
    }
  }

  /// The next n elements of operand k, contiguous, in the loop's type.
  char* input(int k, int64_t n) {
    const Route& r = routes_[k];
    const BlockOperand& o = b_.operands[k];
    if (r.constant) return r.buffer;
    const bool straight = r.line || (!gathers_rows_ && o.strides[0] == r.size);
    if (straight && !r.converts) return address(k);
    const char* source = address(k);
    if (!straight) {
      char* to = r.converts ? raw_ : r.buffer;
      visit_bits(o.dtype, [&]<class T>() {
        rows(k, n, [&](char* p, int64_t done, int64_t count) {
          gather_run<T>(to + done * int64_t(sizeof(T)), p, o.strides[0], count);
        });
      });
      source = to;
    }
    if (r.converts) kernels::convert_block(o.loop_dtype, r.buffer, o.dtype, source, n);
    return r.buffer;
  }

  void scatter(int64_t n) {
    const Route& r = routes_[0];
    const BlockOperand& o = b_.operands[0];
    const bool straight = r.line || (!gathers_rows_ && o.strides[0] == r.size);
    const char* source = r.buffer;
    if (r.converts) {
      char* to = straight ? address(0) : raw_;
      kernels::convert_block(o.dtype, to, o.loop_dtype, r.buffer, n);
      source = to;
    }
    if (straight) return;
    visit_bits(o.dtype, [&]<class T>() {
      rows(0, n, [&](char* p, int64_t done, int64_t count) {
        scatter_run<T>(p, source + done * int64_t(sizeof(T)), o.strides[0], count);
      });
    });
  }

  /// Calls f(address, elements before, elements) for the pieces of rows that the next n elements are.
  template <class F>
  void rows(int k, int64_t n, F&& f) const {
    const int64_t* strides = b_.operands[k].strides;
    char* p = address(k);
    int64_t index[kMaxDims];
    std::copy_n(index_, b_.ndim, index);
    for (int64_t done = 0;;) {
      const int64_t count = std::min(n - done, b_.sizes[0] - index[0]);
      f(p, done, count);
      done += count;
      if (done == n) return;
      p -= index[0] * strides[0];
      index[0] = 0;
      for (int d = 1; d < b_.ndim; ++d) {
        p += strides[d];
        if (++index[d] < b_.sizes[d]) break;
        p -= strides[d] * b_.sizes[d];
        index[d] = 0;
      }
    }
  }

  void advance(int64_t n) {
    at_ += n;
    for (int d = 0; d < b_.ndim && n > 0; ++d) {
      index_[d] += n;
      n = index_[d] / b_.sizes[d];
      index_[d] -= n * b_.sizes[d];
    }
  }

  const Blocks& b_;
  Route routes_[kMaxOperands + 1];
  char* raw_;
  int64_t at_, end_, block_;
  bool gathers_rows_;
  int64_t index_[kMaxDims];
};

}  // namespace

void order_dims(IntList sizes, const int64_t* const* strides, int noperands, int* order) {
  const int n = int(sizes.size());
  for (int d = 0; d < n; ++d) order[d] = n - 1 - d;
  const auto compare = [&](int a, int b) {  // above 0: a has to lie outside b; 0: no operand tells
    for (int k = 0; k < noperands; ++k) {
      const int64_t x = strides[k][a], y = strides[k][b];
      if (x == 0 || y == 0) continue;
      if (x != y) return x < y ? -1 : 1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  for (int i = 1; i < n; ++i) {
    for (int at = i, d = i - 1; d >= 0; --d) {
      const int c = compare(order[d], order[at]);
      if (c > 0) {
        std::swap(order[d], order[at]);
        at = d;
      } else if (c < 0) {
        break;
      }
    }
  }
}

void Blocks::coalesce() {
  int last = -1;
  for (int d = 0; d < ndim; ++d) {
    if (sizes[d] == 1) continue;
    bool one_line = last >= 0;
    for (int k = 0; k < noperands && one_line; ++k)
      one_line = operands[k].strides[d] == operands[k].strides[last] * sizes[last];
    if (one_line) {
      sizes[last] *= sizes[d];
      continue;
    }
    ++last;
    sizes[last] = sizes[d];
    for (int k = 0; k < noperands; ++k) operands[k].strides[last] = operands[k].strides[d];
  }
  ndim = last + 1;
}

void Blocks::run() {
  int64_t numel = 1;
  for (int d = 0; d < ndim; ++d) numel *= sizes[d];
  parallel_for(0, numel, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) char memory[(kMaxOperands + 2) * kBlockBytes];
    Walk(*this, begin, end, memory).run();
  });
}

}  // namespace vivace
