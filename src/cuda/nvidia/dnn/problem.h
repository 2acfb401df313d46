// What a plan of cuDNN's depends on.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::cuda::dnn {

constexpr std::int32_t kMostAligned = 16;  // bytes; cuDNN gains nothing from more

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

/// Plans are kept by its bytes. Strides in memory follow from sizes and layout; what an operation has no use
/// for is 0.
struct Problem {
  std::int64_t in[5], out[5];  // rows, channels, spatial axes; of attention: query, result
  std::int64_t window[5];      // of a convolution: its weight; of attention: key
  std::int64_t stride[3], padding[3], dilation[3];
  std::int64_t
      steps[3][3];    // of attention: from sample to sample, head to head, row to row of query, key, value
  std::int32_t axes;  // 2 or 3; fewer stand behind axes of size 1
  Operation operation;
  std::int32_t dtype;
  std::int32_t channels_last, bias, relu;
  std::int32_t tf32, deterministic, benchmarked;
  std::int32_t device, alignment, causal;

  /// `deterministic` as the program has set it; tf32 and benchmarked are off.
  Problem(Operation operation, const NdArray& in, const NdArray& out);

  void set_window(IntArrayRef sizes);
  void set_steps(IntArrayRef stride, IntArrayRef padding);
  void set_dilation(IntArrayRef dilation);
  /// Memory that the plan must be able to read or write where it lies.
  void take(const NdArray& x);

  DType type() const { return static_cast<DType>(dtype); }
};

}  // namespace ebb::cuda::dnn
