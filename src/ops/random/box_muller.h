// Box-Muller transform (Box & Muller 1958): sixteen normal numbers from sixteen uniform ones, with the bits
// of torch's AVX2 kernel. Its logarithm, sine and cosine are those of the Cephes library (Moshier 1992), with
// products and sums fused as below. The loops have eight iterations without branches, which compilers
// vectorize. All processors produce the same bits.
#pragma once

#include "ops/random/fused.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace ebb::cpu {

/// Returns log(x) for 2^-126 <= x <= 1.
inline float cephes_log(float x) {
  const auto bits = __builtin_bit_cast(std::int32_t, x);
  const float mantissa = __builtin_bit_cast(float, (bits & 0x807fffff) | 0x3f000000);
  const bool low = mantissa < 0.707106781186547524f;
  const float e = static_cast<float>((bits >> 23) - 126 - (low ? 1 : 0));
  x = mantissa - 1 + (low ? mantissa : 0.0f);
  const float z = x * x;
  float y = fused(7.0376836292e-2f, x, -1.1514610310e-1f);
  y = fused(y, x, 1.1676998740e-1f);
  y = fused(y, x, -1.2420140846e-1f);
  y = fused(y, x, 1.4249322787e-1f);
  y = fused(y, x, -1.6668057665e-1f);
  y = fused(y, x, 2.0000714765e-1f);
  y = fused(y, x, -2.4999993993e-1f);
  y = fused(y, x, 3.3333331174e-1f);
  y = fused(y * x, z, e * -2.12194440e-4f) - z * 0.5f;
  return fused(e, 0.693359375f, x + y);
}

struct SineAndCosine {
  float sine, cosine;
};

/// Returns the sine and cosine of x for 0 <= x < 2^13.
inline SineAndCosine cephes_sincos(float x) {
  const std::int32_t octant = (static_cast<std::int32_t>(x * 1.27323954473516f) + 1) & ~1;  // 4 / pi
  const float y = static_cast<float>(octant);
  x = fused(y, -0.78515625f, x);
  x = fused(y, -2.4187564849853515625e-4f, x);
  x = fused(y, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = fused(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fused(c, z, 4.166664568298827e-2f);
  c = fused(c * z, z, z * -0.5f) + 1;
  float s = fused(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fused(s, z, -1.6666654611e-1f);
  s = fused(s * z, x, x);
  const bool swapped = octant & 2;
  const float sine = swapped ? c : s, cosine = swapped ? s : c;
  return {octant & 4 ? -sine : sine, (octant - 2) & 4 ? cosine : -cosine};
}

/// Converts blocks of sixteen uniform numbers in [0, 1) to normal ones.
inline void box_muller(float* data, std::int64_t blocks, float mean, float deviation) {
  for (; blocks > 0; --blocks, data += 16)
    for (int i = 0; i < 8; ++i) {
      const float radius = std::sqrt(-2 * cephes_log(1 - data[i]));
      const SineAndCosine at = cephes_sincos(static_cast<float>(2 * std::numbers::pi) * data[i + 8]);
      data[i] = fused(radius * at.cosine, deviation, mean);
      data[i + 8] = fused(radius * at.sine, deviation, mean);
    }
}
inline void box_muller(double* data, std::int64_t blocks, double mean, double deviation) {
  for (; blocks > 0; --blocks, data += 16)
    for (int i = 0; i < 8; ++i) {
      const double radius = std::sqrt(-2 * std::log(1 - data[i])), angle = 2 * std::numbers::pi * data[i + 8];
      data[i] = fused(radius * std::cos(angle), deviation, mean);
      data[i + 8] = fused(radius * std::sin(angle), deviation, mean);
    }
}

}  // namespace ebb::cpu
