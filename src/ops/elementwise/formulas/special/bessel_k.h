// Modified Bessel functions of the second kind, of orders 0 and 1.
#pragma once

#include "ops/elementwise/formulas/special/series.h"

namespace ebb::ops {

/// Returns K_order(x), or e^x K_order(x) if scaled, for order 0 or 1. It is infinite at 0 and NaN below. Up
/// to 1 it uses the power series (DLMF 10.31), beyond it a Chebyshev series in 2 / x - 1 of sqrt(x) e^x K.
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
