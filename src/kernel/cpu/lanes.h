// Lanes: a vector register with the operators of a plain number, on x86-64 with AVX2 or AVX-512. Its
// functions are in lane_functions.h. The value of an element must not depend on its position in an array.
// Loops therefore use lanes for every element, pad the last few elements to a register, and never call scalar
// functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__AVX2__) && defined(__FMA__) && defined(__GLIBC__) && \
    defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define EBB_LIBMVEC 1
#endif
#endif
#ifndef EBB_LIBMVEC
#define EBB_LIBMVEC 0
#endif

#if EBB_LIBMVEC

namespace ebb::cpu {

#ifdef __AVX512F__
#define EBB_WIDE_LANES
constexpr int kLaneBytes = 64;
#else
constexpr int kLaneBytes = 32;
#endif

typedef double Doubles __attribute__((vector_size(kLaneBytes)));
typedef float Floats __attribute__((vector_size(kLaneBytes)));

/// A register of floats or doubles. Plain numbers are broadcast to all lanes. A comparison returns a Mask for
/// where(): a vector of integers that are 0 or -1.
template <class T>
struct Lanes {
  using Vector = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;
  using Element = T;
  using Mask = decltype(Vector{} < Vector{});
  static constexpr int kCount = kLaneBytes / sizeof(T);

  Vector v;
  Lanes() = default;
  Lanes(Vector vector) : v(vector) {}
  Lanes(T number) : v(number - Vector{}) {}

  /// Loads n lanes from memory. The other lanes repeat the first lane, so that they cause a slow path only if
  /// one of the n lanes needs it.
  static Lanes load(const T* x, std::int64_t n) {
    Lanes out;
    if (n >= kCount)
      std::memcpy(&out.v, x, sizeof out.v);
    else
#ifdef EBB_WIDE_LANES
      out.v = masked_load(x, Lanes(*x).v, first_bits(n));
#else
      for (int i = 0; i < kCount; ++i) out.v[i] = x[i < n ? i : 0];
#endif
    return out;
  }
  /// Stores the first n lanes to memory.
  void store(T* out, std::int64_t n) const {
    if (n >= kCount)
      std::memcpy(out, &v, sizeof v);
    else
#ifdef EBB_WIDE_LANES
      masked_store(out, v, first_bits(n));
#else
      for (int i = 0; i < kCount && i < n; ++i) out[i] = v[i];
#endif
  }

  friend Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  friend Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  friend Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  friend Lanes operator-(Lanes a) { return -a.v; }
  friend Mask operator<(Lanes a, Lanes b) { return a.v < b.v; }
  friend Mask operator<=(Lanes a, Lanes b) { return a.v <= b.v; }
  friend Mask operator>(Lanes a, Lanes b) { return a.v > b.v; }
  friend Mask operator>=(Lanes a, Lanes b) { return a.v >= b.v; }
  friend Mask operator==(Lanes a, Lanes b) { return a.v == b.v; }
  friend Lanes where(Mask condition, Lanes a, Lanes b) { return condition ? a.v : b.v; }
  friend Lanes abs(Lanes a) { return (Vector)((Mask)a.v & ~(Mask)Lanes(T(-0.0)).v); }

  friend Lanes sqrt(Lanes a) {
#ifdef EBB_WIDE_LANES
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_sqrtps512_mask(a.v, a.v, kAll, kRounding);
    else
      return __builtin_ia32_sqrtpd512_mask(a.v, a.v, kAll, kRounding);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_sqrtps256(a.v);
    else
      return __builtin_ia32_sqrtpd256(a.v);
#endif
  }
  /// Returns the smaller of a and b; b if one of the two is NaN.
  friend Lanes least(Lanes a, Lanes b) {
#ifdef EBB_WIDE_LANES
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_minps512_mask(a.v, b.v, a.v, kAll, kRounding);
    else
      return __builtin_ia32_minpd512_mask(a.v, b.v, a.v, kAll, kRounding);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_minps256(a.v, b.v);
    else
      return __builtin_ia32_minpd256(a.v, b.v);
#endif
  }
  /// Returns a b + c, rounded once.
  friend Lanes fma(Lanes a, Lanes b, Lanes c) {
#ifdef EBB_WIDE_LANES
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_vfmaddps512_mask(a.v, b.v, c.v, kAll, kRounding);
    else
      return __builtin_ia32_vfmaddpd512_mask(a.v, b.v, c.v, kAll, kRounding);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_vfmaddps256(a.v, b.v, c.v);
    else
      return __builtin_ia32_vfmaddpd256(a.v, b.v, c.v);
#endif
  }
  /// Rounds a towards 0.
  friend Lanes trunc(Lanes a) {
    constexpr int kTowardsZero = 3 | 8;
#ifdef EBB_WIDE_LANES
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_rndscaleps_mask(a.v, kTowardsZero, a.v, kAll, kRounding);
    else
      return __builtin_ia32_rndscalepd_mask(a.v, kTowardsZero, a.v, kAll, kRounding);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_roundps256(a.v, kTowardsZero);
    else
      return __builtin_ia32_roundpd256(a.v, kTowardsZero);
#endif
  }

#ifdef EBB_WIDE_LANES
 private:
  // Arguments of the AVX-512 builtins: a mask with one bit per lane, and the current rounding mode.
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint16_t, std::uint8_t>;
  static constexpr Bits kAll = static_cast<Bits>(-1);
  static constexpr int kRounding = 4;

  static Bits first_bits(std::int64_t n) { return static_cast<Bits>((1u << n) - 1); }
  static Vector masked_load(const T* x, Vector others, Bits which) {
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_loadups512_mask(x, others, which);
    else
      return __builtin_ia32_loadupd512_mask(x, others, which);
  }
  static void masked_store(T* out, Vector v, Bits which) {
    if constexpr (std::is_same_v<T, float>)
      __builtin_ia32_storeups512_mask(out, v, which);
    else
      __builtin_ia32_storeupd512_mask(out, v, which);
  }
#endif
};

/// Returns whether the condition is true in every lane.
inline bool all(Lanes<float>::Mask condition) {
#ifdef EBB_WIDE_LANES
  return __builtin_ia32_ptestmd512(condition, condition, 0xffff) == 0xffff;
#else
  return __builtin_ia32_movmskps256((Floats)condition) == 0xff;
#endif
}
inline bool all(Lanes<double>::Mask condition) {
#ifdef EBB_WIDE_LANES
  return __builtin_ia32_ptestmq512((__attribute__((vector_size(64))) long long)condition,
                                   (__attribute__((vector_size(64))) long long)condition, 0xff) == 0xff;
#else
  return __builtin_ia32_movmskpd256((Doubles)condition) == 0xf;
#endif
}

}  // namespace ebb::cpu

#endif
