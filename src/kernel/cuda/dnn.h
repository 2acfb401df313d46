// Convolutions by a library: cuDNN's where the build has it, else none.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::cuda {

enum class DnnConv : std::uint8_t { forward, input, weight };

/// out = conv(in, weight), or one of its transposes: `kind` names the array that is written. Arrays (rows,
/// channels, spatial...) of one floating dtype with one to three spatial axes, dense, all contiguous or all
/// channels-last. The number of groups follows from the shapes.
struct DnnConvolution {
  DnnConv kind = DnnConv::forward;
  const NdArray& in;
  const NdArray& weight;
  const NdArray& out;
  IntArrayRef stride, padding, dilation;  // one value an axis
  const NdArray* bias = nullptr;          // with forward: added to out, a value a channel
  bool relu = false;                      // with forward and bias: and what is below 0 becomes 0
};

/// Runs it on the device's current stream; 16-bit floats are summed in float, float in float unless
/// cuda::is_tf32_allowed(). Returns false, with nothing done, where the library has no algorithm.
bool dnn_convolve(const DnnConvolution& convolution);

}  // namespace ebb::cuda
