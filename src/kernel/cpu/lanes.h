// Several numbers at once: a vector register as a number with operators and functions, those of glibc's
// libmvec on x86-64 with AVX2. All of them keep NumPy's bounds on accuracy (tests/ops/numpy_ulp_test.cpp). An
// element's value must not depend on where in an array it stands, so rows use these for every element, the
// last few padded, and never the scalar functions beside them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__AVX2__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define EBB_LIBMVEC 1
#endif
#endif
#ifndef EBB_LIBMVEC
#define EBB_LIBMVEC 0
#endif

#if EBB_LIBMVEC

namespace ebb::cpu {

typedef double Doubles __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(32)));

/// 8 floats or 4 doubles. Plain numbers join as if they stood in every lane; comparisons give a Mask for
/// where().
template <class T>
struct Lanes {
  using Vector = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;
  using Element = T;
  using Mask = decltype(Vector{} < Vector{});
  static constexpr int kCount = 32 / sizeof(T);

  Vector v;
  Lanes() = default;
  Lanes(Vector vector) : v(vector) {}
  Lanes(T number) : v(number - Vector{}) {}

  /// n of the lanes from memory; the others repeat the first, so that they cost nothing special.
  static Lanes load(const T* x, std::int64_t n) {
    Lanes out;
    if (n >= kCount)
      std::memcpy(&out.v, x, sizeof out.v);
    else
      for (int i = 0; i < kCount; ++i) out.v[i] = x[i < n ? i : 0];
    return out;
  }
  /// The first n lanes to memory.
  void store(T* out, std::int64_t n) const {
    if (n >= kCount)
      std::memcpy(out, &v, sizeof v);
    else
      for (int i = 0; i < kCount && i < n; ++i) out[i] = v[i];
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
  friend Lanes abs(Lanes a) { return a.v < 0 ? -a.v : a.v; }
  friend Lanes sqrt(Lanes a) {
    if constexpr (std::is_same_v<T, float>)
      return __builtin_ia32_sqrtps256(a.v);
    else
      return __builtin_ia32_sqrtpd256(a.v);
  }
};

// One function of libmvec, for both widths.
#define EBB_LANES(name)                                                       \
  extern "C" Doubles _ZGVdN4v_##name(Doubles);                                \
  extern "C" Floats _ZGVdN8v_##name##f(Floats);                               \
  inline Lanes<double> name(Lanes<double> x) { return _ZGVdN4v_##name(x.v); } \
  inline Lanes<float> name(Lanes<float> x) { return _ZGVdN8v_##name##f(x.v); }
EBB_LANES(acos)
EBB_LANES(acosh)
EBB_LANES(asin)
EBB_LANES(asinh)
EBB_LANES(atan)
EBB_LANES(atanh)
EBB_LANES(cos)
EBB_LANES(cosh)
EBB_LANES(erf)
EBB_LANES(erfc)
EBB_LANES(exp)
EBB_LANES(exp2)
EBB_LANES(expm1)
EBB_LANES(log)
EBB_LANES(log10)
EBB_LANES(log1p)
EBB_LANES(log2)
EBB_LANES(sin)
EBB_LANES(sinh)
EBB_LANES(tan)
EBB_LANES(tanh)
#undef EBB_LANES

}  // namespace ebb::cpu

#endif
