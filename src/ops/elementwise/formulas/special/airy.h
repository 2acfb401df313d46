// The Airy function Ai.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// 2/3 z^(3/2) as a sum of two doubles, so that exponentials and angles computed from it keep their digits.
struct AiryAngle {
  double high, low;
  EBB_HD explicit AiryAngle(double z) {
    const double root = std::sqrt(z), root_low = std::fma(-root, root, z) / (2 * root);
    const double power = z * root, power_low = std::fma(z, root, -power) + z * root_low;
    high = power * 2 / 3;
    low = (std::fma(-3.0, high, power * 2) + power_low * 2) / 3;
  }
};

/// Ai(x). For x >= 2 it is an exponential (DLMF 9.7.5) times a series in 1 / zeta. For x < -7 it is an
/// oscillation (DLMF 9.7.9). Between these bounds it is computed with series of Ai and of e^x Ai(x).
EBB_HD [[gnu::noinline]] inline double airy_ai(double x) {
  constexpr double right[] = {
      0.9844053049171552,     -0.014792784850104199,   0.0007327177465426715,  -6.12595423417825e-05,
      6.83476697557269e-06,   -9.237229735403982e-07,  1.436225340438052e-07,  -2.489319422322096e-08,
      4.709793440054328e-09,  -9.583863708112733e-10,  2.0745855483677591e-10, -4.737267332192277e-11,
      1.1336099808224236e-11, -2.827706782319351e-12,  7.320712095125598e-13,  -1.9599793911089723e-13,
      5.4101162570683925e-14, -1.5356466802223836e-14, 4.472340393300025e-15,  -1.3338094674756683e-15,
      4.066582046456231e-16,  -1.265583225645289e-16,  4.015126334015871e-17,  -1.2969972135960937e-17,
      4.2613499074124e-18,    -1.422676842293507e-18};
  constexpr double middle[] = {
      0.33670019167482507,    -0.05236898588281803,    -0.03060993791997315,    0.003984472722762132,
      0.00045243798638020996, -0.00010262369086492433, -4.1825804086959417e-07, 1.2976517686715515e-06,
      -6.806051502550766e-08, -8.304506582655047e-09,  9.801176929925504e-10,   1.1470686996967361e-11,
      -6.938853891456652e-12, 2.543323779126992e-13,   2.6066864841845407e-14,  -2.4048836670521994e-15,
      -1.74274616356787e-17,  1.0983449261668292e-17,  -3.7474965176489256e-19};
  constexpr double left[] = {
      0.12338984605868891,    0.2568873532101291,     0.13877391426092303,     -0.026954209002787888,
      -0.07896153394095926,   -0.22671151290883415,   0.16279082180148868,     0.08167027080586964,
      -0.09595639256408504,   0.006710215069849098,   0.02123046850304771,     -0.007609161072309525,
      -0.0014607859001170241, 0.0015023529315303975,  -0.00019691338943762118, -0.000122656761735784,
      4.906230737385379e-05,  1.5970538875241811e-07, -4.166062781935747e-06,  8.753072069321642e-07,
      1.157748680237258e-07,  -8.097996934982555e-08, 8.698947651850848e-09,   2.9891512659981778e-09,
      -1.021088819996014e-09, 3.363900390599418e-11,  4.2663625625641465e-11,  -8.876698007318779e-12,
      -3.188073327982732e-13, 4.116925385365636e-13,  -5.441970902909903e-14,  -6.4467431665175764e-15,
      2.9077889872594334e-15, -2.290087394078329e-16, -5.870237235208622e-17,  1.568882808842586e-17,
      -5.458383575669215e-19, -3.663795673596334e-19};
  constexpr double p[] = {0.9998791124386288,     -0.00012058949687633431, 2.9576450872717513e-07,
                          -2.264822401053412e-09, 3.429890601114358e-11,   -8.345074383769029e-13,
                          2.8944910277933267e-14, -1.3248560647923086e-15, 7.585522376678713e-17,
                          -5.225755172785521e-18};
  constexpr double q[] = {0.06932163319723554,     -0.0001222221937209286, 5.823688408595142e-07,
                          -6.551176565150932e-09,  1.294571786443234e-10,  -3.848238609159627e-12,
                          1.5641728063092662e-13,  -8.153562627296538e-15, 5.207798360214576e-16,
                          -3.9405969830569195e-17, 3.4427745128273448e-18, -3.403908971012011e-19};
  constexpr double half_over_root_pi = 0.28209479177387814347;
  if (x != x) return x;
  if (x >= 2) {
    if (x > 110) return 0;
    const AiryAngle zeta(x);
    const double scale = half_over_root_pi / std::sqrt(std::sqrt(x));
    return chebyshev_sum(3.77123616632825346347 / zeta.high - 1, right) * scale * std::exp(-zeta.high) *
           (1 - zeta.low);
  }
  if (x >= 0) return chebyshev_sum(x - 1, middle) * std::exp(-x);
  if (x >= -7) return chebyshev_sum(1 + x / 3.5, left);
  if (x < -1e20) return 0;  // one period is smaller than the distance between adjacent doubles
  const AiryAngle zeta(-x);
  const double ratio = 12.34683945163475608900 / zeta.high, t = 2 * ratio * ratio - 1;
  const double s = std::sin(zeta.high), c = std::cos(zeta.high), low_s = std::sin(zeta.low),
               low_c = std::cos(zeta.low), sine = s * low_c + c * low_s, cosine = c * low_c - s * low_s;
  // The factors are sqrt(2) times cos and sin of zeta - pi/4.
  const double wave =
      chebyshev_sum(t, p) * (cosine + sine) + chebyshev_sum(t, q) / zeta.high * (sine - cosine);
  return wave * 2 * half_over_root_pi * 0.70710678118654752440 / std::sqrt(std::sqrt(-x));
}

}  // namespace ebb::ops
