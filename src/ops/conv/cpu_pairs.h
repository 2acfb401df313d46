// Operands of convolution in BFloat16 as pairs of channels, for processors that multiply such pairs.
#pragma once

#include <ebb/core/ndarray.h>

#include "ops/conv/correlate.h"

namespace ebb::cpu::conv {

/// Returns the number of pairs of `channels` channels. An odd channel is paired with zeros.
constexpr std::int64_t pairs_of(std::int64_t channels) { return (channels + 1) / 2; }

/// Returns planes [batch * groups][channels][plane] as [batch * groups][pairs][plane], with the bits of each
/// pair in a float.
NdArray pair_planes(const BFloat16* planes, std::int64_t groups, std::int64_t channels, std::int64_t plane);

/// Returns the weights of `taps` taps as [groups][rows][pairs of channels][taps].
NdArray pair_weights(const Weights<BFloat16>& weight, std::int64_t groups, std::int64_t rows,
                     std::int64_t channels, std::int64_t taps);

}  // namespace ebb::cpu::conv
