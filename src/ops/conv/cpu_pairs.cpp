// Packing of pairs of adjacent BFloat16 channels.
#include "core/parallel_for.h"
#include "kernel/cpu/tile_pairs.h"
#include "ops/conv/correlate.h"

#include <algorithm>
#include <bit>

namespace ebb::cpu::conv {
namespace {

// Interleaves two channels. `second` may be null.
void pair_rows(const BFloat16* first, const BFloat16* second, std::int64_t n, float* to) {
  const auto bits = [](BFloat16 x, BFloat16 y) { return std::bit_cast<float>(tiles::pair_of(x, y)); };
  if (second)
    for (std::int64_t i = 0; i < n; ++i) to[i] = bits(first[i], second[i]);
  else
    for (std::int64_t i = 0; i < n; ++i) to[i] = bits(first[i], 0);
}

}  // namespace

NdArray pair_planes(const BFloat16* planes, std::int64_t groups, std::int64_t channels, std::int64_t plane) {
  const std::int64_t pairs = pairs_of(channels);
  NdArray paired = NdArray::empty({groups * pairs * plane}, kFloat);
  float* const to = paired.address_as<float>();
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(plane, 1));
  parallel_for(0, groups * pairs, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t channel = i % pairs * 2;
      const BFloat16* const first = planes + (i / pairs * channels + channel) * plane;
      pair_rows(first, channel + 1 < channels ? first + plane : nullptr, plane, to + i * plane);
    }
  });
  return paired;
}

NdArray pair_weights(const Weights<const BFloat16>& weight, std::int64_t groups, std::int64_t rows,
                     std::int64_t channels, std::int64_t taps) {
  const std::int64_t pairs = pairs_of(channels);
  NdArray paired = NdArray::empty({groups * rows * pairs * taps}, kFloat);
  float* const to = paired.address_as<float>();
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(pairs * taps, 1));
  parallel_for(0, groups * rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t p = 0; p < pairs; ++p) {
        const BFloat16* const first = weight.data + i / rows * weight.group_step +
                                      i % rows * weight.row_step + 2 * p * weight.channel_step;
        pair_rows(first, 2 * p + 1 < channels ? first + weight.channel_step : nullptr, taps,
                  to + (i * pairs + p) * taps);
      }
  });
  return paired;
}

}  // namespace ebb::cpu::conv
