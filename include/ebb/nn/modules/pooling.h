// Pooling modules.
#pragma once

#include <ebb/nn/functional/pooling.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

template <std::size_t D>
using AdaptiveSizes = std::conditional_t<D == 1, ExpandingArray<1>, ExpandingArrayWithOptionalElem<D>>;

/// Averages over windows.
template <std::size_t D>
struct EBB_API AvgPoolImpl : detail::Stateless<AvgPoolImpl<D>, AvgPoolOptions<D>, Variable> {
  using AvgPoolImpl::Stateless::Stateless;
  explicit AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
};

/// Maxima over windows.
template <std::size_t D>
struct EBB_API MaxPoolImpl : detail::Stateless<MaxPoolImpl<D>, MaxPoolOptions<D>, Variable> {
  using MaxPoolImpl::Stateless::Stateless;
  explicit MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  /// Returns the maxima and their indices.
  std::tuple<Variable, Variable> forward_with_indices(const Variable& input);
};

/// Averages over windows, which are chosen so that the output has a given size.
template <std::size_t D>
struct EBB_API AdaptiveAvgPoolImpl
    : detail::Stateless<AdaptiveAvgPoolImpl<D>, AdaptivePoolOptions<AdaptiveSizes<D>>, Variable> {
  using AdaptiveAvgPoolImpl::Stateless::Stateless;
  explicit AdaptiveAvgPoolImpl(AdaptiveSizes<D> output_size)
      : AdaptiveAvgPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>>(output_size)) {}
};

/// Maxima over windows, which are chosen so that the output has a given size.
template <std::size_t D>
struct EBB_API AdaptiveMaxPoolImpl
    : detail::Stateless<AdaptiveMaxPoolImpl<D>, AdaptivePoolOptions<AdaptiveSizes<D>>, Variable> {
  using AdaptiveMaxPoolImpl::Stateless::Stateless;
  explicit AdaptiveMaxPoolImpl(AdaptiveSizes<D> output_size)
      : AdaptiveMaxPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>>(output_size)) {}
  std::tuple<Variable, Variable> forward_with_indices(const Variable& input);
};

/// (sum x^p)^(1/p) over windows.
template <std::size_t D>
struct EBB_API LPPoolImpl : detail::Stateless<LPPoolImpl<D>, LPPoolOptions<D>, Variable> {
  using LPPoolImpl::Stateless::Stateless;
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size)
      : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
};

using AvgPool1dImpl = AvgPoolImpl<1>;
using AvgPool2dImpl = AvgPoolImpl<2>;
using AvgPool3dImpl = AvgPoolImpl<3>;
using MaxPool1dImpl = MaxPoolImpl<1>;
using MaxPool2dImpl = MaxPoolImpl<2>;
using MaxPool3dImpl = MaxPoolImpl<3>;
using AdaptiveAvgPool1dImpl = AdaptiveAvgPoolImpl<1>;
using AdaptiveAvgPool2dImpl = AdaptiveAvgPoolImpl<2>;
using AdaptiveAvgPool3dImpl = AdaptiveAvgPoolImpl<3>;
using AdaptiveMaxPool1dImpl = AdaptiveMaxPoolImpl<1>;
using AdaptiveMaxPool2dImpl = AdaptiveMaxPoolImpl<2>;
using AdaptiveMaxPool3dImpl = AdaptiveMaxPoolImpl<3>;
using LPPool1dImpl = LPPoolImpl<1>;
using LPPool2dImpl = LPPoolImpl<2>;
using LPPool3dImpl = LPPoolImpl<3>;
EBB_LIBRARY_MODULE(AvgPool1d);
EBB_LIBRARY_MODULE(AvgPool2d);
EBB_LIBRARY_MODULE(AvgPool3d);
EBB_LIBRARY_MODULE(MaxPool1d);
EBB_LIBRARY_MODULE(MaxPool2d);
EBB_LIBRARY_MODULE(MaxPool3d);
EBB_LIBRARY_MODULE(AdaptiveAvgPool1d);
EBB_LIBRARY_MODULE(AdaptiveAvgPool2d);
EBB_LIBRARY_MODULE(AdaptiveAvgPool3d);
EBB_LIBRARY_MODULE(AdaptiveMaxPool1d);
EBB_LIBRARY_MODULE(AdaptiveMaxPool2d);
EBB_LIBRARY_MODULE(AdaptiveMaxPool3d);
EBB_LIBRARY_MODULE(LPPool1d);
EBB_LIBRARY_MODULE(LPPool2d);
EBB_LIBRARY_MODULE(LPPool3d);

}  // namespace ebb::nn
