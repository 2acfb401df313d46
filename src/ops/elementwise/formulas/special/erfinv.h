// The inverse of the error function.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// Returns the inverse of erf, for numbers and vectors. As Giles proposes (GPU Computing Gems, 2011), y is
/// multiplied by a function of w = -log(1 - y^2). Near 1 and -1 the result is a function of
/// sqrt(-log(1 - |y|)). Both functions are polynomials for floats, and quotients of polynomials for doubles.
template <class X>
EBB_HD X inverse_erf(const X& y) {
  constexpr double near_float[] = {-8.931925970244222e-09,  2.3335967195708108e-08,  4.6813134805534123e-07,
                                   -3.4639852676333717e-06, -4.9724196894547514e-06, 0.00021834938623976644,
                                   -0.001252726391773229,   -0.004177392875203149,   0.24664027905463662,
                                   1.501409360450329};
  constexpr double far_float[] = {-1.902860029315843e-05, 8.627286180298812e-05, -0.00021168171617990373,
                                  0.0003613429991534565,  7.134177195220257e-05, -0.005442407674829256,
                                  1.041752507588242,      2.7147610063919743};
  constexpr double near_p[] = {3.5195333908916356e-08, 1.2474734829737013e-06, 2.308707469949709e-05,
                               0.00028782421220015404, 0.002647928812334752,   0.018440151969261843,
                               0.09502616750991792,    0.35365432945340464,    0.886226925452758};
  constexpr double near_q[] = {2.1139569561159198e-09, 2.5914914750330895e-07, 5.817019158306773e-06,
                               8.487309794351945e-05,  0.001058915818467052,   0.006401256414891165,
                               0.058259767227898204,   0.1372567899092089,     1};
  constexpr double far_p[] = {1.404830876691545e-05, 0.0008675039037799487, 0.01753623649498386,
                              0.1656600231658055,    0.8510262730124547,    2.540060597300861,
                              4.423508207298241,     4.1859454445715185,    1.6681883160588682};
  constexpr double far_q[] = {
      1.4048043395361486e-05, 0.000839474630358103, 0.01589578336229486, 0.135483864566312,
      0.6021628629939455,     1.4682571322120128,   1.880118923753392,   1};
  constexpr bool floats = carries_floats<X>();
  const X size = abs(y), one = constant<X>(1), rest = one - size, w = -log(rest * (one + size));
  X out;
  if constexpr (floats)
    out = y * polynomial(w - constant<X>(2.5), near_float);
  else
    out = y * polynomial(w, near_p) / polynomial(w, near_q);
  const auto near_one = w > constant<X>(5);
  if (!any<X>(near_one)) return out;
  const X root = sqrt(-log(where(near_one, rest, constant<X>(0.001))));
  X far;
  if constexpr (floats)
    far = polynomial(root - constant<X>(3), far_float);
  else
    far = polynomial(root - constant<X>(2), far_p) / polynomial(root - constant<X>(2), far_q);
  far = where(rest == constant<X>(0), constant<X>(kInfinity), far);
  return where(near_one, where(y < constant<X>(0), -far, far), out);
}
EBB_HD inline double erfinv(double y) { return inverse_erf(y); }

}  // namespace ebb::ops
