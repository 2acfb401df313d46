// Poolings as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/options/pooling.h>
#include <tuple>

namespace ebb::nn {

template <std::size_t D>
using AdaptiveSizes = std::conditional_t<D == 1, ExpandingArray<1>, ExpandingArrayWithOptionalElem<D>>;

/// Averages of windows.
template <std::size_t D>
class EBB_API AvgPoolImpl : public Cloneable<AvgPoolImpl<D>> {
 public:
  explicit AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  explicit AvgPoolImpl(AvgPoolOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  AvgPoolOptions<D> options;
};

/// Maxima of windows.
template <std::size_t D>
class EBB_API MaxPoolImpl : public Cloneable<MaxPoolImpl<D>> {
 public:
  explicit MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  explicit MaxPoolImpl(MaxPoolOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  /// The maxima and where they were found.
  std::tuple<Variable, Variable> forward_with_indices(const Variable& input);

  MaxPoolOptions<D> options;
};

/// Averages of windows cut so that the output has a given size.
template <std::size_t D>
class EBB_API AdaptiveAvgPoolImpl : public Cloneable<AdaptiveAvgPoolImpl<D>> {
 public:
  explicit AdaptiveAvgPoolImpl(AdaptiveSizes<D> output_size)
      : AdaptiveAvgPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>>(output_size)) {}
  explicit AdaptiveAvgPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  AdaptivePoolOptions<AdaptiveSizes<D>> options;
};

/// Maxima of windows cut so that the output has a given size.
template <std::size_t D>
class EBB_API AdaptiveMaxPoolImpl : public Cloneable<AdaptiveMaxPoolImpl<D>> {
 public:
  explicit AdaptiveMaxPoolImpl(AdaptiveSizes<D> output_size)
      : AdaptiveMaxPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>>(output_size)) {}
  explicit AdaptiveMaxPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  std::tuple<Variable, Variable> forward_with_indices(const Variable& input);

  AdaptivePoolOptions<AdaptiveSizes<D>> options;
};

/// (sum x^p)^(1/p) of windows.
template <std::size_t D>
class EBB_API LPPoolImpl : public Cloneable<LPPoolImpl<D>> {
 public:
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size)
      : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
  explicit LPPoolImpl(LPPoolOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  LPPoolOptions<D> options;
};

extern template class AvgPoolImpl<1>;
extern template class AvgPoolImpl<2>;
extern template class AvgPoolImpl<3>;
extern template class MaxPoolImpl<1>;
extern template class MaxPoolImpl<2>;
extern template class MaxPoolImpl<3>;
extern template class AdaptiveAvgPoolImpl<1>;
extern template class AdaptiveAvgPoolImpl<2>;
extern template class AdaptiveAvgPoolImpl<3>;
extern template class AdaptiveMaxPoolImpl<1>;
extern template class AdaptiveMaxPoolImpl<2>;
extern template class AdaptiveMaxPoolImpl<3>;
extern template class LPPoolImpl<1>;
extern template class LPPoolImpl<2>;

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
EBB_MODULE(AvgPool1d);
EBB_MODULE(AvgPool2d);
EBB_MODULE(AvgPool3d);
EBB_MODULE(MaxPool1d);
EBB_MODULE(MaxPool2d);
EBB_MODULE(MaxPool3d);
EBB_MODULE(AdaptiveAvgPool1d);
EBB_MODULE(AdaptiveAvgPool2d);
EBB_MODULE(AdaptiveAvgPool3d);
EBB_MODULE(AdaptiveMaxPool1d);
EBB_MODULE(AdaptiveMaxPool2d);
EBB_MODULE(AdaptiveMaxPool3d);
EBB_MODULE(LPPool1d);
EBB_MODULE(LPPool2d);

}  // namespace ebb::nn
