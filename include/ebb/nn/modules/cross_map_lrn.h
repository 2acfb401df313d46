// CrossMapLRN2d: normalization over neighbouring channels of images.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// Options of CrossMapLRN2d.
class EBB_API CrossMapLRN2dOptions {
 public:
  CrossMapLRN2dOptions(std::int64_t size) : size_(size) {}

  EBB_ARG(std::int64_t, size);    ///< number of channels, (size - 1) / 2 on either side
  EBB_ARG(double, alpha) = 1e-4;  ///< factor of the mean square
  EBB_ARG(double, beta) = 0.75;   ///< exponent
  EBB_ARG(std::int64_t, k) = 1;   ///< added to the mean square
};

/// Computes x / (k + alpha / size * sum of x^2 over neighbouring channels)^beta for (N, C, H, W)
/// (torch.nn.CrossMapLRN2d; Krizhevsky et al. 2012).
struct EBB_API CrossMapLRN2dImpl : detail::Stateless<CrossMapLRN2dImpl, CrossMapLRN2dOptions, Variable> {
  using Stateless::Stateless;
  explicit CrossMapLRN2dImpl(std::int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
};
EBB_LIBRARY_MODULE(CrossMapLRN2d);

}  // namespace ebb::nn
