// batch_norm and group_norm over (N, C, ...): statistics per channel or per group, then one affine map per channel.
#include <cmath>
#include <vector>

#include "generated/kernels/nn/norm.h"
#include "runtime/kernels/channel_rows.h"
#include "runtime/kernels/isa/dense.h"
#include "runtime/kernels/layout.h"
#include "runtime/kernels/norm.h"
#include "runtime/kernels/rows.h"
#include "runtime/parallel/parallel.h"

namespace vivace {
namespace {

/// Elements of (N, C, S) in one type, contiguous, or with channels first where S is so short that rows would be tiny.
struct Channels {
  TensorRef dense;
  int64_t batches, channels, size;
  bool turned = false;  // stored as (C, N * S)

  Channels(Tensor& t, DType dtype, int64_t short_row = 8) {
    batches = t.sizes()[0];
    channels = t.sizes()[1];
    size = batches > 0 && channels > 0 ? t.numel() / (batches * channels) : 0;
    if (size < short_row && t.dim() >= 2) {
      turned = true;
      TensorRef view = first_to_channels(t);
      dense = contiguous(*view);
      size *= batches;
      batches = 1;
    } else {
      dense = contiguous(t);
    }
    if (dense->dtype() != dtype) dense = to_dtype(*dense, dtype);
  }
  static TensorRef first_to_channels(Tensor& t) {
    Dims sizes(t.sizes()), strides(t.strides());
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
    return make_view(t, sizes, strides, t.storage_offset());
  }
  /// The row of batch n and channel c.
  template <class T>
  T* row(int64_t n, int64_t c) const {
    return dense->data<T>() + (n * channels + c) * size;
  }
  int64_t per_channel() const { return batches * size; }
};

/// Where results of the same layout as `like` go; `finish` brings them into `out`.
struct ChannelsOut {
  Tensor& out;
  TensorRef buffer;
  const Channels& like;
  ChannelsOut(Tensor& out, const Channels& like) : out(out), like(like) {
    if (like.turned || !out.is_contiguous() || out.dtype() != like.dense->dtype())
      buffer = empty(like.dense->sizes(), like.dense->dtype());
  }
  template <class T>
  T* row(int64_t n, int64_t c) const {
    return (buffer ? buffer->data<T>() : out.data<T>()) + (n * like.channels + c) * like.size;
  }
  void finish() {
    if (!buffer) return;
    TensorRef target = like.turned ? Channels::first_to_channels(out) : TensorRef::share(&out);
    copy_into(*target, *buffer);
  }
};

template <class T>
T at(const TensorRef& t, int64_t i, T otherwise) {
  return t ? t->template data<T>()[i] : otherwise;
}

void check_channels(const char* op, const char* name, const Tensor* t, int64_t channels) {
  if (t && t->numel() != channels) [[unlikely]]
    fail(op, ": ", name, " should contain ", channels, " elements not ", t->numel());
}

TensorRef channel_result(const char* op, Tensor& input, Tensor* weight, Tensor* bias, Tensor* mean, Tensor* var) {
  if (input.dim() < 2) fail(op, ": expected at least 2 dims (N, C, ...), but got input of shape ", input.sizes());
  kernels::check_floating(input.dtype(), op);
  const int64_t channels = input.sizes()[1];
  check_channels(op, "weight", weight, channels);
  check_channels(op, "bias", bias, channels);
  check_channels(op, "running_mean", mean, channels);
  check_channels(op, "running_var", var, channels);
  return kernels::empty_in_format(input, input.dtype(), input.device(), kernels::format_of(input));
}

/// running = (1 - momentum) * running + momentum * value
void update(Tensor* running, int64_t c, double momentum, double value) {
  if (!running) return;
  const int64_t at = c * running->strides()[0];
  visit(running->dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      running->data<T>()[at] = T((1 - momentum) * double(running->data<T>()[at]) + momentum * value);
    else if constexpr (std::is_same_v<T, Half>)
      running->data<T>()[at] = to_half(float((1 - momentum) * to_float(running->data<T>()[at]) + momentum * value));
    else if constexpr (std::is_same_v<T, BFloat16>)
      running->data<T>()[at] = to_bfloat16(float((1 - momentum) * to_float(running->data<T>()[at]) + momentum * value));
  });
}

template <class T>
double channel_mean(const Channels& x, int64_t c) {
  double sum = 0;
  for (int64_t n = 0; n < x.batches; ++n) sum += dense::loops<T>().sum(x.row<T>(n, c), x.size);
  return sum / double(x.per_channel());
}

template <class T>
double channel_squares(const Channels& x, int64_t c, double mean) {
  double sum = 0;
  for (int64_t n = 0; n < x.batches; ++n) sum += dense::loops<T>().sum_squares(x.row<T>(n, c), x.size, T(mean));
  return sum;
}

constexpr int64_t kGrain = 32768;

}  // namespace

namespace meta {

TensorRef batch_norm_train(Tensor& input, Tensor* weight, Tensor* bias, Tensor* running_mean, Tensor* running_var,
                           double, double) {
  TensorRef out = channel_result("batch_norm", input, weight, bias, running_mean, running_var);
  const int64_t channels = input.sizes()[1];
  if (input.numel() && input.numel() / channels == 1)
    fail_value("Expected more than 1 value per channel when training, got input size torch.Size(", input.sizes(), ")");
  return out;
}

TensorRef batch_norm_eval(Tensor& input, Tensor* weight, Tensor* bias, Tensor& running_mean, Tensor& running_var,
                          double) {
  return channel_result("batch_norm", input, weight, bias, &running_mean, &running_var);
}

TensorRef group_norm(Tensor& input, int64_t num_groups, Tensor* weight, Tensor* bias, double) {
  if (input.dim() < 2) fail("group_norm: Expected at least 2 dimensions for input tensor but received ", input.dim());
  kernels::check_floating(input.dtype(), "GroupNormKernelImpl");
  if (num_groups <= 0) fail("group_norm: Expected num groups to be greater than 0, got ", num_groups);
  const int64_t channels = input.sizes()[1];
  if (channels % num_groups)
    fail("group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape ",
         input.sizes(), " and num_groups=", num_groups);
  for (const auto& [name, t] : {std::pair{"weight", weight}, {"bias", bias}})
    if (t && (t->dim() != 1 || t->numel() != channels))
      fail("group_norm: Expected ", name, " to be a vector of size equal to the number of channels in input, but got ",
           name, " of shape ", t->sizes(), " and input of shape ", input.sizes());
  return kernels::empty_images(input.sizes(), input.dtype(), input.device(), kernels::format_of(input));
}

}  // namespace meta

namespace kernels {
namespace {

/// Brings what was written to `place` into `out`.
void put(Tensor& out, const TensorRef& place) {
  if (place.get() != &out) copy_into(out, *place);
}

void train_rows(const ChannelRows& x, const TensorRef& w, const TensorRef& b, Tensor* running_mean, Tensor* running_var,
                double momentum, double eps, Tensor& out) {
  const TensorRef y = x.place_for(out);
  visit_compute(x.dense->dtype(), "batch_norm", [&]<class T>() {
    x.each_block([&](int64_t first, int64_t n) {
      double mean[ChannelRows::kBlock], squares[ChannelRows::kBlock];
      T scale[ChannelRows::kBlock], shift[ChannelRows::kBlock];
      x.means<T>(first, n, mean);
      x.squares<T>(first, n, mean, squares);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t c = first + k;
        scale[k] = T(1 / std::sqrt(squares[k] / double(x.rows) + eps)) * at<T>(w, c, 1);
        shift[k] = at<T>(b, c, 0) - T(mean[k]) * scale[k];
        update(running_mean, c, momentum, mean[k]);
        update(running_var, c, momentum, squares[k] / double(x.rows - 1));
      }
      dense::loops<T>().scale_shift_columns(x.dense->data<T>() + first, y->data<T>() + first, x.rows, x.channels, n,
                                            scale, shift);
    });
  });
  put(out, y);
}

void eval_rows(const ChannelRows& x, const TensorRef& w, const TensorRef& b, const TensorRef& mean,
               const TensorRef& var, double eps, Tensor& out) {
  const TensorRef y = x.place_for(out);
  visit_compute(x.dense->dtype(), "batch_norm", [&]<class T>() {
    x.each_block([&](int64_t first, int64_t n) {
      T scale[ChannelRows::kBlock], shift[ChannelRows::kBlock];
      for (int64_t k = 0; k < n; ++k) {
        const int64_t c = first + k;
        scale[k] = T(1 / std::sqrt(double(at<T>(var, c, 1)) + eps)) * at<T>(w, c, 1);
        shift[k] = at<T>(b, c, 0) - at<T>(mean, c, 0) * scale[k];
      }
      dense::loops<T>().scale_shift_columns(x.dense->data<T>() + first, y->data<T>() + first, x.rows, x.channels, n,
                                            scale, shift);
    });
  });
  put(out, y);
}

/// As batch_norm_grad has it for each channel.
void grad_rows(const ChannelRows& x, Tensor& dy, const TensorRef& w, const TensorRef& fixed_mean,
               const TensorRef& fixed_var, double eps, const TensorRef& x_grad, const TensorRef& w_grad,
               const TensorRef& b_grad) {
  const TensorRef dx = x_grad ? x.place_for(*x_grad) : TensorRef();
  visit_compute(x.dense->dtype(), "batch_norm", [&]<class T>() {
    const auto& loops = dense::loops<T>();
    x.each_block([&](int64_t first, int64_t n) {
      constexpr int64_t kBlock = ChannelRows::kBlock;
      const T *from = x.dense->data<T>() + first, *g = dy.data<T>() + first;
      double mean[kBlock], squares[kBlock], sums[kBlock] = {}, products[kBlock] = {};
      T center[kBlock], scale[kBlock], slope[kBlock], offset[kBlock];
      if (!fixed_mean) x.means<T>(first, n, mean);
      for (int64_t k = 0; fixed_mean && k < n; ++k) mean[k] = double(at<T>(fixed_mean, first + k, 0));
      if (!fixed_var) x.squares<T>(first, n, mean, squares);
      std::copy_n(mean, n, center);
      loops.column_sums(g, x.rows, x.channels, n, sums);
      loops.column_products(g, from, x.rows, x.channels, n, center, products);
      const double count = double(x.rows);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t c = first + k;
        const double v = fixed_var ? double(at<T>(fixed_var, c, 1)) : squares[k] / count;
        const double rstd = 1 / std::sqrt(v + eps), s = rstd * double(at<T>(w, c, 1));
        if (w_grad) w_grad->data<T>()[c] = T(products[k] * rstd);
        if (b_grad) b_grad->data<T>()[c] = T(sums[k]);
        const double by_x = fixed_mean ? 0 : -s * rstd * rstd * products[k] / count;
        scale[k] = T(s);
        slope[k] = T(by_x);
        offset[k] = T(fixed_mean ? 0 : -s * sums[k] / count - by_x * mean[k]);
      }
      if (dx) loops.combine_columns(g, from, dx->data<T>() + first, x.rows, x.channels, n, scale, slope, offset);
    });
  });
  if (dx) put(*x_grad, dx);
}

}  // namespace

void batch_norm_train(Tensor& input, Tensor* weight, Tensor* bias, Tensor* running_mean, Tensor* running_var,
                      double momentum, double eps, Tensor& out) {
  if (input.numel() == 0) return;
  const DType compute = compute_of(input.dtype());
  TensorRef w = dense_in(weight, compute), b = dense_in(bias, compute);
  if (const auto rows = ChannelRows::of(input, compute)) {
    train_rows(*rows, w, b, running_mean, running_var, momentum, eps, out);
  } else {
    const Channels x(input, compute);
    ChannelsOut y(out, x);
    visit_compute(compute, "batch_norm", [&]<class T>() {
      parallel_for(0, x.channels, kGrain / x.per_channel() + 1, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          const double mean = channel_mean<T>(x, c), squares = channel_squares<T>(x, c, mean),
                       count = double(x.per_channel());
          const T scale = T(1 / std::sqrt(squares / count + eps)) * at<T>(w, c, 1),
                  shift = at<T>(b, c, 0) - T(mean) * scale;
          for (int64_t n = 0; n < x.batches; ++n)
            dense::loops<T>().scale_shift(x.row<T>(n, c), y.row<T>(n, c), x.size, scale, shift);
          update(running_mean, c, momentum, mean);
          update(running_var, c, momentum, squares / (count - 1));
        }
      });
    });
    y.finish();
  }
  if (running_mean) bump_version(*running_mean);
  if (running_var) bump_version(*running_var);
}

void batch_norm_eval(Tensor& input, Tensor* weight, Tensor* bias, Tensor& running_mean, Tensor& running_var, double eps,
                     Tensor& out) {
  if (input.numel() == 0) return;
  const DType compute = compute_of(input.dtype());
  TensorRef w = dense_in(weight, compute), b = dense_in(bias, compute), mean = dense_in(&running_mean, compute),
            var = dense_in(&running_var, compute);
  if (const auto rows = ChannelRows::of(input, compute)) return eval_rows(*rows, w, b, mean, var, eps, out);
  const Channels x(input, compute);
  ChannelsOut y(out, x);
  visit_compute(compute, "batch_norm", [&]<class T>() {
    parallel_for(0, x.channels, kGrain / x.per_channel() + 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const T scale = T(1 / std::sqrt(double(at<T>(var, c, 1)) + eps)) * at<T>(w, c, 1),
                shift = at<T>(b, c, 0) - at<T>(mean, c, 0) * scale;
        for (int64_t n = 0; n < x.batches; ++n)
          dense::loops<T>().scale_shift(x.row<T>(n, c), y.row<T>(n, c), x.size, scale, shift);
      }
    });
  });
  y.finish();
}

std::tuple<TensorRef, TensorRef, TensorRef> batch_norm_grad(Tensor& g, Tensor& input, Tensor* weight, Tensor* mean,
                                                            Tensor* var, double eps, Needs needs) {
  const DType compute = compute_of(input.dtype());
  const int64_t channels = input.sizes()[1];
  TensorRef x_grad, w_grad, b_grad;
  if (needs & 1) x_grad = empty_in_format(input, input.dtype(), input.device(), format_of(input));
  if (needs & 2) fill_into(*(w_grad = empty({channels}, compute)), Scalar(0));
  if (needs & 4) fill_into(*(b_grad = empty({channels}, compute)), Scalar(0));
  if (input.numel() == 0) return {x_grad, w_grad, b_grad};
  TensorRef w = dense_in(weight, compute), fixed_mean = dense_in(mean, compute), fixed_var = dense_in(var, compute);
  if (const auto rows = ChannelRows::of(input, compute)) {
    grad_rows(*rows, *rows->aligned(g), w, fixed_mean, fixed_var, eps, x_grad, w_grad, b_grad);
    return {std::move(x_grad), std::move(w_grad), std::move(b_grad)};
  }
  const Channels x(input, compute), dy(g, compute);
  std::optional<ChannelsOut> dx;
  if (x_grad) dx.emplace(*x_grad, x);
  visit_compute(compute, "batch_norm", [&]<class T>() {
    const auto& loops = dense::loops<T>();
    parallel_for(0, channels, kGrain / x.per_channel() + 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const double count = double(x.per_channel());
        const double m = fixed_mean ? double(at<T>(fixed_mean, c, 0)) : channel_mean<T>(x, c);
        const double v = fixed_var ? double(at<T>(fixed_var, c, 1)) : channel_squares<T>(x, c, m) / count;
        const double rstd = 1 / std::sqrt(v + eps), scale = rstd * double(at<T>(w, c, 1));
        double sum = 0, products = 0;  // of g, and of g * (x - mean)
        for (int64_t n = 0; n < x.batches; ++n) {
          sum += loops.sum(dy.row<T>(n, c), x.size);
          products += loops.sum_products(dy.row<T>(n, c), x.row<T>(n, c), x.size, T(m));
        }
        if (w_grad) w_grad->data<T>()[c] = T(products * rstd);
        if (b_grad) b_grad->data<T>()[c] = T(sum);
        if (!dx) continue;
        // dx = scale * (g - mean(g) - (x - m) * rstd^2 * mean(g * (x - m))); with fixed statistics only scale * g.
        const double slope = fixed_mean ? 0 : -scale * rstd * rstd * products / count,
                     offset = fixed_mean ? 0 : -scale * sum / count - slope * m;
        for (int64_t n = 0; n < x.batches; ++n)
          loops.combine(dy.row<T>(n, c), x.row<T>(n, c), dx->row<T>(n, c), x.size, T(scale), T(slope), T(offset));
      }
    });
  });
  if (dx) dx->finish();
  return {std::move(x_grad), std::move(w_grad), std::move(b_grad)};
}

void group_norm(Tensor& input, int64_t num_groups, Tensor* weight, Tensor* bias, double eps, Tensor& out) {
  if (input.numel() == 0) return;
  const DType compute = compute_of(input.dtype());
  const Channels x(input, compute, 0);
  ChannelsOut y(out, x);
  TensorRef w = dense_in(weight, compute), b = dense_in(bias, compute);
  const int64_t width = x.channels / num_groups, n = width * x.size;
  visit_compute(compute, "group_norm", [&]<class T>() {
    parallel_for(0, x.batches * num_groups, kGrain / n + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / num_groups, first = i % num_groups * width;
        T mean, rstd;
        dense::loops<T>().moments(x.row<T>(batch, first), &mean, &rstd, 1, n, T(eps));
        for (int64_t c = first; c < first + width; ++c) {
          const T scale = rstd * at<T>(w, c, 1), shift = at<T>(b, c, 0) - mean * scale;
          dense::loops<T>().scale_shift(x.row<T>(batch, c), y.row<T>(batch, c), x.size, scale, shift);
        }
      }
    });
  });
  y.finish();
}

std::tuple<TensorRef, TensorRef, TensorRef> group_norm_grad(Tensor& g, Tensor& input, int64_t groups, Tensor* weight,
                                                            double eps, Needs needs) {
  const DType compute = compute_of(input.dtype());
  const int64_t channels = input.sizes()[1];
  TensorRef x_grad, w_grad, b_grad;
  if (needs & 1) x_grad = empty_images(input.sizes(), input.dtype(), {}, format_of(input));
  if (needs & 2) fill_into(*(w_grad = empty({channels}, compute)), Scalar(0));
  if (needs & 4) fill_into(*(b_grad = empty({channels}, compute)), Scalar(0));
  if (input.numel() == 0) return {x_grad, w_grad, b_grad};
  const Channels x(input, compute, 0), dy(g, compute, 0);
  std::optional<ChannelsOut> dx;
  if (x_grad) dx.emplace(*x_grad, x);
  TensorRef w = dense_in(weight, compute);
  const int64_t width = channels / groups, n = width * x.size;
  visit_compute(compute, "group_norm", [&]<class T>() {
    const auto& loops = dense::loops<T>();
    for (int64_t i = 0; i < x.batches * groups; ++i) {
      const int64_t batch = i / groups, first = i % groups * width;
      T mean, rstd;
      loops.moments(x.row<T>(batch, first), &mean, &rstd, 1, n, T(eps));
      double sum = 0, products = 0;  // over the group, of w * g and of w * g * (x - mean)
      for (int64_t c = first; c < first + width; ++c) {
        const double s = loops.sum(dy.row<T>(batch, c), x.size),
                     p = loops.sum_products(dy.row<T>(batch, c), x.row<T>(batch, c), x.size, mean);
        if (w_grad) w_grad->data<T>()[c] += T(p * double(rstd));
        if (b_grad) b_grad->data<T>()[c] += T(s);
        sum += s * double(at<T>(w, c, 1));
        products += p * double(at<T>(w, c, 1));
      }
      if (!dx) continue;
      const double r = double(rstd), slope = -r * r * r * products / double(n),
                   offset = -r * sum / double(n) - slope * double(mean);
      for (int64_t c = first; c < first + width; ++c)
        loops.combine(dy.row<T>(batch, c), x.row<T>(batch, c), dx->row<T>(batch, c), x.size,
                      T(r * double(at<T>(w, c, 1))), T(slope), T(offset));
    }
  });
  if (dx) dx->finish();
  return {std::move(x_grad), std::move(w_grad), std::move(b_grad)};
}

}  // namespace kernels
}  // namespace vivace
