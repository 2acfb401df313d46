// Conv1d, Conv2d, Conv3d and their transposes as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional/conv.h>

namespace ebb::nn {

/// Convolves (N, in, ...) or (in, ...) to (N, out, ...) or (out, ...). The weight is (out, in / groups,
/// kernel...). Initially weight and bias are U(-b, b) with b = 1 / sqrt(in / groups * kernel).
template <std::size_t D>
class EBB_API ConvImpl : public Cloneable<ConvImpl<D>> {
 public:
  ConvImpl(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvImpl(ConvOptions<D>(in_channels, out_channels, kernel_size)) {}
  explicit ConvImpl(ConvOptions<D> options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ConvOptions<D> options;
  Variable weight;
  Variable bias;
};

/// Transposed convolution: (N, in, ...) to (N, out, ...). The weight is (in, out / groups, kernel...).
template <std::size_t D>
class EBB_API ConvTransposeImpl : public Cloneable<ConvTransposeImpl<D>> {
 public:
  ConvTransposeImpl(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvTransposeImpl(ConvTransposeOptions<D>(in_channels, out_channels, kernel_size)) {}
  explicit ConvTransposeImpl(ConvTransposeOptions<D> options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// output_size selects one of the sizes that the stride allows.
  Variable forward(const Variable& input, const optional<IntArrayRef>& output_size = nullopt);

  ConvTransposeOptions<D> options;
  Variable weight;
  Variable bias;

 private:
  std::vector<std::int64_t> output_padding(const Variable& input,
                                           const optional<IntArrayRef>& output_size) const;
};

extern template class ConvImpl<1>;
extern template class ConvImpl<2>;
extern template class ConvImpl<3>;
extern template class ConvTransposeImpl<1>;
extern template class ConvTransposeImpl<2>;
extern template class ConvTransposeImpl<3>;

using Conv1dImpl = ConvImpl<1>;
using Conv2dImpl = ConvImpl<2>;
using Conv3dImpl = ConvImpl<3>;
using ConvTranspose1dImpl = ConvTransposeImpl<1>;
using ConvTranspose2dImpl = ConvTransposeImpl<2>;
using ConvTranspose3dImpl = ConvTransposeImpl<3>;
EBB_LIBRARY_MODULE(Conv1d);
EBB_LIBRARY_MODULE(Conv2d);
EBB_LIBRARY_MODULE(Conv3d);
EBB_LIBRARY_MODULE(ConvTranspose1d);
EBB_LIBRARY_MODULE(ConvTranspose2d);
EBB_LIBRARY_MODULE(ConvTranspose3d);

}  // namespace ebb::nn
