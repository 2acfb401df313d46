// Bessel functions of the first and second kind, of orders 0 and 1, and derivatives of order 1.
#pragma once

#include "ops/elementwise/formulas/special/bessel_parts.h"
#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// The common part of J and Y of an order for x >= 8 (DLMF 10.18). `cosine` and `sine` are those of the phase
/// x - (2 order + 1) pi / 4, and scale is sqrt(2 / (pi x)). Then
///   J = scale ((1 + p) cosine - q sine),
///   Y = scale ((1 + p) sine + q cosine).
struct BesselTail {
  double cosine, sine, p, q, scale;

  EBB_HD BesselTail(int order, double x, const EighthPhase& phase) {
    constexpr double p0[] = {-0.0005396506524813,     -0.0005365220468132117,  3.0751847875194745e-06,
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
    constexpr double p1[] = {0.0009030408600137,      0.0008989898330859408,   -3.987284300488908e-06,
                             6.177633960644299e-08,   -1.8718907491063067e-09, 8.816898659582339e-11,
                             -5.704863640395645e-12,  4.699195515230542e-13,   -4.6842237839904895e-14,
                             5.452674896044717e-15,   -7.221180842274018e-16,  1.0667689114335412e-16,
                             -1.7312313216116335e-17, 3.0492991197665872e-18};
    constexpr double q1[] = {
        0.3742222965562826,     -0.0007702178839325664, 7.3108922063643636e-06, -1.676782510726674e-07,
        6.583354662120443e-09,  -3.749090950541556e-10, 2.8121750359748866e-11, -2.61145253946232e-12,
        2.8774212663332235e-13, -3.649001916061838e-14, 5.206626366226707e-15,  -8.215318025458595e-16,
        1.4141084390211833e-16, -2.626761589838529e-17, 5.2192649196714085e-18, -1.101261718787959e-18};
    const double t = 128 / (x * x) - 1;
    cosine = order == 0 ? phase.cosine : phase.sine;
    sine = order == 0 ? phase.sine : -phase.cosine;
    p = order == 0 ? chebyshev_sum(t, p0) : chebyshev_sum(t, p1);
    q = (order == 0 ? chebyshev_sum(t, q0) : chebyshev_sum(t, q1)) / x;
    scale = std::sqrt(0.63661977236758134308 / x);  // 2 / pi
  }
  EBB_HD double j() const { return scale * (cosine + std::fma(p, cosine, -q * sine)); }
  EBB_HD double y() const { return scale * (sine + std::fma(p, sine, q * cosine)); }
};

/// Returns x minus a zero of the function. The zero is given as the sum of two doubles, so that functions
/// with this factor keep their digits near the zero.
EBB_HD inline double minus_zero(double x, double zero_high, double zero_low) {
  return x - zero_high - zero_low;
}

/// Returns J_order(x) for order 0 or 1 and 1 <= x < 8, with series of J_order(x) / (x^2 - zero^2), where
/// `zero` is a zero of J_order.
EBB_HD inline double bessel_j_near(int order, double x) {
  constexpr double a0[] = {-0.09725285321432539,    0.06642964278336551,     -0.008615586662099379,
                           0.0005910714537024154,   -2.5168004276804476e-05, 7.312252062938806e-07,
                           -1.5436848462400268e-08, 2.4766539591769226e-10,  -3.1232348985613776e-12,
                           3.1781669763692867e-14,  -2.6651367734986606e-16, 1.8738079587110795e-18};
  constexpr double b0[] = {0.020611302565502428,    -0.013555967573518303,  -0.0038632594258398404,
                           0.0023413108519411982,   -0.0004623200601204519, 5.218026985556039e-05,
                           -3.940772835807142e-06,  2.1584049461607477e-07, -9.020605207920986e-09,
                           2.981285657462916e-10,   -8.003244662564305e-12, 1.7820727810867247e-13,
                           -3.3475791046501576e-15, 5.3796948187345454e-17, -7.483798214061456e-19};
  constexpr double a1[] = {-0.022230933404636253,  0.010705712019136313,    -0.0010581244139786538,
                           5.846915950110004e-05,  -2.0819866136141588e-06, 5.195449551228215e-08,
                           -9.609545206910688e-10, 1.371629974778158e-11,   -1.557710464142465e-13,
                           1.4416573273926332e-15, -1.1085717878232899e-17};
  constexpr double b1[] = {0.0023964002808725218,   0.00042050015808751603, -0.0011094627036258233,
                           0.00031886617350858847,  -4.604920406189033e-05, 4.202026580108708e-06,
                           -2.687950860611369e-07,  1.282263741068976e-08,  -4.757187190009021e-10,
                           1.4153790090428541e-11,  -3.457776423311407e-13, 7.0678739780425224e-15,
                           -1.2275156268021832e-16, 1.8347937704855167e-18, -2.3861728896852602e-20};
  const double near = x * x / 8 - 1, far = (x * x - 40) / 24;
  if (order == 0)
    return x < 4 ? minus_zero(x, 2.404825557695773, -1.176691651530894e-16) * (x + 2.404825557695773) *
                       chebyshev_sum(near, a0)
                 : minus_zero(x, 5.520078110286311, 8.088597146146722e-17) * (x + 5.520078110286311) *
                       chebyshev_sum(far, b0);
  return x < 4 ? minus_zero(x, 3.8317059702075125, -1.5269184090088067e-16) * (x + 3.8317059702075125) * x *
                     chebyshev_sum(near, a1)
               : minus_zero(x, 7.015586669815619, -9.414165653410389e-17) * (x + 7.015586669815619) * x *
                     chebyshev_sum(far, b1);
}

/// Returns Y_order(x) for order 0 or 1 and 2 <= x < 8, with series of Y_order(x) / (x - zero), where `zero`
/// is a zero of Y_order.
EBB_HD inline double bessel_y_near(int order, double x) {
  constexpr double a0[] = {
      -0.3442619673624828,    -0.015553865997249009,  0.06730330633203054,    -0.0020953475674701885,
      -0.001412796724154258,  7.576253715205294e-06,  2.366625355264311e-05,  -1.4548152662835116e-06,
      9.288197103251467e-08,  -4.329976556984013e-08, 1.0040569248854141e-08, -1.972227455559728e-09,
      4.082478811031208e-10,  -8.613794458933977e-11, 1.8177145576348446e-11, -3.846679143054066e-12,
      8.16965486653096e-13,   -1.740433898210403e-13, 3.717950242994663e-14,  -7.96230481422096e-15,
      1.7091092108435225e-15, -3.676319275123326e-16, 7.923101064457407e-17,  -1.7106065316196287e-17,
      3.699299450564932e-18};
  constexpr double b0[] = {0.24454684605067886,    0.04998987355080216,    -0.04967217538389999,
                           -0.001669681244893314,  0.001373487287946182,   1.5469216890181186e-05,
                           -1.716159044845458e-05, -6.877454482872643e-08, 1.260084974648068e-07,
                           -4.630178166913145e-11, -5.937204764213641e-10, 2.783408167444168e-13,
                           2.1162682039094147e-12, -1.42114234757514e-14,  -4.172908290228289e-15,
                           -9.273502385622282e-17, 2.221259648462209e-17,  -1.380098024322344e-18};
  constexpr double a1[] = {
      0.30581147540582626,    -0.25322784352994787,    -0.008521621177917849,  0.0084143761281862,
      0.000525193337755642,   -0.000266790849314418,   2.2134586417983524e-05, -3.42984622689864e-06,
      1.1322648211851476e-06, -2.688635206801771e-07,  5.902004749962401e-08,  -1.3316167734797522e-08,
      3.0203227586695317e-09, -6.828237034521858e-10,  1.5419873582130892e-10, -3.480749266654509e-11,
      7.853911413313097e-12,  -1.7715295701370714e-12, 3.994766917693592e-13,  -9.006124706723538e-14,
      2.0300433548378217e-14, -4.575169836574472e-15,  1.030990285327808e-15,  -2.3230368813277075e-16,
      5.233821169558244e-17,  -1.1790946202269395e-17, 2.656135181690321e-18};
  constexpr double b1[] = {-0.22899541034646664,   0.14947696685048556,     0.026633575790341653,
                           -0.008314127545990459,  -0.00045081979317043193, 0.00015290239654691773,
                           3.908561180789538e-06,  -1.4798542555474005e-06, -1.7859435604379082e-08,
                           8.573155613919565e-09,  7.505419684941261e-11,   -3.693429883727318e-11,
                           9.541156998409263e-14,  7.703214204962152e-14,   3.215342834970408e-15,
                           -5.908958447604531e-16, 4.253032841093475e-17,   -4.611077335723441e-18};
  const double near = (x - 3.5) / 1.5, far = (x - 6.5) / 1.5;
  if (order == 0)
    return x < 5 ? minus_zero(x, 3.957678419314858, -1.0764340697562706e-16) * chebyshev_sum(near, a0)
                 : minus_zero(x, 7.086051060301773, -8.835285723085408e-17) * chebyshev_sum(far, b0);
  return x < 5 ? minus_zero(x, 2.197141326031017, -4.8259835876454966e-17) * chebyshev_sum(near, a1)
               : minus_zero(x, 5.429681040794135, 4.162514026670377e-16) * chebyshev_sum(far, b1);
}

/// J_order(x) for order 0 or 1.
EBB_HD [[gnu::noinline]] inline double bessel_j(int order, double x) {
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return a == a ? 0 : a;
  double out;
  if (a < 1) {  // the power series (DLMF 10.2.2), exact at 0
    const double square = a * a / 4;
    double term = 1, sum = 0;
    for (int k = 1; k < 10; ++k) sum += term *= -square / (k * (k + order));
    out = order == 0 ? 1 + sum : a / 2 * (1 + sum);
  } else {
    out = a < 8 ? bessel_j_near(order, a) : BesselTail(order, a, EighthPhase(a)).j();
  }
  return order == 1 && x < 0 ? -out : out;
}

/// Y_order(x) for order 0 or 1. It is -infinity at 0 and NaN below.
EBB_HD [[gnu::noinline]] inline double bessel_y(int order, double x) {
  constexpr double y0[] = {0.1950967399711144,      0.2417572404725182,      -0.02619230929039435,
                           0.0009342775328436637,   -1.7016908057751606e-05, 1.8944162130543914e-07,
                           -1.4265727010516483e-09, 7.76158787567911e-12,    -3.196268677675261e-14,
                           1.0314160546299959e-16};
  constexpr double y1[] = {-0.10372598023303006,   0.08709669825674127,    -0.005104399388300715,
                           0.00012818213001489527, -1.813976486090467e-06, 1.6555396369244133e-08,
                           -1.057676935989351e-10, 5.000340212999884e-13,  -1.8213010804414434e-15,
                           5.269956005973325e-18};
  if (!(x > 0)) return x == 0 ? -kInfinity : quiet_nan<double>();
  if (x == kInfinity) return 0;
  if (x < 2) {  // the series of the part without the logarithm (DLMF 10.8)
    const double t = x * x / 2 - 1, first = bessel_j(order, x), two_over_pi = 0.63661977236758134308;
    return order == 0 ? chebyshev_sum(t, y0) + two_over_pi * std::log(x) * first
                      : x * chebyshev_sum(t, y1) + two_over_pi * (std::log(x) * first - 1 / x);
  }
  return x < 8 ? bessel_y_near(order, x) : BesselTail(order, x, EighthPhase(x)).y();
}

/// Returns the n-th derivative (n = 1 or 2) of a Bessel function of order 1 from the functions of both
/// orders.
template <class T>
EBB_HD T bessel_1_derivative(int n, double x, const T& order0, const T& order1) {
  return n == 1 ? order0 - order1 / x : (order1 / x * 2 - order0) / x - order1;
}

/// Returns the n-th derivative of J1, n = 1 or 2: (J0 - J2) / 2 or (J3 - 3 J1) / 4. J0' is -J1.
EBB_HD [[gnu::noinline]] inline double bessel_j1_derivative(int n, double x) {
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return a == a ? 0 : a;
  double out;
  if (a < 25) {
    const BesselSeries j(a, -1);
    out = n == 1 ? (j.s0 - j.square * j.s2).high / 2 : a / 8 * (j.square * j.s3 - Twofold(3) * j.s1).high;
  } else {
    const EighthPhase phase(a);
    out = bessel_1_derivative(n, a, BesselTail(0, a, phase).j(), BesselTail(1, a, phase).j());
  }
  return n == 2 && x < 0 ? -out : out;
}

/// Returns the n-th derivative of Y1, n = 1 or 2. Y0' is -Y1.
EBB_HD [[gnu::noinline]] inline double bessel_y1_derivative(int n, double x) {
  if (!(x > 0)) return x == 0 ? (n == 1 ? kInfinity : -kInfinity) : quiet_nan<double>();
  if (x == kInfinity) return 0;
  constexpr double two_over_pi = 0.63661977236758134308;
  if (x < 1e-20) return n == 1 ? two_over_pi / x / x : -2 * two_over_pi / x / x / x;
  if (x < 25) {
    const BesselYSeries y(x);
    return bessel_1_derivative(n, x, y.y0, y.y1).high;
  }
  const EighthPhase phase(x);
  return bessel_1_derivative(n, x, BesselTail(0, x, phase).y(), BesselTail(1, x, phase).y());
}

}  // namespace ebb::ops
