// The layouts of images in memory: contiguous (NCHW) and channels last (NHWC).
#pragma once

#include "seam.h"

namespace bench {

/// Returns images in the channels-last layout.
inline torch::Tensor channels_last(const torch::Tensor& images) {
  return images.contiguous(torch::MemoryFormat::ChannelsLast);
}

/// Converts the weights of convolutions to the channels-last layout. libtorch's modules have no such method.
inline void make_channels_last(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor parameter : module.parameters())
    if (parameter.dim() == 4) parameter.set_data(channels_last(parameter));
}

}  // namespace bench
