// Bessel functions of the first and second kind, of orders 0 and 1.
#pragma once

#include "ops/elementwise/formulas/special/series.h"

namespace ebb::ops {

/// What J and Y of an order have in common from 8 on (DLMF 10.18): the phase x - (2 order + 1) pi / 4 and the
/// two factors of sqrt(2 / (pi x)) (p cos - q sin), sqrt(2 / (pi x)) (p sin + q cos).
struct BesselTail {
  double cosine, sine, p, q, scale;

  EBB_HD BesselTail(int order, double x) {
    constexpr double p0[] = {0.9994603493475187,      -0.0005365220468132117,  3.0751847875194745e-06,
                             -5.1705945376060975e-08, 1.6306464635151382e-09,  -7.86409137723707e-11,
                             5.168262387349193e-12,   -4.3045788699253914e-13, 4.3265957431549404e-14,
                             -5.069034095935236e-15,  6.748072215733873e-16,   -1.0011513723467786e-16,
                             1.6305919233744186e-17,  -2.880866169482871e-18};
    constexpr double q0[] = {-0.12444683684269607,    0.0005470815954089319,  -5.9315987288485175e-06,
                             1.4377965798375193e-07,  -5.817532749493056e-09, 3.376097523734991e-10,
                             -2.565397936797308e-11,  2.404916100281365e-12,  -2.6690625482579414e-13,
                             3.4041800321963686e-14,  -4.87994410531204e-15,  7.729703176242605e-16,
                             -1.3348852171502517e-16, 2.4865952389390515e-17, -4.952892629886516e-18,
                             1.0473158973776097e-18,  -2.336930172211422e-19};
    constexpr double p1[] = {1.0009030408600137,      0.0008989898330859408,   -3.987284300488908e-06,
                             6.177633960644299e-08,   -1.8718907491063067e-09, 8.816898659582339e-11,
                             -5.704863640395645e-12,  4.699195515230542e-13,   -4.6842237839904895e-14,
                             5.452674896044717e-15,   -7.221180842274018e-16,  1.0667689114335412e-16,
                             -1.7312313216116335e-17, 3.0492991197665872e-18};
    constexpr double q1[] = {
        0.3742222965562826,     -0.0007702178839325664, 7.3108922063643636e-06, -1.676782510726674e-07,
        6.583354662120443e-09,  -3.749090950541556e-10, 2.8121750359748866e-11, -2.61145253946232e-12,
        2.8774212663332235e-13, -3.649001916061838e-14, 5.206626366226707e-15,  -8.215318025458595e-16,
        1.4141084390211833e-16, -2.626761589838529e-17, 5.2192649196714085e-18, -1.101261718787959e-18};
    const double s = std::sin(x), c = std::cos(x), t = 128 / (x * x) - 1;
    // The angle's own rounding would cost digits; these sums do not.
    cosine = order == 0 ? c + s : s - c;
    sine = order == 0 ? s - c : -s - c;
    p = order == 0 ? chebyshev_sum(t, p0) : chebyshev_sum(t, p1);
    q = (order == 0 ? chebyshev_sum(t, q0) : chebyshev_sum(t, q1)) / x;
    scale = 0.56418958354775628695 / std::sqrt(x);  // 1 / sqrt(pi)
  }
};

/// J_order(x), order 0 or 1. Near its zeros the absolute error is that of the function's amplitude.
EBB_HD [[gnu::noinline]] inline double bessel_j(int order, double x) {
  constexpr double j0[] = {0.15772797147489012,     -0.008723442352852221,   0.2651786132033368,
                           -0.37009499387264977,    0.15806710233209725,     -0.034893769411408884,
                           0.004819180069467605,    -0.00046062616620627504, 3.246032882100508e-05,
                           -1.7619469077621507e-06, 7.608163592418782e-08,   -2.679253530557673e-09,
                           7.848696314479465e-11,   -1.9438346867370164e-12, 4.125320595634374e-14,
                           -7.588508125447546e-16,  1.2218515873961411e-17};
  constexpr double j1[] = {0.08104484632565812,     -0.1489751450676521,    0.1609992623572097,
                           -0.08268049176681791,    0.022213639654966037,   -0.003646940600769276,
                           0.0004050337728354822,   -3.255554866857259e-05, 1.9858774049915165e-06,
                           -9.521984756750436e-08,  3.687133759097148e-09,  -1.178026622695885e-10,
                           3.160154580348003e-12,   -7.221755239651773e-14, 1.4232144003513942e-15,
                           -2.4441972916190464e-17, 3.6912682997929334e-19};
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return a == a ? 0 : a;
  double out;
  if (a < 1) {  // the power series (DLMF 10.2.2), exact at 0
    const double square = a * a / 4;
    double term = order == 0 ? 1 : a / 2;
    out = term;
    for (int k = 1; k < 10; ++k) out += term *= -square / (k * (k + order));
  } else if (a < 8) {
    const double t = a * a / 32 - 1;
    out = order == 0 ? chebyshev_sum(t, j0) : a * chebyshev_sum(t, j1);
  } else {
    const BesselTail tail(order, a);
    out = tail.scale * (tail.p * tail.cosine - tail.q * tail.sine);
  }
  return order == 1 && x < 0 ? -out : out;
}

/// Y_order(x), order 0 or 1: -infinity at 0, NaN below.
EBB_HD [[gnu::noinline]] inline double bessel_y(int order, double x) {
  constexpr double y0[] = {-0.03314611320328494,    -0.2744743055297453,     0.17903431407718265,
                           0.26156734625504663,     -0.17730201278114358,    0.04719668959576339,
                           -0.007287962479552079,   0.0007531135932577742,   -5.632079141056987e-05,
                           3.206532537654801e-06,   -1.44072332740187e-07,   5.248794787330516e-09,
                           -1.5837552541812015e-10, 4.02633081830612e-12,    -8.747341203310769e-14,
                           1.6434898714919468e-15,  -2.6977881152566837e-17, 3.9032584173475982e-19};
  constexpr double y1[] = {0.0025380132357417816,   -0.01608717304766875,  -0.09591204536083074,
                           0.08445197259652346,     -0.028328123944594365, 0.005289897544167113,
                           -0.0006414551451326356,  5.505982873338744e-05, -3.53808001868935e-06,
                           1.7707804556154404e-07,  -7.11055004989928e-09, 2.344337905911516e-10,
                           -6.4651518414115946e-12, 1.51429151205002e-13,  -3.0511859694473254e-15,
                           5.34668038572867e-17,    -8.224911372021585e-19};
  if (!(x > 0)) return x == 0 ? -kInfinity : quiet_nan<double>();
  if (x == kInfinity) return 0;
  if (x < 8) {  // what is left behind the logarithm (DLMF 10.8)
    const double t = x * x / 32 - 1, first = bessel_j(order, x), two_over_pi = 0.63661977236758134308;
    return order == 0 ? chebyshev_sum(t, y0) + two_over_pi * std::log(x) * first
                      : x * chebyshev_sum(t, y1) + two_over_pi * (std::log(x) * first - 1 / x);
  }
  const BesselTail tail(order, x);
  return tail.scale * (tail.p * tail.sine + tail.q * tail.cosine);
}

}  // namespace ebb::ops
