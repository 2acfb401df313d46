// Batch: a contiguous batch of matrices as the kernels use it.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::decomposition {

/// The matrices of an array, or its vectors if only the last dimension belongs to an element.
template <class T>
struct Batch {
  T* data;
  std::int64_t count, rows, cols;

  explicit Batch(const NdArray& x, std::int64_t matrix_dims = 2) : data(x.address_as<T>()), count(1) {
    const std::size_t n = x.sizes().size(), lead = n - static_cast<std::size_t>(matrix_dims);
    for (std::size_t i = 0; i < lead; ++i) count *= x.sizes()[i];
    rows = matrix_dims == 2 ? x.sizes()[n - 2] : 1;
    cols = matrix_dims == 0 ? 1 : x.sizes()[n - 1];
  }
};

}  // namespace ebb::decomposition
