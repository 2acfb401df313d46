// MaxUnpool and FractionalMaxPool as modules.
#pragma once

#include <ebb/nn/functional/unpooling.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// Writes each pooled element to the position in `indices`. All other elements are zero. Call it as
/// forward(input, indices, output_size).
template <std::size_t D>
class EBB_API MaxUnpoolImpl : public Cloneable<MaxUnpoolImpl<D>> {
 public:
  MaxUnpoolImpl(ExpandingArray<D> kernel_size) : MaxUnpoolImpl(MaxUnpoolOptions<D>(kernel_size)) {}
  explicit MaxUnpoolImpl(const MaxUnpoolOptions<D>& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& indices,
                   const optional<std::vector<std::int64_t>>& output_size = nullopt);

  MaxUnpoolOptions<D> options;
};

/// Computes maxima over windows at random positions. The positions are drawn at each call, or computed from
/// the buffer _random_samples if it is defined.
template <std::size_t D>
class EBB_API FractionalMaxPoolImpl : public Cloneable<FractionalMaxPoolImpl<D>> {
 public:
  explicit FractionalMaxPoolImpl(ExpandingArray<D> kernel_size)
      : FractionalMaxPoolImpl(FractionalMaxPoolOptions<D>(kernel_size)) {}
  explicit FractionalMaxPoolImpl(FractionalMaxPoolOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  /// Returns the maxima and their indices.
  std::tuple<Variable, Variable> forward_with_indices(const Variable& input);

  FractionalMaxPoolOptions<D> options;
  Variable _random_samples;
};

using MaxUnpool1dImpl = MaxUnpoolImpl<1>;
using MaxUnpool2dImpl = MaxUnpoolImpl<2>;
using MaxUnpool3dImpl = MaxUnpoolImpl<3>;
using FractionalMaxPool2dImpl = FractionalMaxPoolImpl<2>;
using FractionalMaxPool3dImpl = FractionalMaxPoolImpl<3>;
EBB_LIBRARY_MODULE(MaxUnpool1d);
EBB_LIBRARY_MODULE(MaxUnpool2d);
EBB_LIBRARY_MODULE(MaxUnpool3d);
EBB_LIBRARY_MODULE(FractionalMaxPool2d);
EBB_LIBRARY_MODULE(FractionalMaxPool3d);

}  // namespace ebb::nn
