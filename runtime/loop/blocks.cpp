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
constexpr int64_t kBufferBytes = kBlockBytes + kSpreadSlack;
constexpr int64_t kRepeatedBytes = 1024;  // of a long row of one element, which a row's blocks share
constexpr int64_t kShortRun = 64;         // rows shorter than this go to the loop together,
constexpr int64_t kRepeatedRun = 256;     // and those next to operands that repeat elements or rows,
constexpr int64_t kMediumRun = 512;       // and those whose operands need a buffer anyway
constexpr int64_t kGrain = 32768;         // elements that are worth a thread

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

/// How one operand lies.
enum class Layout {
  Line,          // element i of the whole is at data + i * size
  Rows,          // each row is a line
  Strided,       // none of these
  Constant,      // one element
  RepeatedItem,  // one element for each row
  RepeatedRow,   // one row, a line or not
};

/// How one operand reaches the loop.
struct Route {
  int64_t size, loop_size;  // of an element in memory and in the loop
  Layout layout;
  bool converts;
};

/// What all threads do.
struct Plan {
  const Blocks& blocks;
  Route routes[kMaxOperands + 1];
  int64_t block = kBlockBytes;  // elements that the loop gets at once, at most
  bool joins_rows;              // a block is of whole rows, one operand after another in one line; else of one row
  Loop loop;
  int item = 0;  // the operand of which the loop gets an element; 0 is none
  bool direct;   // nothing needs a buffer: blocks may be as long as a row

  explicit Plan(const Blocks& b) : blocks(b), loop(b.loop) {
    int64_t widest = 1;
    bool gathers = false, repeats_items = false, repeats_rows = false, lines = true;
    for (int k = 0; k < b.noperands; ++k) {
      const BlockOperand& o = b.operands[k];
      Route& r = routes[k];
      r.size = int64_t(item_size(o.dtype));
      r.loop_size = int64_t(item_size(o.loop_dtype));
      r.converts = o.dtype != o.loop_dtype;
      r.layout = layout(k);
      widest = std::max({widest, r.size, r.loop_size});
      const bool row_line = b.ndim > 0 && o.strides[0] == r.size;
      repeats_items = repeats_items || r.layout == Layout::RepeatedItem;
      repeats_rows = repeats_rows || r.layout == Layout::RepeatedRow;
      lines = lines && r.layout != Layout::Rows;
      gathers = gathers || r.converts || r.layout == Layout::Strided || (r.layout == Layout::RepeatedRow && !row_line);
    }
    const bool item_loops = b.noperands == 3 && b.item_loops[0];
    block = kBlockBytes / widest;
    const int64_t short_run = gathers                                    ? kMediumRun
                              : (repeats_items || repeats_rows) && lines ? kRepeatedRun
                                                                         : kShortRun;
    joins_rows = b.ndim > 1 && b.sizes[0] < short_run;
    for (int k = 1; k < b.noperands && item_loops && item == 0; ++k) {
      const Layout at = routes[k].layout;
      if (at != Layout::Constant && (at != Layout::RepeatedItem || joins_rows)) continue;
      item = k;
      loop = b.item_loops[k - 1];
    }
    direct = b.ndim > 0 && !joins_rows;
    for (int k = 0; k < b.noperands; ++k)
      direct = direct && ((k > 0 && k == item) || (!routes[k].converts && b.operands[k].strides[0] == routes[k].size));
    if (joins_rows)
      block -= block % b.sizes[0];
    else if (repeats_items && !gathers && item == 0)
      block = kRepeatedBytes / widest;
  }

  /// Elements that no thread shares with another.
  int64_t unit() const { return joins_rows ? blocks.sizes[0] : 1; }

 private:
  Layout layout(int k) const {
    const BlockOperand& o = blocks.operands[k];
    bool line = true, one_row = true;
    int64_t step = routes[k].size;
    for (int d = 0; d < blocks.ndim; step *= blocks.sizes[d++]) {
      line = line && o.strides[d] == step;
      one_row = one_row && (d == 0 || o.strides[d] == 0);
    }
    const bool one_item = blocks.ndim == 0 || o.strides[0] == 0;
    if (k > 0 && one_item) return one_row ? Layout::Constant : Layout::RepeatedItem;
    if (line) return Layout::Line;
    if (k > 0 && one_row && blocks.ndim > 1) return Layout::RepeatedRow;
    return o.strides[0] == routes[k].size ? Layout::Rows : Layout::Strided;
  }
};

/// One thread's share of a Blocks.
class Walk {
 public:
  Walk(const Plan& plan, int64_t begin, int64_t end, char* memory)
      : plan_(plan), b_(plan.blocks), raw_(memory), at_(begin), end_(end) {
    int64_t rest = begin;
    for (int d = 0; d < b_.ndim; ++d) {
      index_[d] = rest % b_.sizes[d];
      rest /= b_.sizes[d];
    }
  }

  void run() {
    if (at_ >= end_) return;
    char* p[kMaxOperands + 1];
    for (bool first = true; at_ < end_; first = false) {
      int64_t n = end_ - at_;
      if (!plan_.direct) n = std::min(n, plan_.block);
      if (!plan_.joins_rows && b_.ndim > 0) n = std::min(n, b_.sizes[0] - index_[0]);
      // A row's first block is its longest: what it repeats serves the others.
      for (int k = 1; k < b_.noperands; ++k) p[k] = input(k, n, first);
      const bool in_place = !plan_.routes[0].converts && straight(0);
      p[0] = in_place ? address(0) : buffer(0);
      plan_.loop(p, n, b_.params);
      if (!in_place) scatter(n);
      advance(n);
    }
  }

 private:
  char* buffer(int k) const { return raw_ + (k + 1) * kBufferBytes; }

  char* address(int k) const {
    char* p = b_.operands[k].data;
    for (int d = 0; d < b_.ndim; ++d) p += index_[d] * b_.operands[k].strides[d];
    return p;
  }

  /// Whether a block of operand k is one line of its memory.
  bool straight(int k) const {
    switch (plan_.routes[k].layout) {
      case Layout::Line:
        return true;
      case Layout::Rows:
        return !plan_.joins_rows;
      case Layout::RepeatedRow:
        return !plan_.joins_rows && b_.operands[k].strides[0] == plan_.routes[k].size;
      default:
        return false;
    }
  }

  /// The next n elements of operand k, contiguous, in the loop's type.
  char* input(int k, int64_t n, bool first) {
    const Route& r = plan_.routes[k];
    if (k == plan_.item) {
      if (!r.converts) return address(k);
      if (first || index_[0] == 0) repeat_item(k, 1);
      return buffer(k);
    }
    switch (r.layout) {
      case Layout::Constant:
        if (first) repeat_item(k, std::min(plan_.block, end_ - at_));
        return buffer(k);
      case Layout::RepeatedItem:
        if (plan_.joins_rows)
          spread_items(k, n / b_.sizes[0]);
        else if (first || index_[0] == 0)
          repeat_item(k, n);
        return buffer(k);
      case Layout::RepeatedRow:
        if (!plan_.joins_rows) break;
        if (first) repeat_row(k, n);
        return buffer(k);
      default:
        break;
    }
    if (straight(k) && !r.converts) return address(k);
    collect(k, n);
    return buffer(k);
  }

  /// Puts n elements into operand k's buffer, in the loop's type.
  void collect(int k, int64_t n) {
    const Route& r = plan_.routes[k];
    const BlockOperand& o = b_.operands[k];
    const char* source = address(k);
    if (!straight(k)) {
      char* to = r.converts ? raw_ : buffer(k);
      gather(k, 0, n, to);
      source = to;
    }
    if (r.converts) kernels::convert_block(o.loop_dtype, buffer(k), o.dtype, source, n);
  }

  void repeat_item(int k, int64_t n) {
    const Route& r = plan_.routes[k];
    const BlockOperand& o = b_.operands[k];
    const char* item = address(k);
    alignas(16) char one[16];
    if (r.converts) {
      kernels::convert_block(o.loop_dtype, one, o.dtype, item, 1);
      item = one;
    }
    move_loops().fill(buffer(k), item, r.loop_size, n * r.loop_size);
  }

  void repeat_row(int k, int64_t n) {
    const int64_t row = b_.sizes[0] * plan_.routes[k].loop_size, all = n * plan_.routes[k].loop_size;
    collect(k, b_.sizes[0]);
    for (int64_t done = row; done < all; done += std::min(done, all - done))
      std::memcpy(buffer(k) + done, buffer(k), size_t(std::min(done, all - done)));
  }

  void spread_items(int k, int64_t nrows) {
    const Route& r = plan_.routes[k];
    const BlockOperand& o = b_.operands[k];
    alignas(64) char items[kBlockBytes];
    gather(k, 1, nrows, r.converts ? raw_ : items);
    if (r.converts) kernels::convert_block(o.loop_dtype, items, o.dtype, raw_, nrows);
    move_loops().spread(buffer(k), items, r.loop_size, nrows, b_.sizes[0]);
  }

  void scatter(int64_t n) {
    const Route& r = plan_.routes[0];
    const BlockOperand& o = b_.operands[0];
    const char* source = buffer(0);
    if (r.converts) {
      char* to = straight(0) ? address(0) : raw_;
      kernels::convert_block(o.dtype, to, o.loop_dtype, source, n);
      source = to;
    }
    if (straight(0)) return;
    visit_bits(o.dtype, [&]<class T>() {
      pieces(0, 0, n, [&](char* p, int64_t done, int64_t count) {
        scatter_run<T>(p, source + done * int64_t(sizeof(T)), o.strides[0], count);
      });
    });
  }

  /// The next n elements along dim `inner` and those outside of it.
  void gather(int k, int inner, int64_t n, char* to) const {
    const BlockOperand& o = b_.operands[k];
    visit_bits(o.dtype, [&]<class T>() {
      pieces(k, inner, n, [&](char* p, int64_t done, int64_t count) {
        gather_run<T>(to + done * int64_t(sizeof(T)), p, o.strides[inner], count);
      });
    });
  }

  /// Calls f(address, elements before, elements) for the pieces of dim `inner` that the next n elements along it and
  /// the dims outside of it are.
  template <class F>
  void pieces(int k, int inner, int64_t n, F&& f) const {
    const int64_t* strides = b_.operands[k].strides;
    char* p = address(k);
    int64_t index[kMaxDims];
    std::copy_n(index_, b_.ndim, index);
    for (int64_t done = 0;;) {
      const int64_t count = std::min(n - done, b_.sizes[inner] - index[inner]);
      f(p, done, count);
      done += count;
      if (done == n) return;
      p -= index[inner] * strides[inner];
      index[inner] = 0;
      for (int d = inner + 1; d < b_.ndim; ++d) {
        p += strides[d];
        if (++index[d] < b_.sizes[d]) break;
        p -= strides[d] * b_.sizes[d];
        index[d] = 0;
      }
    }
  }

  void advance(int64_t n) {
    at_ += n;
    for (int d = 0; d < b_.ndim; ++d) {
      index_[d] += n;
      if (index_[d] < b_.sizes[d]) return;
      n = index_[d] == b_.sizes[d] ? 1 : index_[d] / b_.sizes[d];
      index_[d] -= n * b_.sizes[d];
    }
  }

  const Plan& plan_;
  const Blocks& b_;
  char* raw_;  // values as they lie in memory; a buffer of the loop's type for each operand follows
  int64_t at_, end_;
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
  const Plan plan(*this);
  const int64_t unit = plan.unit();
  parallel_for(0, numel / unit, std::max<int64_t>(kGrain / unit, 1), [&](int64_t begin, int64_t end) {
    alignas(64) char memory[(kMaxOperands + 2) * kBufferBytes];
    Walk(plan, begin * unit, end * unit, memory).run();
  });
}

}  // namespace vivace
