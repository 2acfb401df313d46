// Fused multiply-add: a b + c rounded once, also on processors without such an instruction.
#pragma once

#include <cmath>
#include <cstdint>

namespace ebb::cpu {

inline double fused(double a, double b, double c) { return std::fma(a, b, c); }

#if defined(__FMA__) || defined(__aarch64__)
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
/// Handles the case in which double rounding matters: it rounds the sum to odd first, then to float (Boldo &
/// Melquiond, IEEE Transactions on Computers 57(4), 2008).
[[gnu::noinline]] inline float fused_by_odd(double product, double c) {
  const double sum = product + c, moved = sum - product;
  const double rest = (product - (sum - moved)) + (c - moved);
  auto bits = __builtin_bit_cast(std::uint64_t, sum);
  if ((rest < 0 || rest > 0) && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
  return static_cast<float>(__builtin_bit_cast(double, bits));
}

/// Returns a b + c rounded once. The product of floats is exact in double. Rounding the sum a second time is
/// wrong only if the double is halfway between two floats, or if the float may be subnormal.
[[gnu::always_inline]] inline float fused(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c;
  if ((__builtin_bit_cast(std::uint64_t, sum) & 0x1fffffff) != 0x10000000 && std::fabs(sum) > 1e-37)
    return static_cast<float>(sum);
  return fused_by_odd(product, c);
}
#endif

}  // namespace ebb::cpu
