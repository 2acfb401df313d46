// Modified Bessel functions of the first kind, of orders 0 and 1, and their derivatives.
#pragma once

#include "ops/elementwise/formulas/special/bessel_series.h"
#include "ops/elementwise/formulas/special/series.h"

namespace ebb::ops {

/// Returns e^-|x| I_order(x) for order 0 or 1. Up to 8 it uses a Chebyshev series of the product with a power
/// of 2 + x, beyond it a series in 1 / x of the product with sqrt(x).
EBB_HD [[gnu::noinline]] inline double bessel_ie(int order, double x) {
  constexpr double low_0[] = {
      1.4210204785420315,      -0.13126368219582066,   0.23055787035076056,     -0.1275542107645269,
      0.05855468173013002,     -0.0227209995668654,    0.0071553127656699,      -0.0015739879472307875,
      3.548256246969817e-05,   0.00019770355684286072, -0.00013681773870375687, 6.465096572821488e-05,
      -2.522668849418619e-05,  8.631241068945499e-06,  -2.663310252985001e-06,  7.532386663266788e-07,
      -1.9733956963533217e-07, 4.825804730102827e-08,  -1.1079516971957694e-08, 2.3992862690910803e-09,
      -4.919471040334895e-10,  9.581670854723068e-11,  -1.777749920667566e-11,  3.1497609663642205e-12,
      -5.340888924620766e-13,  8.684249527524827e-14,  -1.3564574011965696e-14, 2.038630553557938e-15,
      -2.952389814732153e-16,  4.125767609895303e-17,  -5.570318502654927e-18};
  constexpr double low_1[] = {
      1.7334962959313114,     -0.1542365228048766,    0.12087553466801576,    -0.020663000874653944,
      -0.009077502581101876,  0.010530977400088022,   -0.006026226789231382,  0.0025484429419716163,
      -0.0008504619420007087, 0.00021758022036920443, -3.390203033759069e-05, -3.628295067883043e-06,
      5.634123381265325e-06,  -2.878887350140189e-06, 1.101285471545882e-06,  -3.5779881575443444e-07,
      1.0344759758682226e-07, -2.724957986497409e-08, 6.6324599550195764e-09, -1.5057852359248065e-09,
      3.210649079315794e-10,  -6.463057461027673e-11, 1.2334328675409729e-11, -2.2393610995879684e-12,
      3.879100602493342e-13,  -6.427300296583115e-14, 1.0208761612336723e-14, -1.5574431206950089e-15,
      2.2861528846617146e-16, -3.233986392558001e-17, 4.4150440215056164e-18};
  constexpr double high_0[] = {
      0.4022452055070544,      0.0033691164782556943,   6.889758346916825e-05,   2.8913705208347567e-06,
      2.0489185894690638e-07,  2.266668990498178e-08,   3.3962320257083865e-09,  4.94060238822497e-10,
      1.1889147107846439e-11,  -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
      7.180124451383666e-13,   3.8527783827421426e-13,  1.54008621752141e-14,    -4.150569347287222e-14,
      -9.554846698828307e-15,  3.8116806693526224e-15,  1.7725601330565263e-15,  -3.425485619677219e-16,
      -2.8276239805165836e-16, 3.461222867697461e-17,   4.46562142029676e-17,    -4.830504485944182e-18,
      -7.233180487874754e-18,  9.921475412173699e-19,   1.193650890845982e-18};
  constexpr double high_1[] = {
      0.38928811750914005,     -0.009761097491361469,   -0.00011058893876262371, -3.882564808877691e-06,
      -2.512236237870209e-07,  -2.6314688468895196e-08, -3.835380385964237e-09,  -5.589743462196584e-10,
      -1.8974958123505413e-11, 3.2526035830154884e-11,  1.4125807436613782e-11,  2.0356285441470896e-12,
      -7.198551776245908e-13,  -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
      1.0420276984128802e-14,  -3.8144030724370075e-15, -1.8803547755107825e-15, 3.3082023109209285e-16,
      2.96262899764595e-16,    -3.209525921993424e-17,  -4.6503053684893586e-17, 4.414348323071708e-18,
      7.517296310842105e-18,   -9.314178867326884e-19,  -1.242193275194891e-18};
  const double a = std::fabs(x);
  double out;
  if (a != a) return a;
  if (a < 8) {
    const double t = a / 4 - 1, by = 2 + a;
    out = order == 0 ? chebyshev_sum(t, low_0) / by : a * (chebyshev_sum(t, low_1) / (by * by));
  } else {
    const double t = 16 / a - 1;
    out = (order == 0 ? chebyshev_sum(t, high_0) : chebyshev_sum(t, high_1)) / std::sqrt(a);
  }
  return order == 1 && x < 0 ? -out : out;
}

/// Returns I_order(x).
EBB_HD inline double bessel_i(int order, double x) {
  const double a = std::fabs(x);
  if (a > 1e3) return order == 1 ? std::copysign(kInfinity, x) : kInfinity;
  return times_exp(bessel_ie(order, x), a);
}

/// Returns the n-th derivative of I1, n = 1 or 2: (I0 + I2) / 2 or (3 I1 + I3) / 4. I0' is I1.
EBB_HD [[gnu::noinline]] inline double bessel_i1_derivative(int n, double x) {
  const double a = std::fabs(x);
  double out;
  if (a < 30) {
    const BesselSeries i(a, 1);
    out = n == 1 ? (i.s0 + i.square * i.s2).high / 2 : a / 8 * (i.square * i.s3 + Twofold(3) * i.s1).high;
  } else if (a < 1e3) {
    const double i0 = bessel_ie(0, a), i1 = bessel_ie(1, a);
    out = times_exp(n == 1 ? i0 - i1 / a : (1 + 2 / (a * a)) * i1 - i0 / a, a);
  } else {
    out = a == a ? kInfinity : a;
  }
  return n == 2 && x < 0 ? -out : out;
}

/// Returns the n-th derivative of e^-|x| I_order(x), n = 1 or 2. At 0, where it is discontinuous, it is 0.
EBB_HD [[gnu::noinline]] inline double bessel_ie_derivative(int order, int n, double x) {
  const double a = std::fabs(x);
  if (a != a) return a;
  const bool odd = (order + n) % 2 == 1;
  if (odd && a == 0) return 0;
  double out;
  if (a < 30) {
    const BesselSeries i(a, 1);
    const Twofold i0 = i.s0, i1 = Twofold(a / 2) * i.s1, half_of_2 = i.square * i.s2 / 2;
    const Twofold first = i0 / 2 + half_of_2;  // the derivative of I1
    const Twofold second = (i.square * i.s3 + Twofold(3) * i.s1) * Twofold(a / 8);
    const Twofold sum = n == 1 ? (order == 0 ? i1 - i0 : first - i1)
                               : (order == 0 ? first - i1 - i1 + i0 : second - first - first + i1);
    out = sum.high * std::exp(-a);
  } else {  // with the asymptotic series, term by term (DLMF 10.40.1)
    double term = 1;
    Twofold sum;
    for (int k = 0; k < 30; ++k) {
      const double odd_k = 2 * k + 1, part = term * (n == 1 ? -(k + 0.5) : (k + 0.5) * (k + 1.5));
      sum = sum + part;
      const double next = term * (odd_k * odd_k - 4 * order) / (8 * (k + 1)) / a;
      if (std::fabs(next) > std::fabs(term) || std::fabs(part) < 1e-18 * std::fabs(sum.high)) break;
      term = next;
    }
    out = 0.39894228040143267794 / std::sqrt(a) * sum.high / a;
    if (n == 2) out /= a;
  }
  return odd && x < 0 ? -out : out;
}

}  // namespace ebb::ops
