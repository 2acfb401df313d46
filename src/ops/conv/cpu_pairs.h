// Operands of convolution in bfloat16 as pairs of channels, for processors that multiply such pairs.
#pragma once

#include <ebb/core/ndarray.h>

#include "ops/conv/correlate.h"

namespace ebb::cpu::conv {

/// Pairs of so many channels; an odd one is paired with 0.
constexpr std::int64_t pairs_of(std::int64_t channels) { return (channels + 1) / 2; }

/// Planes [batch * groups][channels][plane] as [batch * groups][pairs][plane]: the bits of pairs, in floats.
NdArray pair_planes(const BFloat16* planes, std::int64_t groups, std::int64_t channels, std::int64_t plane);

/// The weights of `taps` taps as [groups][rows][pairs of channels][taps].
NdArray pair_weights(const Weights<BFloat16>& weight, std::int64_t groups, std::int64_t rows,
                     std::int64_t channels, std::int64_t taps);

}  // namespace ebb::cpu::conv
