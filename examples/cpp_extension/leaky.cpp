// A leaky integrator, y[t] = decay * y[t - 1] + x[t], as an operator: a loop over time that would cost an operator's
// call a step in Python. Its gradient is the same loop backwards, an operator too.
#include <torch/extension.h>

#include <tuple>

namespace {

void check(const at::Tensor& x, const at::Tensor& decay) {
  TORCH_CHECK(x.dim() == 2, "leaky: x has to be (time, units), but its sizes are ", x.sizes());
  TORCH_CHECK(decay.sizes() == at::IntArrayRef({x.size(1)}), "leaky: a decay for each of ", x.size(1),
              " units is needed, but the sizes are ", decay.sizes());
  TORCH_CHECK(x.dtype() == decay.dtype(), "leaky: x is ", x.dtype(), ", but decay is ", decay.dtype());
}

at::Tensor integrate(const at::Tensor& x, const at::Tensor& decay) {
  check(x, decay);
  const at::Tensor from = x.contiguous(), rate = decay.contiguous();
  at::Tensor result = at::empty_like(from);
  const int64_t steps = from.size(0), units = from.size(1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "leaky::integrate", [&] {
    const scalar_t *in = from.data_ptr<scalar_t>(), *a = rate.data_ptr<scalar_t>();
    scalar_t* y = result.data_ptr<scalar_t>();
    at::parallel_for(0, units, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t t = 0; t < steps; ++t)
        for (int64_t n = begin; n < end; ++n)
          y[t * units + n] = in[t * units + n] + (t ? a[n] * y[(t - 1) * units + n] : scalar_t(0));
    });
  });
  return result;
}

std::tuple<at::Tensor, at::Tensor> integrate_backward(const at::Tensor& grad, const at::Tensor& y,
                                                      const at::Tensor& decay) {
  check(grad, decay);
  const at::Tensor g = grad.contiguous(), out = y.contiguous(), rate = decay.contiguous();
  at::Tensor by_x = at::empty_like(g), by_decay = at::zeros_like(rate);
  const int64_t steps = g.size(0), units = g.size(1);
  AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "leaky::integrate_backward", [&] {
    const scalar_t *from = g.data_ptr<scalar_t>(), *before = out.data_ptr<scalar_t>(), *a = rate.data_ptr<scalar_t>();
    scalar_t *gx = by_x.data_ptr<scalar_t>(), *ga = by_decay.data_ptr<scalar_t>();
    at::parallel_for(0, units, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t t = steps - 1; t >= 0; --t)
        for (int64_t n = begin; n < end; ++n) {
          const int64_t i = t * units + n;
          gx[i] = from[i] + (t + 1 < steps ? a[n] * gx[i + units] : scalar_t(0));
          if (t > 0) ga[n] += gx[i] * before[i - units];
        }
    });
  });
  return {by_x, by_decay};
}

/// How many steps it takes to forget half: operators called from C++ are recorded as those called from Python.
at::Tensor half_life(const at::Tensor& decay) { return -std::log(2.0) / decay.log(); }

}  // namespace

TORCH_LIBRARY(leaky, m) {
  m.def("integrate(Tensor x, Tensor decay) -> Tensor");
  m.def("integrate_backward(Tensor grad, Tensor y, Tensor decay) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(leaky, CPU, m) {
  m.impl("integrate", &integrate);
  m.impl("integrate_backward", &integrate_backward);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("half_life", &half_life, "Steps after which half is left.", py::arg("decay"));
}
