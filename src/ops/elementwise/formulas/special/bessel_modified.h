// Modified Bessel functions of the first and second kind, I and K, of orders 0 and 1, and their derivatives.
#pragma once

#include "ops/elementwise/formulas/special/bessel_parts.h"
#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// Returns y = e^-|x| I_order(x) for order 0 or 1. For |x| < 8 it uses a Chebyshev series of (2 + |x|) y
/// (order 0) or (2 + |x|)^2 y / |x| (order 1). For larger |x| it uses a Chebyshev series of sqrt(|x|) y in
/// 1 / |x|.
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

/// Returns I_order(x) for order 0 or 1, for a double or a vector of doubles. For |x| < 10 it is a polynomial
/// of x^2 / 4, whose coefficients are positive. For larger |x| it is e^|x| / sqrt(|x|) times a polynomial of
/// 20 / |x| - 1.
template <class X>
EBB_HD X bessel_i(int order, const X& x) {
  constexpr double low_0[] = {1.572631176604601e-29,  1.3887463825307687e-27, 6.438276974117441e-25,
                              1.2899240266389696e-22, 2.5869716184443618e-20, 4.356548513350253e-18,
                              6.276397598147444e-16,  7.59401733200507e-14,   7.594062469931115e-12,
                              6.151187028007031e-10,  3.936759905501551e-08,  1.9290123450308158e-06,
                              6.94444444462373e-05,   0.0017361111111078307,  0.027777777777781426,
                              0.24999999999999786,    1.0000000000000004,     1};
  constexpr double low_1[] = {8.433514105622934e-31,
                              8.831186128594353e-29,
                              3.9578734525239104e-26,
                              8.63937671464028e-24,
                              1.8462095224407276e-21,
                              3.3516655119285563e-19,
                              5.2302295103087567e-17,
                              6.903668472468027e-15,
                              7.594060493638071e-13,
                              6.834652432663126e-11,
                              4.920949869783589e-09,
                              2.755731922067518e-07,
                              1.1574074074165636e-05,
                              0.0003472222222220547,
                              0.0069444444444446305,
                              0.08333333333333322,
                              0.5,
                              1};
  constexpr double high_0[] = {
      2.7603485241861068e-12, -6.3262039191494154e-12, -2.4183349727737924e-11, 3.155421668786804e-11,
      1.0170469305586485e-10, -3.558968843360028e-11,  -2.423349328065652e-10,  -1.5448552468921097e-10,
      1.5145324594818797e-10, 3.9410954580228427e-10,  6.336261398468819e-10,   1.2741444053790702e-09,
      3.5594563157926027e-09, 1.3636125731770243e-08,  7.07840051614556e-08,    5.041256793474025e-07,
      5.152033951104713e-06,  8.311327263927853e-05,   0.0026458859671862076,   0.4015097608312065};
  constexpr double high_1[] = {
      -2.676872262764472e-12,  6.7357290842639445e-12,  2.4029495612035374e-11, -3.409133252872986e-11,
      -1.0340177744031513e-10, 4.148035881800019e-11,   2.5212296642087334e-10, 1.5531706422557256e-10,
      -1.6465502105744396e-10, -4.1927402300713985e-10, -6.795465579936455e-10, -1.3893522903216827e-09,
      -3.96499662651414e-09,   -1.5599173171235276e-08, -8.389643295054787e-08, -6.294295631641425e-07,
      -7.012361313207912e-06,  -0.00013480146634002756, -0.007730905126755944,  0.39133972251206706};
  const X size = abs(x), square = x * x * constant<X>(0.25);
  const X near = order == 0 ? polynomial(square, low_0) : x * (polynomial(square, low_1) * constant<X>(0.5));
  const auto large = size > constant<X>(10);
  if (!any<X>(large)) return near;
  const X at = where(size > constant<X>(1e3), constant<X>(1e3), where(large, size, constant<X>(10)));
  const X t = 20 / at - 1, root = sqrt(at);
  const X far = exponential(at).times((order == 0 ? polynomial(t, high_0) : polynomial(t, high_1)) / root);
  return where(large, order == 1 ? where(x < constant<X>(0), -far, far) : far, near);
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

/// Returns the n-th derivative of e^-|x| I_order(x), n = 1 or 2. If order + n is odd, the derivative is
/// discontinuous at 0, where it returns 0.
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

/// Returns K_order(x), or e^x K_order(x) if `scaled`, for order 0 or 1. The result is infinite at 0 and NaN
/// below. For x <= 1 it uses the power series (DLMF 10.31). For larger x it uses a Chebyshev series of
/// sqrt(x) e^x K_order(x) in 2 / x - 1.
EBB_HD [[gnu::noinline]] inline double bessel_k(int order, double x, bool scaled) {
  constexpr double k0[] = {
      1.1944330762167386,     -0.053855323307629495,   0.004362000068251702,   -0.0005521270349863234,
      8.959565555755952e-05,  -1.7138726856421186e-05, 3.695146089045472e-06,  -8.737284518980525e-07,
      2.225046272255236e-07,  -6.025216756376064e-08,  1.7186668629418083e-08, -5.1272057810909205e-09,
      1.5907351467912106e-09, -5.10958325791419e-10,   1.6929517419961088e-10, -5.7683063818637606e-11,
      2.0159542597761383e-11, -7.210940065346495e-12,  2.6349075982806445e-12, -9.819576891759296e-13,
      3.72695818784577e-13,   -1.4388149744180521e-13, 5.6436532735816866e-14, -2.2469288334596896e-14,
      9.072046991627365e-15,  -3.711589997838162e-15,  1.537582290719742e-15,  -6.445464362724762e-16,
      2.7324144482527955e-16, -1.1707837700385628e-16, 5.067869397943657e-17,  -2.215087912714289e-17,
      9.77208135793031e-18,   -4.349519763540327e-18,  1.9525118377031567e-18};
  constexpr double k1[] = {
      1.4532756675938414,      0.19051350202061165,    -0.008406706460495654,   0.0008815363164514389,
      -0.000129995769583983,   2.3441638979785087e-05, -4.853489413610226e-06,  1.1139969511197356e-06,
      -2.772707643805077e-07,  7.37247184977708e-08,   -2.0717892129028323e-08, 6.103966549420336e-09,
      -1.873778917957349e-09,  5.963886884453419e-10,  -1.96028004074301e-10,   6.632273899864202e-11,
      -2.3034250700407756e-11, 8.193082518369976e-12,  -2.9786645069974164e-12, 1.1049772078983365e-12,
      -4.1763277431648047e-13, 1.6061141914625803e-13, -6.277632672531289e-14,  2.4911830875182032e-14,
      -1.002779686252293e-14,  4.091059996919741e-15,  -1.690331071434488e-15,  7.068360792264328e-16,
      -2.9895680121763374e-16, 1.2781913900252084e-16, -5.521491188037584e-17,  2.4087033253210474e-17,
      -1.0606842599776099e-17, 4.712904181351423e-18,  -2.112162909518146e-18};
  if (!(x > 0)) return x == 0 ? kInfinity : quiet_nan<double>();
  if (x > 1) {
    if (x == kInfinity) return 0;
    const double t = 2 / x - 1, sum = order == 0 ? chebyshev_sum(t, k0) : chebyshev_sum(t, k1);
    if (scaled) return sum / std::sqrt(x);
    const double root = std::exp(-x / 2);  // as two factors, so that small results keep their digits
    return root * (sum / std::sqrt(x)) * root;
  }
  const double square = x * x / 4, logarithm = std::log(x) - 0.69314718055994530942;
  // term = square^k / (k! (k + order)!); digammas = psi(k + 1), or psi(k + 1) + psi(k + 2).
  double term = 1, digammas = order == 0 ? -0.57721566490153286061 : 1 - 2 * 0.57721566490153286061, sum = 0;
  for (int k = 0; k < 12; ++k) {
    sum += term * (order == 0 ? digammas - logarithm : logarithm - digammas / 2);
    term *= square / ((k + 1) * (k + 1 + order));
    digammas += order == 0 ? 1.0 / (k + 1) : 1.0 / (k + 1) + 1.0 / (k + 2);
  }
  const double out = order == 0 ? sum : 1 / x + x / 2 * sum;
  return scaled ? out * std::exp(x) : out;
}

/// Returns the n-th derivative of K1, n = 1 or 2. K0' is -K1.
EBB_HD [[gnu::noinline]] inline double bessel_k1_derivative(int n, double x) {
  if (!(x > 0)) return x == 0 ? (n == 1 ? -kInfinity : kInfinity) : x == x ? quiet_nan<double>() : x;
  if (x < 1e-20) return n == 1 ? -1 / x / x : 2 / x / x / x;
  // The functions are scaled, so that small results keep their digits.
  const double k0 = bessel_k(0, x, true), k1 = bessel_k(1, x, true);
  return times_exp(n == 1 ? -(k0 + k1 / x) : k1 + k0 / x + 2 * k1 / x / x, -x);
}

}  // namespace ebb::ops
