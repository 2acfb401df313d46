// LazyLinear, LazyConv and others: modules that get the size of their input from the first call
// (torch.nn.LazyLinear).
#pragma once

#include <ebb/nn/modules/conv.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/nn/modules/norm.h>

namespace ebb::nn {

/// A linear layer, convolution or normalization that gets its number of input features or channels from the
/// first input or the first loaded state. Until then its tensors have no elements. When they are filled,
/// their handles, dtype and device do not change, so an optimizer created before remains valid. The initial
/// values equal the values that the plain module would draw. The options are the options of the plain module,
/// whose number of inputs is ignored.
template <class Base>
class EBB_API LazyImpl : public Base {
 public:
  using Options = decltype(Base::options);

  explicit LazyImpl(Options options);
  /// Constructs LazyLinear(out_features).
  template <class Size>
    requires(std::is_integral_v<Size> && std::is_constructible_v<Options, std::int64_t, Size>)
  explicit LazyImpl(Size out_features) : LazyImpl(Options(0, out_features)) {}
  /// Constructs LazyConv2d(out_channels, kernel_size).
  template <class Kernel>
    requires std::is_constructible_v<Options, std::int64_t, std::int64_t, Kernel>
  LazyImpl(std::int64_t out_channels, Kernel kernel_size) : LazyImpl(Options(0, out_channels, kernel_size)) {}
  /// Constructs LazyBatchNorm2d() and LazyInstanceNorm2d(). Both learn a scale and a shift and track running
  /// statistics, as in Python.
  template <class Size = std::int64_t>
    requires std::is_convertible_v<Size, Options>
  LazyImpl() : LazyImpl(Options(Size(0)).affine(true).track_running_stats(true)) {}

  /// Returns whether the number of inputs is still unknown.
  bool has_uninitialized_params() const;
  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;
  void pretty_print(std::ostream& stream) const override;
  template <class... More>
    requires requires(Base& base, const Variable& input, const More&... more) {
      base.forward(input, more...);
    }
  Variable forward(const Variable& input, const More&... more) {
    if (has_uninitialized_params()) initialize_parameters(input);
    return Base::forward(input, more...);
  }

 private:
  void initialize_parameters(const Variable& input);
  void materialize(std::int64_t inputs);

  RemovableHandle hook_;
};

using LazyLinear = ModuleHolder<LazyImpl<LinearImpl>>;
using LazyConv1d = ModuleHolder<LazyImpl<ConvImpl<1>>>;
using LazyConv2d = ModuleHolder<LazyImpl<ConvImpl<2>>>;
using LazyConv3d = ModuleHolder<LazyImpl<ConvImpl<3>>>;
using LazyConvTranspose1d = ModuleHolder<LazyImpl<ConvTransposeImpl<1>>>;
using LazyConvTranspose2d = ModuleHolder<LazyImpl<ConvTransposeImpl<2>>>;
using LazyConvTranspose3d = ModuleHolder<LazyImpl<ConvTransposeImpl<3>>>;
using LazyBatchNorm1d = ModuleHolder<LazyImpl<BatchNormImpl<1>>>;
using LazyBatchNorm2d = ModuleHolder<LazyImpl<BatchNormImpl<2>>>;
using LazyBatchNorm3d = ModuleHolder<LazyImpl<BatchNormImpl<3>>>;
using LazyInstanceNorm1d = ModuleHolder<LazyImpl<InstanceNormImpl<1>>>;
using LazyInstanceNorm2d = ModuleHolder<LazyImpl<InstanceNormImpl<2>>>;
using LazyInstanceNorm3d = ModuleHolder<LazyImpl<InstanceNormImpl<3>>>;

extern template class LazyImpl<LinearImpl>;
extern template class LazyImpl<ConvImpl<1>>;
extern template class LazyImpl<ConvImpl<2>>;
extern template class LazyImpl<ConvImpl<3>>;
extern template class LazyImpl<ConvTransposeImpl<1>>;
extern template class LazyImpl<ConvTransposeImpl<2>>;
extern template class LazyImpl<ConvTransposeImpl<3>>;
extern template class LazyImpl<BatchNormImpl<1>>;
extern template class LazyImpl<BatchNormImpl<2>>;
extern template class LazyImpl<BatchNormImpl<3>>;
extern template class LazyImpl<InstanceNormImpl<1>>;
extern template class LazyImpl<InstanceNormImpl<2>>;
extern template class LazyImpl<InstanceNormImpl<3>>;

}  // namespace ebb::nn
