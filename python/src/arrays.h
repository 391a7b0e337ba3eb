// Arrays of NumPy over memory that this side made: moved, never copied. NumPy is imported by the first of them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace deberta::python {

// The product of the shape is the number of values.
template <class T>
nanobind::object to_array(std::vector<T>&& values, std::initializer_list<size_t> shape) {
  auto* held = new std::vector<T>(std::move(values));
  held->reserve(1);  // an array of nothing has a place too
  const nanobind::capsule owner(held, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return nanobind::ndarray<nanobind::numpy, T>(held->data(), shape, owner).cast();
}

}  // namespace deberta::python
