// at::Tensor: a counted handle to a tensor of vivace's, which is a Python object. Copies share the tensor; one that was
// not given a tensor is undefined. A method per operator comes from the catalogue.
#pragma once
#include "vivace/accessor.h"
#include "vivace/table.h"
#include "vivace/types.h"

namespace at {

class Tensor;
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = TensorList;

/// A random number generator of Python's.
class Generator {
 public:
  explicit Generator(vivace::Object object) : object_(std::move(object)) {}
  const vivace::Object& object() const { return object_; }

 private:
  vivace::Object object_;
};

namespace indexing {
struct TensorIndex;
}

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(vivace::Object object) : object_(std::move(object)) {}
  /// Takes over the reference that an operator returned; None is the undefined tensor.
  static Tensor of_result(PyObject* result) {
    Tensor t(vivace::Object::steal(result));
    if (result == Py_None) t.reset();
    return t;
  }

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor& other) & = default;
  Tensor& operator=(Tensor&& other) & noexcept = default;
  /// Of a part, as in `x[0] = y`: writes to the elements.
  Tensor& operator=(const Tensor& other) &&;
  Tensor& operator=(const Scalar& value) &&;

  bool defined() const { return bool(object_); }
  void reset() { object_ = vivace::Object(); }
  bool is_same(const Tensor& other) const { return object_.get() == other.object_.get(); }
  const vivace::Object& object() const { return object_; }

  // ---- layout

  vivace::abi::Geometry geometry() const {
    if (!defined()) [[unlikely]]
      throw c10::Error("an undefined tensor has no sizes, dtype or data");
    vivace::abi::Geometry g;
    vivace::api().geometry(object_.get(), &g);
    return g;
  }
  int64_t dim() const { return geometry().ndim; }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return geometry().numel; }
  IntArrayRef sizes() const {
    const auto g = geometry();
    return {g.sizes, size_t(g.ndim)};
  }
  IntArrayRef strides() const {
    const auto g = geometry();
    return {g.strides, size_t(g.ndim)};
  }
  IntArrayRef sym_sizes() const { return sizes(); }
  int64_t size(int64_t d) const { return sizes()[wrapped(d)]; }
  int64_t sym_size(int64_t d) const { return size(d); }
  int64_t stride(int64_t d) const { return strides()[wrapped(d)]; }
  int64_t sym_numel() const { return numel(); }
  int64_t storage_offset() const;
  size_t element_size() const { return elementSize(scalar_type()); }
  size_t itemsize() const { return element_size(); }
  size_t nbytes() const { return size_t(numel()) * element_size(); }
  ScalarType scalar_type() const { return geometry().dtype; }
  ScalarType dtype() const { return scalar_type(); }
  Device device() const {
    const auto g = geometry();
    return {g.device_type, g.device_index};
  }
  DeviceIndex get_device() const { return device().index(); }
  int32_t get_device_index() const { return get_device(); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    if (format == MemoryFormat::Contiguous) return geometry().contiguous;
    return vivace::api().is_contiguous(object_.get(), format);
  }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_complex() const { return isComplexType(scalar_type()); }

  // ---- data; writes to it are not seen by autograd

  void* data_ptr() const { return memory(geometry()); }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    const auto g = geometry();
    check_type<T>(g.dtype);
    return static_cast<T*>(memory(g));
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Elements by their indices, without checks.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;  // it would outlive the tensor
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    const auto g = geometry();
    check_type<T>(g.dtype);
    TORCH_CHECK(size_t(g.ndim) == N, "TensorAccessor expected ", N, " dims but tensor has ", g.ndim);
    return {static_cast<T*>(memory(g)), g.sizes, g.strides};
  }

  // ---- values

  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // ---- autograd

  bool requires_grad() const;
  bool is_leaf() const;
  const Tensor& set_requires_grad(bool on) const;
  const Tensor& requires_grad_(bool on = true) const { return set_requires_grad(on); }
  Tensor grad() const;
  void backward(const Tensor& gradient = {}, std::optional<bool> keep_graph = std::nullopt,
                bool create_graph = false) const;
  void retain_grad() const;
  Tensor tensor_data() const;
  Tensor variable_data() const { return tensor_data(); }

  // ---- parts, as between Python's brackets

  Tensor operator[](int64_t i) const;
  Tensor operator[](const Tensor& i) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  const Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value) const;
  const Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value) const;
  const Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) const;

  // ---- operators

  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(DeviceType device, bool non_blocking = false, bool copy = false) const;
  Tensor toType(ScalarType t) const;
#include "vivace/operators/methods.h"

  std::string toString() const;
  void print() const;

 private:
  size_t wrapped(int64_t d) const {
    const int64_t n = dim();
    TORCH_CHECK_INDEX(d >= -n && d < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                      "], but got ", d, ")");
    return size_t(d < 0 ? d + n : d);
  }
  void* memory(const vivace::abi::Geometry& g) const {
    TORCH_CHECK(g.data || g.numel == 0, "Cannot access data pointer of Tensor that doesn't have storage: it is on the ",
                "device '", device(), "', or of a class that wraps other tensors");
    return g.data;
  }
  template <class T>
  static void check_type(ScalarType t) {
    constexpr ScalarType wanted = CppTypeToScalarType<std::remove_const_t<T>>::value;
    TORCH_CHECK(t == wanted, "expected scalar type ", wanted, " but found ", t);
  }

  vivace::Object object_;
};
static_assert(sizeof(Tensor) == sizeof(PyObject*));

/// The type of what is differentiated; PyTorch's older name.
using Variable = Tensor;

}  // namespace at
