// Mathematical functions of the lanes of a register: the functions of glibc's libmvec, and ebb's own
// functions where libmvec is slow. All are within NumPy's error bounds (tests/ops/vector_functions_test.cpp).
#pragma once

#include "kernel/cpu/lane_exp.h"

#if EBB_LIBMVEC

#include <array>
#include <limits>

namespace ebb::cpu {

// Declares a function of libmvec for both widths.
#ifdef EBB_WIDE_LANES
#define EBB_LANES(name)                                                       \
  extern "C" Doubles _ZGVeN8v_##name(Doubles);                                \
  extern "C" Floats _ZGVeN16v_##name##f(Floats);                              \
  inline Lanes<double> name(Lanes<double> x) { return _ZGVeN8v_##name(x.v); } \
  inline Lanes<float> name(Lanes<float> x) { return _ZGVeN16v_##name##f(x.v); }
extern "C" Doubles _ZGVeN8v_erf(Doubles);
extern "C" Doubles _ZGVeN8v_erfc(Doubles);
extern "C" Doubles _ZGVeN8vv_pow(Doubles, Doubles);
inline Lanes<double> erf(Lanes<double> x) { return _ZGVeN8v_erf(x.v); }
inline Lanes<double> erfc(Lanes<double> x) { return _ZGVeN8v_erfc(x.v); }
typedef float EightFloats __attribute__((vector_size(32)));
extern "C" EightFloats _ZGVdN8v_erfcf(EightFloats);
/// Computes both halves separately, because libmvec's function of sixteen numbers takes longer than two calls
/// of its function of eight.
inline Lanes<float> erfc(Lanes<float> x) {
  EightFloats halves[2];
  std::memcpy(halves, &x.v, sizeof halves);
  for (EightFloats& half : halves) half = _ZGVdN8v_erfcf(half);
  std::memcpy(&x.v, halves, sizeof halves);
  return x;
}
namespace lane_math {
inline Lanes<double> libmvec_pow(Lanes<double> x, Lanes<double> y) { return _ZGVeN8vv_pow(x.v, y.v); }
}  // namespace lane_math
#else
#define EBB_LANES(name)                                                       \
  extern "C" Doubles _ZGVdN4v_##name(Doubles);                                \
  extern "C" Floats _ZGVdN8v_##name##f(Floats);                               \
  inline Lanes<double> name(Lanes<double> x) { return _ZGVdN4v_##name(x.v); } \
  inline Lanes<float> name(Lanes<float> x) { return _ZGVdN8v_##name##f(x.v); }
extern "C" Doubles _ZGVdN4v_erf(Doubles);
extern "C" Doubles _ZGVdN4vv_pow(Doubles, Doubles);
inline Lanes<double> erf(Lanes<double> x) { return _ZGVdN4v_erf(x.v); }
namespace lane_math {
inline Lanes<double> libmvec_pow(Lanes<double> x, Lanes<double> y) { return _ZGVdN4vv_pow(x.v, y.v); }
}  // namespace lane_math
#endif
EBB_LANES(acos)
EBB_LANES(acosh)
EBB_LANES(asin)
EBB_LANES(asinh)
EBB_LANES(atan)
EBB_LANES(atanh)
EBB_LANES(cos)
EBB_LANES(cosh)
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
#ifndef EBB_WIDE_LANES
EBB_LANES(erfc)
#endif
#undef EBB_LANES

namespace lane_math {

typedef float HalfFloats __attribute__((vector_size(kLaneBytes / 2)));

/// Returns `magnitude` with the sign of `sign`.
template <class T>
Lanes<T> copysign(Lanes<T> magnitude, Lanes<T> sign) {
  using Mask = typename Lanes<T>::Mask;
  const Mask bit = (Mask)Lanes<T>(T(-0.0)).v;
  return (typename Lanes<T>::Vector)(((Mask)magnitude.v & ~bit) | ((Mask)sign.v & bit));
}

/// One coefficient of each of eight polynomials. The low bits of each lane of the index select the
/// polynomial.
class Choice {
 public:
  constexpr Choice(const std::array<float, 8>& c) {
    for (int i = 0; i < Lanes<float>::kCount; ++i) table_[i] = c[static_cast<std::size_t>(i % 8)];
  }
  Lanes<float> operator[](Ints which) const {
    Floats table;
    std::memcpy(&table, table_, sizeof table);
    return __builtin_shuffle(table, which);
  }

 private:
  alignas(kLaneBytes) float table_[Lanes<float>::kCount] = {};
};

/// Polynomials of degree 7 around the multiples of 17/32. kErf[k] contains coefficient k of all polynomials.
/// Each polynomial minimises the relative error of erf in its interval. The first one approximates erf(x) -
/// x.
constexpr Choice kErf[8] = {
    {{0, 0.547528446f, 0.867058277f, 0.975797713f, 0.997345984f, 0.999827683f, 0.999993443f, 0.999999881f}},
    {{0.128379167f, 0.850913942f, 0.364902884f, 0.088987723f, 0.0123408213f, 0.000973238202f, 4.36470473e-05f,
      1.11313602e-06f}},
    {{-2.1592907e-08f, -0.452047229f, -0.387709796f, -0.141824275f, -0.0262241233f, -0.00258516334f,
      -0.000139133554f, -4.14069109e-06f}},
    {{-0.376125127f, -0.123540655f, 0.152993232f, 0.121025994f, 0.0330373347f, 0.00425345637f,
      0.000281098008f, 9.89321779e-06f}},
    {{-2.68751501e-05f, 0.183440864f, 0.0479929149f, -0.0491612256f, -0.0263693295f, -0.00478744972f,
      -0.000401015132f, -1.69291579e-05f}},
    {{0.113107428f, -0.00183678628f, -0.0662789196f, -0.00497950753f, 0.0124984719f, 0.00381181715f,
      0.000427457475f, 2.22631315e-05f}},
    {{-0.00131894858f, -0.0472938754f, 0.00990831014f, 0.0156050213f, -0.00162798178f, -0.00209716638f,
      -0.000360977167f, -2.50228895e-05f}},
    {{-0.024157213f, 0.00683150208f, 0.0124238087f, -0.00572221447f, -0.00191906653f, 0.000662627222f,
      0.000219115915f, 2.05271062e-05f}},
};

/// Returns x^y for x >= 0 in double, for results that are rounded to float: 2^(y log2 x), accurate to 2^-29.
inline Lanes<double> power_of_positive(Lanes<double> x, Lanes<double> y) {
  using L = Lanes<double>;
  // x = 2^k m with sqrt(1/2) <= m < sqrt(2). Puts the exponent bits into the low bits of a double near 2^52;
  // a subtraction then gives k.
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000,
                          kMantissa = 0x000fffffffffffff, kWhole = 0x4330000000000000;
  const Longs bits = (Longs)x.v - kRootOfHalf + kOne;
  const L k = L((Doubles)((bits >> 52) | kWhole)) - (0x1p52 + 1023);
  const L m = (Doubles)((bits & kMantissa) + kRootOfHalf);
  // log2 m = s p(s^2), s = (m - 1) / (m + 1).
  const L s = (m - 1) / (m + 1), z = s * s;
  L p = fma(z, 0.34072800082981634, 0.41167282733086291);
  p = fma(z, p, 0.57708358326147043);
  p = fma(z, p, 0.96179667335010665);
  p = fma(z, p, 2.8853900817900801);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  L logarithm = fma(s, p, k);
  logarithm = where(x < kInfinity, logarithm, x);  // the logarithm of inf is inf; NaN stays NaN
  logarithm = where(x == L(0.0), -kInfinity, logarithm);
  // 2^t = 2^n 2^r, |r| <= 1/2; beyond 2^300 the float result is infinite or 0.
  L t = y * logarithm;
  t = where(t > 300.0, 300, t);
  t = where(t < -300.0, -300, t);
  const L shifted = t + 0x1.8p52, r = t - (shifted - 0x1.8p52);
  L q = fma(r, 0.0001534580750555741, 0.0013399931182977223);
  q = fma(r, q, 0.0096184889738344691);
  q = fma(r, q, 0.055503287770779783);
  q = fma(r, q, 0.24022646890479609);
  q = fma(r, q, 0.69314720573719777);
  q = fma(r, q, 1.0000000005541873);
  return (Doubles)((Longs)q.v + ((Longs)shifted.v << 52));
}

inline Lanes<float> power_of_positive(Lanes<float> x, Lanes<float> y) {
  HalfFloats xs[2], ys[2], out[2];
  std::memcpy(xs, &x.v, sizeof xs);
  std::memcpy(ys, &y.v, sizeof ys);
  for (int i = 0; i < 2; ++i)
    out[i] = __builtin_convertvector(power_of_positive(Lanes<double>(__builtin_convertvector(xs[i], Doubles)),
                                                       __builtin_convertvector(ys[i], Doubles))
                                         .v,
                                     HalfFloats);
  Floats result;
  std::memcpy(&result, out, sizeof result);
  return result;
}

}  // namespace lane_math

/// Returns f(x) for floats, with a function of vectors of doubles.
template <class F>
Lanes<float> in_halves(Lanes<float> x, const F& f) {
  lane_math::HalfFloats halves[2];
  std::memcpy(halves, &x.v, sizeof halves);
  for (lane_math::HalfFloats& half : halves)
    half = __builtin_convertvector(f(Lanes<double>(__builtin_convertvector(half, Doubles))).v,
                                   lane_math::HalfFloats);
  std::memcpy(&x.v, halves, sizeof halves);
  return x;
}

namespace lane_math {

/// erf(|x|) = c + p t, where t is the distance from the nearest multiple of 17/32. The caller adds c, which
/// is erf of this multiple; around 0, c is |x|.
struct ErfPiece {
  using L = Lanes<float>;
  L size, shifted, t, p;
  Ints which;
  explicit ErfPiece(L x, const Choice& slope) {
    constexpr float kOne = 3.95f, kStep = 17.0f / 32;  // from kOne on, erf is 1
    size = least(kOne, abs(x));                        // NaN stays NaN
    shifted = fma(size, 1 / kStep, kShift);
    t = fma(shifted - kShift, -kStep, size);
    which = (Ints)shifted.v;  // the number of the polynomial, in the low bits
    p = kErf[7][which];
    for (int k = 6; k > 1; --k) p = fma(p, t, kErf[k][which]);
    p = fma(p, t, slope[which]);
  }
  static constexpr float kShift = 12582912;
};

/// erfc, and the negative of its derivative, at the multiples of 17/32, including 0.
constexpr Choice kErfc = {{1, 0.452471555f, 0.132941731f, 0.0242022794f, 0.00265402936f, 0.000172302985f,
                           6.55015078e-06f, 1.44756893e-07f}};
constexpr Choice kErfcSlope = {{1.128379167f, 0.850913942f, 0.364902884f, 0.088987723f, 0.0123408213f,
                                0.000973238202f, 4.36470473e-05f, 1.11313602e-06f}};

/// Returns erfc(x) for x < 2.83. The error in units in the last place is at most 3 times the condition number
/// of erfc.
inline Lanes<float> erfc_near(Lanes<float> x) {
  const ErfPiece at(x, kErfcSlope);
  const Lanes<float> upper = fma(-at.p, at.t, kErfc[at.which]);
  return where(x < 0, 2 - upper, upper);
}

}  // namespace lane_math

/// Returns erf(x), to 0.93 units in the last place.
inline Lanes<float> erf(Lanes<float> x) {
  const lane_math::ErfPiece at(x, lane_math::kErf[1]);
  const auto first = at.shifted == Lanes<float>(lane_math::ErfPiece::kShift);
  const Lanes<float> upper = fma(at.p, at.t, where(first, at.size, lane_math::kErf[0][at.which]));
  return lane_math::copysign(upper, x);
}

/// Returns a times the normal distribution function at x; 0 for x = -infinity.
inline Lanes<float> normal_cdf_times(Lanes<float> a, Lanes<float> x) {
  using L = Lanes<float>;
  const L near = a * (lane_math::erfc_near(x * L(-0.70710678f)) * L(0.5f));
  const auto is_near = x > L(-4.0f);
  if (all(is_near)) [[likely]]
    return near;
  // e^(-x^2 / 2) n / d, with a relative error of 8e-9 for x >= -14.5.
  constexpr float kN[] = {0.004216414294f, 0.04129466399f, 0.1851730472f, 0.4408685531f, 0.5000000033f},
                  kD[] = {0.0105688788f, 0.1035161386f, 0.4745917192f, 1.210485157f, 1.679622149f, 1};
  const L size = least(L(40.0f), abs(x)), factor = where(a < L(-1e6f), L(-1e6f), a);
  L n = kN[0], d = kD[0];
  for (int k = 1; k < 5; ++k) n = fma(n, size, kN[k]);
  for (int k = 1; k < 6; ++k) d = fma(d, size, kD[k]);
  return where(is_near, near, exponential(size * size * L(-0.5f)).times(factor * (n / d)));
}

/// Returns x^y with C's results for zeros, infinities, NaN and negative x. The error is at most 0.6 units in
/// the last place for float, and 1 for double.
template <class T>
Lanes<T> pow(Lanes<T> x, Lanes<T> y) {
  using L = Lanes<T>;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const L size = abs(x), whole = trunc(y), half = y * T(0.5);
  L power;
  if constexpr (std::is_same_v<T, float>)
    power = lane_math::power_of_positive(size, y);
  else
    power = lane_math::libmvec_pow(size, y);
  const auto is_whole = whole == y, is_odd = is_whole & ~(trunc(half) == half);
  power = where(is_odd, lane_math::copysign(power, x), power);
  power = where((x < L(0)) & (x > L(-kInfinity)) & ~is_whole, std::numeric_limits<T>::quiet_NaN(), power);
  return where((x == L(1)) | (y == L(0)) | ((x == L(-1)) & (abs(y) == L(kInfinity))), 1, power);
}

namespace lane_math {

/// (atan(t) - t) / t^3 as a polynomial in t^2 with the least relative error of atan(t) for |t| <= 1.
template <class T>
constexpr std::array kArctangent = {-0.33333299f, 0.19998548f,   -0.14264242f, 0.10952187f,   -0.084034528f,
                                    0.057957636f, -0.031177886f, 0.010914626f, -0.0017936262f};
template <>
inline constexpr std::array kArctangent<double> = {
    -0.3333333333333307,   0.19999999999951462,   -0.14285714282575182,    0.11111111007027451,
    -0.09090907003002102,  0.07692279839302578,   -0.06666404056907825,    0.058805278071820954,
    -0.05253518508088162,  0.04722322034645345,   -0.04219178418365443,    0.03664189904414486,
    -0.02990383857397878,  0.021984827909193597,  -0.013900535524933961,   0.007196485547649416,
    -0.002884909322451745, 0.0008313186233074333, -0.00015216017038722306, 1.3225006533225376e-05};

}  // namespace lane_math

/// Returns the angle of the point (x, y), with C's results for zeros, infinities and NaN. The error is at
/// most 1.7 units in the last place.
template <class T>
Lanes<T> atan2(Lanes<T> y, Lanes<T> x) {
  using L = Lanes<T>;
  constexpr T kPi = T(3.14159265358979323846);
  constexpr T kPiRest = std::is_same_v<T, float> ? T(-8.7422776573475854e-8) : T(1.2246467991473532e-16);
  const L height = abs(y), width = abs(x);
  const auto steep = height > width, backward = lane_math::copysign(L(1), x) < L(0);
  const L small = where(steep, width, height), large = where(steep, height, width);
  // If both are 0 or infinite, C defines the result as if their quotient were 0 or 1.
  const L t = where(small == large, where(small == L(0), 0, L(1)), small / large), square = t * t;
  constexpr auto& kSeries = lane_math::kArctangent<T>;
  L p = kSeries.back();
  for (std::size_t k = kSeries.size() - 1; k > 0; --k) p = fma(p, square, kSeries[k - 1]);
  const L part = fma(t * square, p, t);
  // The angle from the nearest half-axis is added to the angle of this half-axis or subtracted from it.
  const L quarters = where(steep, L(T(0.5)), where(backward, 1, L(0)));
  const L turned = where(steep ^ backward, -part, part);
  return lane_math::copysign(fma(quarters, kPi, fma(quarters, kPiRest, turned)), y);
}

}  // namespace ebb::cpu

#endif
