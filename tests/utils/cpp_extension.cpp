// What test_cpp_extension.py calls: one of each thing that an extension does.
#include <torch/extension.h>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

// ---- operators

torch::Tensor gate(torch::Tensor x, const at::Scalar& alpha) {
  auto masked = (alpha * (x - 1)) < 0;
  return (1 - torch::sigmoid(x)) * masked.type_as(x) + 2.0 / (x + 3);
}

std::vector<torch::Tensor> pieces(torch::Tensor a, torch::Tensor b) {
  auto both = torch::cat({a, b}, /*dim=*/1);
  auto product = torch::addmm(torch::zeros({a.size(0)}, a.options()), a, b.transpose(0, 1));
  auto found = both.max(1);
  return {both.slice(/*dim=*/1, 1, 3), product, std::get<0>(found), both.sum(/*dim=*/0, /*keepdim=*/true)};
}

torch::Tensor set_parts(torch::Tensor x) {
  using namespace torch::indexing;
  x[0] = torch::full({2}, 5);
  x.index_put_({Slice(1, None), 0}, 7);
  x += 1;
  return x.index({"...", Slice(None, None, 2)});
}

torch::Tensor of_values() {
  TORCH_CHECK(torch::randperm(4, torch::kLong).sum().item<int64_t>() == 6);
  TORCH_CHECK(float(std::numeric_limits<at::Half>::lowest()) == -65504 &&
              float(std::numeric_limits<at::BFloat16>::epsilon()) == 0.0078125f);
  return torch::tensor({1.5, 2.5}) + torch::tensor(std::vector<int64_t>{1, 2}).to(torch::kFloat);
}

bool borrowed_memory() {
  static int freed = 0;
  auto* data = new double[6]{1, 2, 3, 4, 5, 6};
  {
    auto t = torch::from_blob(data, {2, 3}, [](void* p) { ++freed, delete[] static_cast<double*>(p); }, torch::kDouble);
    TORCH_CHECK(t.sizes() == torch::IntArrayRef({2, 3}) && t.sum().item<double>() == 21 && freed == 0);
  }
  return freed == 1;
}

// ---- elements

torch::Tensor twice(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_ALL_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "twice", [&] {
    auto from = x.accessor<scalar_t, 2>();
    auto to = y.accessor<scalar_t, 2>();
    at::parallel_for(0, x.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < from.size(1); ++j) to[i][j] = scalar_t(from[i][j] * scalar_t(2));
    });
  });
  return y;
}

// ---- arguments and results

std::tuple<std::string, double> takes(const std::optional<torch::Tensor>& t, std::vector<int64_t> sizes,
                                      torch::ScalarType dtype, torch::Device device, const std::string& text, bool flag,
                                      std::pair<int, float> pair, std::map<std::string, torch::Tensor> named) {
  auto total = torch::ones(sizes, torch::dtype(dtype).device(device)).sum();
  if (t) total = total + t->sum();
  for (const auto& [name, value] : named) total = total + value.sum() * int64_t(name.size());
  return {c10::str(text, flag, pair.first, dtype, device), total.item<double>() + pair.second};
}
int64_t which(torch::Tensor) { return 1; }
int64_t which(double) { return 2; }
torch::Tensor nothing() { return {}; }

torch::Tensor without_lock(torch::Tensor x) {
  py::gil_scoped_release released;
  torch::Tensor sum = x;
  for (int i = 0; i < 100; ++i) sum = sum + x;
  return sum;
}

void fail(int64_t kind) {
  torch::Tensor undefined;
  switch (kind) {
    case 0:
      TORCH_CHECK(kind > 0, "kind is ", kind);
    case 1:
      throw std::invalid_argument("invalid");
    case 2:
      throw std::out_of_range("out of range");
    case 3:
      TORCH_CHECK_VALUE(false, "a value");
    case 4:
      undefined + 1;
      break;
    case 5:
      undefined.sizes();
      break;
    case 6:
      torch::ones({2}).select(3, 0);
      break;
    case 7:
      torch::ones({2}).data_ptr<double>();
      break;
    case 8:
      torch::cat({torch::ones({1}), undefined});
      break;
    case 9:
      AT_DISPATCH_FLOATING_TYPES(torch::kInt, "fail",
                                 [&] { return torch::zeros({1}, torch::CppTypeToScalarType<scalar_t>::value); });
      break;
    case 10:
      at::parallel_for(0, 4, 1, [](int64_t, int64_t) { throw std::runtime_error("in a part"); });
      break;
    case 11:
      throw 11;
  }
}

std::string catches() {
  try {
    torch::ones({2}) + torch::ones({3});
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "";
}

// ---- autograd

struct Scaled : torch::autograd::Function<Scaled> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double k, std::optional<torch::Tensor>) {
    ctx->saved_data["k"] = k;
    ctx->save_for_backward({x});
    return x * x * k;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    TORCH_CHECK(ctx->needs_input_grad(0));
    return {grads[0] * 2 * x * ctx->saved_data["k"].toDouble(), torch::Tensor(), torch::Tensor()};
  }
};
torch::Tensor scaled(torch::Tensor x, double k) { return Scaled::apply(x, k, std::nullopt); }

std::vector<torch::Tensor> gradient(torch::Tensor x) {
  auto y = (x * x).sum();
  auto by_x = torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true);
  y.backward();
  torch::NoGradGuard no_grad;
  TORCH_CHECK(!(x * 2).requires_grad() && !torch::GradMode::is_enabled());
  return {by_x[0], x.grad()};
}

// ---- operators of its own

torch::Tensor muladd(const torch::Tensor& a, const torch::Tensor& b, double c) {
  TORCH_CHECK(a.sizes() == b.sizes(), "a is ", a.sizes(), ", b is ", b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat);
  const auto x = a.contiguous(), y = b.contiguous();
  auto result = torch::empty(x.sizes(), x.options());
  for (int64_t i = 0; i < x.numel(); ++i)
    result.data_ptr<float>()[i] = x.data_ptr<float>()[i] * y.data_ptr<float>()[i] + float(c);
  return result;
}
void fill(at::Tensor& out, int64_t value) { out.fill_(value); }
std::tuple<torch::Tensor, std::vector<torch::Tensor>> many(torch::TensorList list, at::OptionalIntArrayRef dims,
                                                           std::optional<std::string> text, at::ScalarType dtype) {
  const int64_t n = int64_t(dims ? dims->size() : 0) + int64_t(text ? text->size() : 0);
  return {torch::full({2}, n, dtype), list.vec()};
}
torch::Tensor meta(const torch::Tensor& a, const torch::Tensor&, double) { return torch::empty_like(a); }

/// An operator that records itself: its kernel for Autograd calls the operator again, below.
torch::Tensor square(const torch::Tensor& x) { return x.detach() * x.detach(); }
torch::Tensor call_square(const torch::Tensor& x) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("vivace_test::square", "").typed<torch::Tensor(torch::Tensor)>();
  return op.call(x);
}
struct Square : torch::autograd::Function<Square> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
    at::AutoDispatchBelowAutograd below;
    ctx->save_for_backward({x});
    return call_square(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
};
torch::Tensor square_autograd(const torch::Tensor& x) { return Square::apply(x); }

torch::Tensor square_autocast(const torch::Tensor& x) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::Autocast);
  return call_square(at::autocast::cached_cast(at::kBFloat16, x));
}

/// Whether vivace has the operator that the generated headers name.
void find(const std::string& qualname, const std::string& signature) {
  if (!vivace::api().find_operator(qualname.c_str(), signature.c_str())) throw vivace::PythonError();
}

torch::Tensor call_muladd(torch::Tensor a, torch::Tensor b) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("vivace_test::muladd", "")
                             .typed<torch::Tensor(const torch::Tensor&, const torch::Tensor&, double)>();
  return op.call(a, b, 3);
}

}  // namespace

TORCH_LIBRARY(vivace_test, m) {
  m.def("muladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("fill(Tensor(a!) out, int value) -> ()");
  m.def("many(Tensor[] list, int[]? dims=None, str? text=None, *, ScalarType dtype) -> (Tensor, Tensor[])", &many);
  m.def("square(Tensor x) -> Tensor");
  m.def("inferred", [](const at::Tensor& x, int64_t n) { return x * n; });
}
TORCH_LIBRARY_IMPL(vivace_test, CPU, m) {
  m.impl("muladd", &muladd);
  m.impl("fill", &fill);
  m.impl("square", &square);
}
TORCH_LIBRARY_IMPL(vivace_test, Autograd, m) { m.impl("square", &square_autograd); }
TORCH_LIBRARY_IMPL(vivace_test, Autocast, m) { m.impl("square", &square_autocast); }
static auto registry = torch::RegisterOperators().op("vivace_test::older", [](torch::Tensor x) { return x + 1; });
TORCH_LIBRARY_IMPL(vivace_test, Meta, m) { m.impl("muladd", TORCH_FN(meta)); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "Functions of tests.";
  m.def("gate", &gate, "a gate", py::arg("x"), py::arg("alpha") = 1.0);
  m.def("pieces", &pieces);
  m.def("set_parts", &set_parts);
  m.def("of_values", &of_values);
  m.def("borrowed_memory", &borrowed_memory);
  m.def("twice", &twice);
  m.def("takes", &takes, py::arg("t") = py::none(), py::arg("sizes") = std::vector<int64_t>{2},
        py::arg("dtype") = torch::kFloat, py::arg("device") = torch::Device(torch::kCPU), py::arg("text") = "",
        py::arg("flag") = false, py::arg("pair") = std::pair<int, float>(1, 0.5f),
        py::arg("named") = std::map<std::string, torch::Tensor>());
  m.def("which", static_cast<int64_t (*)(torch::Tensor)>(&which));
  m.def("which", static_cast<int64_t (*)(double)>(&which));
  m.def("nothing", &nothing);
  m.def("without_lock", &without_lock);
  m.def("multiply", [](const torch::Tensor& x, int n) { return x * n; }, py::call_guard<py::gil_scoped_release>());
  m.def("fail", &fail);
  m.def("catches", &catches);
  m.def("scaled", &scaled);
  m.def("gradient", &gradient);
  m.def("call_muladd", &call_muladd);
  m.def("find", &find);
}
