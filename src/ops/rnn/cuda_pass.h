// Helpers of both passes of recurrent layers on a GPU, for .cu files: products of some rows of a step.
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/walk.h"
#include "kernel/optional_data.h"
#include "ops/common/kernels.h"
#include "ops/rnn/kernels.h"
#include "ops/rnn/math.h"

namespace ebb::cuda::recurring {

using ops::RnnKind;
using ops::RnnSteps;

/// Computes out = left weight, or left weight^T if `transposed`. With beta = 0 it overwrites out, with 1 it
/// adds. The `rows` rows of contiguous matrices begin at the given pointers.
template <class T>
void product(Device device, std::int64_t rows, T* left, const NdArray& weight, bool transposed, T* out,
             double beta) {
  const std::int64_t height = weight.sizes()[0], width = weight.sizes()[1];
  const std::int64_t depth = transposed ? width : height, columns = transposed ? height : width;
  const BatchedMatrix a{left, rows, depth, depth, 1, 0}, c{out, rows, columns, columns, 1, 0};
  const BatchedMatrix b = transposed ? BatchedMatrix{weight.address(), depth, columns, 1, depth, 0}
                                     : BatchedMatrix{weight.address(), depth, columns, columns, 1, 0};
  gemm(device, weight.dtype(), 1, a, b, c, 1, beta);
}

/// Copies `from` to `to`, or fills with zeros if `from` is undefined.
inline void start(Device device, NdArray& to, const NdArray& from) {
  if (from.defined())
    kernels::copy(device, to, from);
  else
    kernels::fill(device, to, 0);
}

/// Returns an array for temporary data of the pass.
inline NdArray scratch(const NdArray& like, std::int64_t rows, std::int64_t width) {
  return NdArray::empty({rows, width}, like.dtype(), like.device());
}

}  // namespace ebb::cuda::recurring
