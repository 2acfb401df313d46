// The exact functions of the pointwise rows of the op table, as formulas over jets.
#include "accuracy/measure.h"

#include <utility>

namespace accuracy {
namespace {

using J = const Jet&;
using Table = std::map<std::string, Exact>;

Jet ratio(long a, long b) { return Ball::ratio(a, b); }
Jet pi() { return Ball::pi(); }
bool positive(J x) { return x.value().positive(); }
bool above(J x, double bound) { return x.value().above(bound); }
Jet square(J x) { return x * x; }
/// Wraps functions of Ball that need no derivatives.
template <class F>
Exact plain(F f) {
  return [f](J x, J) { return Jet(f(x.value())); };
}
Exact unary(Jet (*f)(J)) {
  return [f](J x, J) { return f(x); };
}

Jet pow(J a, J b) {
  // Integer exponents accept negative bases.
  if (!positive(a) && b.value().finite() && arb_is_int(b.value().raw())) {
    const bool odd = arf_is_int_2exp_si(arb_midref(b.value().raw()), 1) == 0;
    Jet size = exp(b * log(-a));
    // Powers of negative bases exist only for integer exponents, so there is no derivative with respect to b.
    for (const Part part : {kByB, kByAB, kByBB}) size.part[part] = log(Ball(-1.0));
    return odd ? -size : size;
  }
  return exp(b * log(a));
}
Jet log2(J x) { return log(x) / log(Jet(2.0)); }
Jet exp2(J x) { return exp(x * log(Jet(2.0))); }
Jet sinc(J x) {
  // The sine of integer multiples of pi is exactly 0, with radius 0.
  const Ball sine = call<arb_sin_pi>(x.value()), cosine = call<arb_cos_pi>(x.value()), pi = Ball::pi();
  return compose(x, sine, pi * cosine, -(pi * pi * sine)) / (pi * x);
}
Jet elu(J x, J alpha, J scale, J input_scale) {
  return scale * (positive(x) ? x : alpha * expm1(input_scale * x));
}
Jet normal(J x) { return erfc(-x / sqrt(Jet(2.0))) / 2.0; }
Jet ndtri(J p) {
  // Below one half, the complement is used, because its inverse preserves the digits of small values.
  const Jet y = erfinv(2.0 * p - 1.0);
  return sqrt(Jet(2.0)) * y;
}
Jet softplus_of(J x, double beta, double threshold) {
  return above(x, threshold / beta) ? x : softplus(beta * x) / beta;
}
Jet hypot(J a, J b) { return sqrt(square(a) + square(b)); }
Jet logaddexp(J a, J b) {
  const bool first = (a - b).value().negative();
  return first ? b + softplus(a - b) : a + softplus(b - a);
}
Jet atan2(J y, J x) {
  // The quotient of at most 1 preserves its digits.
  const Jet ax = abs(x), ay = abs(y);
  const bool flat = !(ay - ax).value().positive();
  Jet angle = flat ? atan(ay / ax) : pi() / 2.0 - atan(ax / ay);
  if (x.value().negative()) angle = pi() - angle;
  return y.value().negative() ? -angle : angle;
}
Jet spherical_j0(J x) { return sin(x) / x; }
Jet mvlgamma(J x) { return 1.5 * log(pi()) + lgamma(x) + lgamma(x - 0.5) + lgamma(x - 1.0); }

void exponentials(Table& t) {
  t["exp"] = unary(exp);
  t["exp2"] = unary(exp2);
  t["expm1"] = unary(expm1);
  t["log"] = unary(log);
  t["log2"] = unary(log2);
  t["log10"] = [](J x, J) { return log(x) / log(Jet(10.0)); };
  t["log1p"] = unary(log1p);
  t["sqrt"] = unary(sqrt);
  t["rsqrt"] = [](J x, J) { return reciprocal(sqrt(x)); };
  t["square"] = unary(square);
  t["reciprocal"] = unary(reciprocal);
  t["pow"] = pow;
  t["float_power"] = pow;
  t["pow.scalar"] = [](J x, J) { return x * x * x; };
  for (const double e : {2.0, 3.0, 0.5, -1.0, -0.5, 2.75, -3.0}) {
    std::string name = std::to_string(e);
    name.resize(name.find('.') + 3);
    t["pow.exponent_" + name] = [e](J x, J) { return pow(x, Jet(e)); };
  }
  t["pow.base"] = [](J x, J) { return exp2(x); };
  t["logaddexp"] = logaddexp;
  t["logaddexp2"] = [](J a, J b) {
    const Jet ln2 = log(Jet(2.0));
    return logaddexp(a * ln2, b * ln2) / ln2;
  };
  t["xlogy"] = [](J a, J b) { return a * log(b); };
  t["xlogy.number"] = [](J x, J) { return x * log(Jet(2.5)); };
  t["xlogy.number_first"] = [](J x, J) { return 2.5 * log(x); };
  t["special_xlog1py"] = [](J a, J b) { return a * log1p(b); };
  t["special_xlog1py.number"] = [](J x, J) { return x * log(Jet(2.5)); };
  t["special_xlog1py.number_first"] = [](J x, J) { return 2.5 * log1p(x); };
  t["special_entr"] = [](J x, J) { return -(x * log(x)); };
  t["logit"] = [](J x, J) { return log(x / (1.0 - x)); };
  t["logit.eps"] = [](J x, J) {
    const Jet low = 0.3, high = 1.0 - 0.3;
    const Jet z = above(x, 1.0 - 0.3) ? high : above(x, 0.3) ? x : low;
    return log(z / (1.0 - z));
  };
}

void trigonometric(Table& t) {
  t["sin"] = unary(sin);
  t["cos"] = unary(cos);
  t["tan"] = unary(tan);
  t["asin"] = unary(asin);
  t["acos"] = unary(acos);
  t["atan"] = unary(atan);
  t["sinh"] = unary(sinh);
  t["cosh"] = unary(cosh);
  t["tanh"] = unary(tanh);
  t["asinh"] = unary(asinh);
  t["acosh"] = unary(acosh);
  t["atanh"] = unary(atanh);
  t["deg2rad"] = [](J x, J) { return x * pi() / 180.0; };
  t["rad2deg"] = [](J x, J) { return x * 180.0 / pi(); };
  t["sinc"] = unary(sinc);
  t["atan2"] = atan2;
  t["hypot"] = hypot;
}

void arithmetic(Table& t) {
  t["add"] = [](J a, J b) { return a + 2.0 * b; };
  t["sub"] = [](J a, J b) { return a - b; };
  t["sub.alpha"] = [](J a, J b) { return a - 2.0 * b; };
  t["rsub"] = [](J a, J b) { return b - 2.0 * a; };
  t["mul"] = [](J a, J b) { return a * b; };
  t["div"] = [](J a, J b) { return a / b; };
  t["div.number_first"] = [](J x, J) { return 3.0 / x; };
  t["sub.number_first"] = [](J x, J) { return 3.0 - x; };
  t["add.number"] = [](J x, J) { return x + 6.0; };
  t["sub.number"] = [](J x, J) { return x - 6.0; };
  t["rsub.number"] = [](J x, J) { return 3.0 - 2.0 * x; };
  t["mul.number"] = [](J x, J) { return x * 3.0; };
  t["div.number"] = [](J x, J) { return x / 3.0; };
  t["ldexp"] = [](J a, J b) { return a * exp2(b); };
}

void activations(Table& t) {
  t["sigmoid"] = unary(sigmoid);
  t["log_sigmoid"] = [](J x, J) { return -softplus(-x); };
  t["softplus"] = [](J x, J) { return softplus_of(x, 1, 20); };
  t["softplus.high_threshold"] = [](J x, J) { return softplus_of(x, 1, 1000); };
  t["softplus.beta"] = [](J x, J) { return softplus_of(x, 2, 20); };
  t["softplus.threshold"] = [](J x, J) { return softplus_of(x, 2, 3); };
  t["softsign"] = [](J x, J) { return x / (1.0 + abs(x)); };
  t["tanhshrink"] = [](J x, J) { return x - tanh(x); };
  t["elu"] = [](J x, J) { return elu(x, 1.5, 1.0, 1.0); };
  t["elu.scaled"] = [](J x, J) { return elu(x, 1.7, 0.5, 2.0); };
  t["celu"] = [](J x, J) { return elu(x, 1.5, 1.0, ratio(2, 3)); };
  t["selu"] = [](J x, J) {
    return elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0);
  };
  t["gelu"] = [](J x, J) { return x * normal(x); };
  t["gelu.tanh"] = [](J x, J) {
    // x sigmoid(2 u), because 1 + tanh(u) loses the digits of small values.
    const Jet u = sqrt(2.0 / pi()) * (x + ratio(44715, 1000000) * x * x * x);
    return x * sigmoid(2.0 * u);
  };
  t["silu"] = [](J x, J) { return x * sigmoid(x); };
  t["mish"] = [](J x, J) { return x * tanh(softplus(x)); };
  t["leaky_relu"] = [](J x, J) { return positive(x) ? x : 0.2 * x; };
  t["rrelu.evaluation"] = [](J x, J) { return positive(x) ? x : ratio(1, 5) * x; };
  t["hardsigmoid"] = [](J x, J) { return above(x, 3) ? Jet(1.0) : above(x, -3) ? x / 6.0 + 0.5 : Jet(0.0); };
  t["hardswish"] = [](J x, J) { return above(x, 3) ? x : above(x, -3) ? x * (x + 3.0) / 6.0 : Jet(0.0); };
  t["softshrink"] = [](J x, J) { return above(x, 0.5) ? x - 0.5 : above(x, -0.5) ? Jet(0.0) : x + 0.5; };
}

void special(Table& t) {
  t["erf"] = unary(erf);
  t["erfc"] = unary(erfc);
  t["erfinv"] = unary(erfinv);
  t["special_erfcx"] = unary(erfcx);
  t["special_ndtr"] = unary(normal);
  t["special_log_ndtr"] = unary(log_ndtr);
  t["special_ndtri"] = unary(ndtri);
  t["lgamma"] = unary(lgamma);
  t["digamma"] = [](J x, J) { return polygamma(0, x); };
  t["digamma.negative"] = t["digamma"];
  t["polygamma"] = [](J x, J) { return polygamma(1, x); };
  t["polygamma.second"] = [](J x, J) { return polygamma(2, x); };
  t["mvlgamma"] = unary(mvlgamma);
  t["igamma"] = [](J a, J x) { return gamma_p(a.value(), x); };
  t["igammac"] = [](J a, J x) { return gamma_q(a.value(), x); };
  t["igamma.in_place"] = t["igamma"];
  t["igammac.in_place"] = t["igammac"];
  t["special_zeta"] = [](J s, J q) { return zeta(s.value(), q); };
  t["special_zeta.number"] = [](J s, J) { return zeta(s.value(), Jet(1.0)); };
  t["special_zeta.number_first"] = [](J q, J) { return zeta(Ball(2.5), q); };
  t["i0"] = [](J x, J) { return bessel_i(0, x); };
  t["special_i1"] = [](J x, J) { return bessel_i(1, x); };
  t["special_i0e"] = [](J x, J) { return bessel_ie(0, x); };
  t["special_i1e"] = [](J x, J) { return bessel_ie(1, x); };
  t["special_bessel_j0"] = [](J x, J) { return bessel_j(0, x); };
  t["special_bessel_j1"] = [](J x, J) { return bessel_j(1, x); };
  t["special_bessel_y0"] = [](J x, J) { return bessel_y(0, x); };
  t["special_bessel_y1"] = [](J x, J) { return bessel_y(1, x); };
  t["special_modified_bessel_k0"] = [](J x, J) { return bessel_k(0, x); };
  t["special_modified_bessel_k1"] = [](J x, J) { return bessel_k(1, x); };
  t["special_scaled_modified_bessel_k0"] = plain([](const Ball& x) { return bessel_k(0, x, true); });
  t["special_scaled_modified_bessel_k1"] = plain([](const Ball& x) { return bessel_k(1, x, true); });
  t["special_spherical_bessel_j0"] = unary(spherical_j0);
  t["special_airy_ai"] = unary(airy_ai);
}

/// Computes the polynomial of a degree with p_(k+1) = next(k, x, p_k, p_(k-1)).
template <class Next>
Exact recurrence(Jet (*first)(J), Next next) {
  return [first, next](J x, J degree) -> Jet {
    const auto n = static_cast<long>(degree.value().middle());
    if (degree.value().middle() <= -1) return 0.0;
    Jet before(1.0), here = first(x);
    if (n == 0) return before;
    for (long k = 1; k < n; ++k) {
      Jet after = next(static_cast<double>(k), x, here, before);
      before = std::exchange(here, std::move(after));
    }
    return here;
  };
}
Exact shifted(Exact f) {
  return [f](J x, J degree) { return f(2.0 * x - 1.0, degree); };
}

void polynomials(Table& t) {
  const auto chebyshev = [](double, J x, J here, J before) { return 2.0 * x * here - before; };
  const std::map<std::string, Exact> kinds = {
      {"t", recurrence([](J x) { return x; }, chebyshev)},
      {"u", recurrence([](J x) { return 2.0 * x; }, chebyshev)},
      {"v", recurrence([](J x) { return 2.0 * x - 1.0; }, chebyshev)},
      {"w", recurrence([](J x) { return 2.0 * x + 1.0; }, chebyshev)}};
  for (const auto& [kind, f] : kinds) {
    t["special_chebyshev_polynomial_" + kind] = f;
    t["special_shifted_chebyshev_polynomial_" + kind] = shifted(f);
  }
  t["special_hermite_polynomial_h"] =
      recurrence([](J x) { return 2.0 * x; },
                 [](double k, J x, J here, J before) { return 2.0 * x * here - 2 * k * before; });
  t["special_hermite_polynomial_he"] = recurrence(
      [](J x) { return x; }, [](double k, J x, J here, J before) { return x * here - k * before; });
  t["special_laguerre_polynomial_l"] = recurrence(
      [](J x) { return 1.0 - x; },
      [](double k, J x, J here, J before) { return ((2 * k + 1 - x) * here - k * before) / (k + 1); });
  t["special_legendre_polynomial_p"] = recurrence(
      [](J x) { return x; },
      [](double k, J x, J here, J before) { return ((2 * k + 1) * x * here - k * before) / (k + 1); });
}

}  // namespace

const std::map<std::string, Exact>& functions() {
  static const Table table = [] {
    Table t;
    exponentials(t);
    trigonometric(t);
    arithmetic(t);
    activations(t);
    special(t);
    polynomials(t);
    return t;
  }();
  return table;
}

const std::set<std::string>& unrounded() {
  static const std::set<std::string> names = {
      // Functions that return an operand or a constant.
      "abs", "clamp", "clamp.high_only", "clamp.low_only", "clamp_max", "clamp_max.tensor", "clamp_min",
      "clamp_min.tensor", "copysign", "copysign.number", "fmax", "fmin", "hardshrink", "hardtanh",
      "hardtanh.exchanged", "heaviside", "lerp.end", "lerp.start", "maximum", "minimum", "nan_to_num",
      "nan_to_num.values", "neg", "positive", "pow.exponent_0.00", "pow.exponent_1.00", "pow.zero_base",
      "relu", "relu6", "resolve_neg", "sign", "sgn", "threshold", "xlogy.zero",
      // Integers and remainders, which are exact.
      "ceil", "div.floor", "div.trunc", "floor", "floor_divide", "fmod", "fmod.number", "frac", "nextafter",
      "remainder", "remainder.number", "remainder.number_first", "round", "round.decimals", "trunc"};
  return names;
}

}  // namespace accuracy
