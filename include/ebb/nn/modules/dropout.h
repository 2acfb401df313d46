// Dropout and its variants as modules.
#pragma once

#include <ebb/nn/functional/dropout.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

namespace detail {
/// The base of dropouts, which return their input in evaluation mode.
template <class Derived>
using AnyDropout = Stateless<Derived, DropoutOptions, Variable>;
}  // namespace detail

/// In training, sets elements to zero with probability p and scales the others by 1 / (1 - p).
struct EBB_API DropoutImpl : detail::AnyDropout<DropoutImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Dropout);

/// Dropout of whole channels of (N, C, L) or (C, L) (torch.nn.Dropout1d).
struct EBB_API Dropout1dImpl : detail::AnyDropout<Dropout1dImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Dropout1d);

/// Dropout of whole channels of (N, C, H, W).
struct EBB_API Dropout2dImpl : detail::AnyDropout<Dropout2dImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Dropout2d);

/// Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).
struct EBB_API Dropout3dImpl : detail::AnyDropout<Dropout3dImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Dropout3d);

/// Dropout that preserves the mean and variance after SELU.
struct EBB_API AlphaDropoutImpl : detail::AnyDropout<AlphaDropoutImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(AlphaDropout);

/// AlphaDropout of whole channels.
struct EBB_API FeatureAlphaDropoutImpl : detail::AnyDropout<FeatureAlphaDropoutImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(FeatureAlphaDropout);

}  // namespace ebb::nn
