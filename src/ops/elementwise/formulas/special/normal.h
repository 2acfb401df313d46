// erfcx (the scaled complement of the error function), and the normal distribution function ndtr, its
// logarithm and its inverse.
#pragma once

#include "ops/elementwise/formulas/special.h"
#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// Returns f(x) = e^(x^2) erfc(x) for finite x >= 0. For x <= 1 it uses a series of (1 - f(x)) / x. For
/// larger x it uses a series in (x - 15/4) / (x + 15/4) (Shepherd and Laframboise, Math. Comp. 36, 1981). The
/// first coefficients, which are the largest terms, are added separately.
EBB_HD inline Twofold erfcx_right(double x) {
  constexpr double c[] = {0,
                          -0.004590054580646478,
                          -0.08424913336651792,
                          0.05920993999819189,
                          -0.026658668435305753,
                          0.009074997670705265,
                          -0.002413163540417608,
                          0.0004907758365258086,
                          -6.916973302501207e-05,
                          4.13902798607301e-06,
                          7.74038306619849e-07,
                          -2.1886401049234397e-07,
                          1.076499946567091e-08,
                          4.521959811218287e-09,
                          -7.754400208831351e-10,
                          -6.318088340886684e-11,
                          2.86879501093067e-11,
                          1.9455868545777347e-13,
                          -9.65469674843344e-13,
                          3.25254814814874e-14,
                          3.3478119482868056e-14,
                          -1.864562880419313e-15,
                          -1.2507950530688648e-15,
                          7.418235256624044e-17,
                          5.068148904796111e-17,
                          -2.2370566594359995e-18,
                          -2.187342944303018e-18};
  constexpr double near[] = {0,
                             -0.272301788304479,
                             0.040879868630694365,
                             -0.005594666545592333,
                             0.0007084685420230568,
                             -8.391350946580004e-05,
                             9.372391172024632e-06,
                             -9.934546376691054e-07,
                             1.0045059161162876e-07,
                             -9.72955505301367e-09,
                             9.059374429672246e-10,
                             -8.133262669697148e-11,
                             7.058401363467471e-12,
                             -5.93457532308169e-13,
                             4.843528817509036e-14,
                             -3.8438956965652255e-15,
                             2.9708785964728254e-16,
                             -2.2392288205020275e-17};
  if (x < 1)
    return Twofold(1) - Twofold(x) * (Twofold(0.8087999845423272, -4.404661153740533e-18) +
                                      chebyshev_sum(x + x - 1, near));
  const Twofold sum =
      Twofold(1.1775789345674017, 5.1287282061057226e-17) + chebyshev_sum((x - 3.75) / (x + 3.75), c);
  return sum / 2 / exact_sum(x, 0.5);
}

/// Returns e^(x^2) erfc(x). For x < 0 it uses reflection.
EBB_HD [[gnu::noinline]] inline double erfcx(double x) {
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return x < 0 ? kInfinity : a == a ? 0 : x;
  if (x >= 0) return erfcx_right(a).high;
  if (x < -27) return kInfinity;
  const Twofold square = exact_product(a, a);
  return times_exp(2, square.high, square.low) - erfcx_right(a).high;
}

/// Returns the n-th derivative of erfcx, n = 1 or 2. It is -2 e^(x^2) times the first integral of erfc, or 8
/// e^(x^2) times the second one (DLMF 7.18.3). The products are computed with series like those of erfcx.
EBB_HD [[gnu::noinline]] inline double erfcx_derivative(int n, double x) {
  constexpr double first[] = {
      -2.220602224347926,      -0.3381491578548434,     0.4780647072401491,      -0.22991599476375216,
      0.058506716560431084,    -0.00017975876764081186, -0.0073446428848319605,  0.003827223400331194,
      -0.0011722202970178507,  0.00023037555021512273,  -2.2114134929734502e-05, -2.1859658381137526e-06,
      1.049150448053633e-06,   -9.04530806168121e-08,   -2.2177778414245705e-08, 5.516129335919508e-09,
      2.433302233708413e-10,   -2.1693995513380136e-10, 5.366283225603341e-12,   7.954006687162879e-12,
      -5.362131784689535e-13,  -3.028340588750968e-13,  2.7807253862696932e-14,  1.2497160929799849e-14,
      -1.1897640812263567e-15, -5.617171355125805e-16,  4.3130464605649346e-17,  2.6922363729620375e-17};
  constexpr double second[] = {
      8.166155212313507,       2.816191035615076,      -2.7687490257145777,    0.8719829404440809,
      0.04558434413760577,     -0.163545415672402,     0.07362228012899912,    -0.013625927112852418,
      -0.0023173774789216907,  0.0023954838634210355,  -0.0007814171762591299, 0.0001235755233760887,
      1.934904575986306e-06,   -5.120455537034635e-06, 7.570322891168331e-07,  9.611533737331379e-08,
      -4.1400170425604994e-08, 1.7474171049407775e-10, 1.6991520515600274e-09, -1.2078293564215558e-10,
      -6.679631092592121e-11,  7.984931137582167e-12,  2.7668043747481566e-12, -4.1163306311527236e-13,
      -1.259699409391657e-13,  1.9064751800139214e-14, 6.313157311172156e-15,  -7.973738460884233e-16,
      -3.386693768126066e-16,  2.7382965355266904e-17, 1.8681928196091942e-17};
  constexpr double first_near[] = {
      -1.073875426463124,      0.10059797668313507,    0.023817747329312126,    -0.015768012165281096,
      0.005063737900506165,    -0.0011970031508765054, 0.00021987294052003433,  -2.8559668724343758e-05,
      8.576528622036342e-07,   9.750903301599775e-07,  -4.2035444696881057e-07, 1.2173888685082134e-07,
      -2.9558770765022294e-08, 6.428769346095887e-09,  -1.2905987173492527e-09, 2.431910229620404e-10,
      -4.3470784174187364e-11, 7.425242048563877e-12,  -1.2184492474389445e-12, 1.9287030698658398e-13,
      -2.954567028684521e-14,  4.391788095239095e-15,  -6.348402965865922e-16,  8.94075332299808e-17,
      -1.2287625913418778e-17};
  constexpr double second_near[] = {
      2.311201239105585,       0.06929236040141983,    -0.17076212369111485,    0.05818841927646335,
      -0.011928405110778705,   0.00131564708978135,    0.00012519858157879665,  -0.00011325701155086442,
      3.680101515824819e-05,   -8.629553151421675e-06, 1.596099462892918e-06,   -2.2361311284977113e-07,
      1.624680791757609e-08,   3.126362022468738e-09,  -1.8119109515990606e-09, 5.491799966174433e-10,
      -1.3371360599508078e-10, 2.8747286336195105e-11, -5.67010191002246e-12,   1.046724976622696e-12,
      -1.830525356691346e-13,  3.057225460788617e-14,  -4.904503387926525e-15,  7.590385672139571e-16,
      -1.1371223960402828e-16, 1.6535282740263704e-17};
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return x < 0 ? (n == 1 ? -kInfinity : kInfinity) : a == a ? (n == 1 ? -0.0 : 0) : x;
  double right;
  if (a < 0.125 && n == 2) {
    right = (2 + 4 * (a * a)) * erfcx(a) - 2 * kTwoOverRootPi * a;
  } else if (a < 2) {
    const double by = 1 + a;
    right = n == 1 ? chebyshev_sum(a - 1, first_near) / (by * by)
                   : chebyshev_sum(a - 1, second_near) / (by * by * by);
  } else {
    const double t = (a - 3.75) / (a + 3.75), by = 0.5 + a;
    right = n == 1 ? chebyshev_sum(t, first) / 4 / by / by : chebyshev_sum(t, second) / 8 / by / by / by;
  }
  if (x >= 0) return right;
  if (x < -27) return n == 1 ? -kInfinity : kInfinity;
  const Twofold square = exact_product(a, a);
  const double factor = n == 1 ? 4 * x : 4 + 8 * square.high;
  return times_exp(factor, square.high, square.low) + (n == 1 ? right : -right);
}

constexpr double kSqrtHalf = 0.70710678118654752440;

/// Returns the normal distribution function, accurate also where it is tiny.
EBB_HD [[gnu::noinline]] inline double ndtr(double x) {
  if (!(x < -1)) return std::erfc(-x * kSqrtHalf) / 2;
  return times_bell(erfcx(-x * kSqrtHalf) / 2, x, 2);
}

/// Returns the logarithm of the normal distribution function.
EBB_HD [[gnu::noinline]] inline double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * kSqrtHalf) / 2) - x * x / 2;
  return std::log1p(-ndtr(-x));
}

constexpr double kRootOneOver2Pi = 0.39894228040143267794;

/// Return the derivatives of erf' = 2 / sqrt(pi) e^(-x^2) and of ndtr' = e^(-x^2 / 2) / sqrt(2 pi).
EBB_HD inline double erf_second(double x) {
  const double inside = std::fabs(x) < 40 ? x : std::copysign(40.0, x);
  return x == x ? times_bell(-2 * kTwoOverRootPi * inside, inside, 1) : x;
}
EBB_HD inline double ndtr_second(double x) {
  const double inside = std::fabs(x) < 40 ? x : std::copysign(40.0, x);
  return x == x ? times_bell(-kRootOneOver2Pi * inside, inside, 2) : x;
}

/// Returns the n-th derivative of log_ndtr, n = 1 or 2. For x < 0 the first derivative is computed with
/// erfcx, and the second with its own series.
EBB_HD [[gnu::noinline]] inline double log_ndtr_derivative(int n, double x) {
  constexpr double c[] = {
      0.8695811522216891,      0.18377260156834024,     -0.055213933244967865,   -0.001962881638326548,
      0.0042640866228547455,   -0.0001377222240548783,  -0.00034890013887109103, 1.945220400251159e-05,
      2.988489155184611e-05,   -1.3698659494669261e-06, -2.611847495829826e-06,  2.5288006400584377e-08,
      2.246464581268548e-07,   1.0417331700015503e-08,  -1.820791292482483e-08,  -2.1980555738965684e-09,
      1.3142021758004029e-09,  2.9297260410841293e-10,  -7.634045834286595e-11,  -3.0429298263218946e-11,
      2.5327947550486125e-12,  2.5241254789608444e-12,  1.1522771167914928e-13,  -1.585905815390908e-13,
      -2.7439286599203468e-14, 6.105844939430347e-15,   2.3358961610660405e-15,  1.9828284305291188e-17,
      -8.67971579904583e-17,   -1.343730760355875e-17,  -3.3930845356704292e-18};
  if (x <= 0) {
    if (n == 1) return 2 * kRootOneOver2Pi / erfcx(-x * kSqrtHalf);
    return x > -1e9 ? -chebyshev_sum((-x - 3) / (3 - x), c) : -1;
  }
  const double inside = x > 40 ? 40 : x, factor = kRootOneOver2Pi / ndtr(inside);
  return times_bell(n == 1 ? factor : -factor * (inside + times_bell(factor, inside, 2)), inside, 2);
}

/// Returns the inverse of the normal distribution function. In the middle it uses the inverse of erf; in the
/// tails it starts with a rational approximation (Abramowitz and Stegun 26.2.23) and applies Newton's method
/// to the logarithm of the distribution function.
EBB_HD [[gnu::noinline]] inline double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinity : p == 1 ? kInfinity : quiet_nan<double>();
  if (std::fabs(p - 0.5) < 0.25) return erfinv(2 * (p - 0.5)) / kSqrtHalf;
  const double target = p < 0.5 ? std::log(p) : std::log1p(-p), t = std::sqrt(-2 * target);
  double x =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i) {  // Newton's method for the tail at -x
    const double scaled = erfcx(x * kSqrtHalf);
    x += (std::log(scaled / 2) - x * x / 2 - target) * scaled * 1.25331413731550025121;  // sqrt(pi / 2)
  }
  return p < 0.5 ? -x : x;
}

/// Returns the n-th derivative (n = 1 or 2) of y, the inverse of a multiple of erfc(t), at tail = erfc(t).
/// The first derivative is factor e^(t^2), the second is factor y e^(2 t^2). e^(t^2) is computed as erfcx(t)
/// / tail, because tail has a smaller relative error than t.
EBB_HD inline double inverse_derivative(int n, double factor, double y, Twofold t, double tail) {
  const Twofold scaled = erfcx_right(t.high);
  const double rough = scaled.high / tail;
  if (rough > 1e150) return n == 1 ? rough * factor : y * factor * rough * rough;
  if (n == 2 && t.high > 1) {  // Newton's method adds digits beyond those of t
    const double step = (rough * times_bell(1, t.high, 1) - 1) * scaled.high / kTwoOverRootPi;
    t.low += step;
    y *= 1 + step / t.high;
  }
  const double derivative = 2 * t.high * scaled.high - kTwoOverRootPi;  // the derivative of erfcx
  const Twofold power = (scaled + derivative * t.low) / tail;
  return n == 1 ? power.high * factor : (power * power).high * (y * factor);
}

/// Returns the n-th derivative of erfinv, n = 1 or 2.
EBB_HD [[gnu::noinline]] inline double erfinv_derivative(int n, double x) {
  const double a = std::fabs(x);
  if (!(a < 1)) return a != 1 ? quiet_nan<double>() : n == 1 ? kInfinity : std::copysign(kInfinity, x);
  const double y = erfinv(x);
  return inverse_derivative(n, n == 1 ? 1 / kTwoOverRootPi : kPi / 2, y, std::fabs(y), 1 - a);
}

/// Returns the n-th derivative of ndtri, n = 1 or 2.
EBB_HD [[gnu::noinline]] inline double ndtri_derivative(int n, double p) {
  if (!(p > 0 && p < 1))
    return p != 0 && p != 1 ? quiet_nan<double>() : n == 2 && p == 0 ? -kInfinity : kInfinity;
  const double y = ndtri(p);
  const Twofold t = Twofold(std::fabs(y)) * Twofold(kSqrtHalf, -4.833646656726457e-17);
  return inverse_derivative(n, n == 1 ? 2.50662827463100050242 : 2 * kPi, y, t,
                            p < 0.5 ? p + p : 2 - (p + p));
}

}  // namespace ebb::ops
