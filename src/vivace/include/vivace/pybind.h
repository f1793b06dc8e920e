// Casters of pybind11 for programs that include <pybind11/pybind11.h> themselves, before <torch/extension.h>.
#pragma once
#include <pybind11/stl.h>

#include "vivace/convert.h"

namespace pybind11::detail {

template <class T>
struct vivace_caster {
  PYBIND11_TYPE_CASTER(T, const_name("torch value"));
  bool load(handle source, bool) { return vivace::Convert<T>::load(source.ptr(), value); }
  static handle cast(const T& source, return_value_policy, handle) {
    return vivace::checked(vivace::to_python(source));
  }
};
template <>
struct type_caster<at::Tensor> : vivace_caster<at::Tensor> {};
template <>
struct type_caster<c10::Scalar> : vivace_caster<c10::Scalar> {};
template <>
struct type_caster<c10::ScalarType> : vivace_caster<c10::ScalarType> {};
template <>
struct type_caster<c10::Device> : vivace_caster<c10::Device> {};

}  // namespace pybind11::detail
