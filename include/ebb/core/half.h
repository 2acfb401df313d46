// Half and BFloat16: 16-bit floating-point storage types. Arithmetic is done in float; these types only
// convert.
#pragma once

#include <ebb/core/api.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define EBB_HD __host__ __device__
#else
#define EBB_HD
#endif

namespace ebb {

namespace detail {

#if defined(__F16C__) && !defined(__CUDACC__)
// The types of the compiler builtins behind _cvtsh_ss() and _cvtss_sh(). <immintrin.h> is not included,
// because it takes longer to parse than all of ebb's headers.
using EightHalves = short __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
#endif

EBB_HD inline float bits_to_float(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
EBB_HD inline std::uint32_t float_to_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

/// Converts IEEE binary16 to binary32, exactly.
EBB_HD inline float half_to_float(std::uint16_t h) {
#if defined(__CUDA_ARCH__)
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#elif defined(__F16C__) && !defined(__CUDACC__)
  return __builtin_ia32_vcvtph2ps(EightHalves{static_cast<short>(h)})[0];
#else
  const std::uint32_t sign = std::uint32_t(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u) return bits_to_float(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return bits_to_float(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -subnormal : subnormal;
#endif
}

/// Converts binary32 to binary16, rounding to nearest even. Overflow gives infinity.
EBB_HD inline std::uint16_t float_to_half(float f) {
#if defined(__CUDA_ARCH__)
  std::uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
#elif defined(__F16C__) && !defined(__CUDACC__)
  return static_cast<std::uint16_t>(__builtin_ia32_vcvtps2ph(FourFloats{f}, 0)[0]);
#else
  const std::uint32_t bits = float_to_bits(f);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: the float addition does the rounding
    const float rounded = bits_to_float(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (float_to_bits(rounded) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
#endif
}

EBB_HD inline float bfloat_to_float(std::uint16_t b) { return bits_to_float(std::uint32_t(b) << 16); }

/// Converts binary32 to bfloat16, rounding to nearest even.
EBB_HD inline std::uint16_t float_to_bfloat(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint16_t b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
  return b;
#else
  const std::uint32_t bits = float_to_bits(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#endif
}

}  // namespace detail

/// IEEE 754 binary16 (torch: at::Half).
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  EBB_HD Half(float value) : bits(detail::float_to_half(value)) {}
  EBB_HD operator float() const { return detail::half_to_float(bits); }
};

/// bfloat16, the upper 16 bits of a binary32 (torch: at::BFloat16).
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  EBB_HD BFloat16(float value) : bits(detail::float_to_bfloat(value)) {}
  EBB_HD operator float() const { return detail::bfloat_to_float(bits); }
};

namespace detail {
template <class T>
concept SixteenBits = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
}

// Computes in float and rounds once.
template <detail::SixteenBits T>
EBB_HD T& operator+=(T& a, float b) {
  return a = a + b;
}
template <detail::SixteenBits T>
EBB_HD T& operator-=(T& a, float b) {
  return a = a - b;
}
template <detail::SixteenBits T>
EBB_HD T& operator*=(T& a, float b) {
  return a = a * b;
}
template <detail::SixteenBits T>
EBB_HD T& operator/=(T& a, float b) {
  return a = a / b;
}

}  // namespace ebb
