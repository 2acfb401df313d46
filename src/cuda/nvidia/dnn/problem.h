// The parameters that determine a cuDNN plan.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::cuda::dnn {

constexpr std::int32_t kMostAligned = 16;  // bytes; cuDNN does not benefit from more

enum class Operation : std::int32_t {
  conv_forward,
  conv_input,
  conv_weight,
  batch_norm,
  batch_norm_backward,
  attention,
  attention_backward
};

constexpr bool is_convolution(Operation operation) { return operation <= Operation::conv_weight; }

/// The cache key of a plan, compared as bytes. Memory strides follow from sizes and layout. Fields that an
/// operation does not use are 0.
struct Problem {
  std::int64_t in[5], out[5];  // rows, channels, spatial axes; for attention: query, result
  std::int64_t window[5];      // for a convolution: its weight; for attention: key
  std::int64_t stride[3], padding[3], dilation[3];
  std::int64_t steps[3][3];  // for attention: strides of samples, heads and rows of query, key, value
  std::int32_t axes;         // 2 or 3; fewer are padded in front with axes of size 1
  Operation operation;
  std::int32_t dtype;
  std::int32_t channels_last, bias, relu;
  std::int32_t tf32, deterministic, benchmarked;
  std::int32_t device, alignment, causal;

  /// `deterministic` has the program's setting; tf32 and benchmarked are off.
  Problem(Operation operation, const NdArray& in, const NdArray& out);

  void set_window(IntArrayRef sizes);
  void set_steps(IntArrayRef stride, IntArrayRef padding);
  void set_dilation(IntArrayRef dilation);
  /// Adds the alignment of an array that the plan reads or writes.
  void take(const NdArray& x);

  DType type() const { return static_cast<DType>(dtype); }
};

}  // namespace ebb::cuda::dnn
