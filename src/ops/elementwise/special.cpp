// Special functions: erf, erfc, erfinv, lgamma, digamma, polygamma, i0, logit, sinc, and the unary functions
// of torch.special (entr, ndtr, log_ndtr, ndtri, erfcx, Bessel functions, airy_ai, mvlgamma).
#include "ops/elementwise/formulas/special.h"

#include <ebb/ops/special.h>

#include "ops/common/autocast.h"
#include "ops/elementwise/formulas/special_functions.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

// Return the n-th derivative (n = 1 or 2) of erf, erfinv or i1 as a differentiable op. The formulas call
// these functions for Variables.
Variable erf_derivative(int n, const Variable& x);
Variable erfinv_derivative(int n, const Variable& x);
Variable bessel_i1_derivative(int n, const Variable& x);

/// Returns the n-th derivative of sinc, computed by a separate formula.
static Variable sinc_derivative(int n, const Variable& x) { return unary(x, SincDerivative{{}, n}); }

Variable erf(const Variable& self) { return unary<Erf>(self); }
Variable& erf_(const Variable& self) { return unary_inplace<Erf>(self); }
Variable erfc(const Variable& self) { return unary<Erfc>(self); }
Variable& erfc_(const Variable& self) { return unary_inplace<Erfc>(self); }
Variable erfinv(const Variable& self) {
  EBB_AUTOCAST(erfinv, self);
  return unary<Erfinv>(self);
}
Variable& erfinv_(const Variable& self) { return unary_inplace<Erfinv>(self); }
Variable lgamma(const Variable& self) { return unary<Lgamma>(self); }
Variable& lgamma_(const Variable& self) { return unary_inplace<Lgamma>(self); }
Variable digamma(const Variable& self) { return unary<Digamma>(self); }
Variable& digamma_(const Variable& self) { return unary_inplace<Digamma>(self); }
Variable sinc(const Variable& self) { return unary<Sinc>(self); }
Variable& sinc_(const Variable& self) { return unary_inplace<Sinc>(self); }
Variable i0(const Variable& self) { return unary<BesselI0>(self); }
Variable& i0_(const Variable& self) { return unary_inplace<BesselI0>(self); }
Variable special_i1(const Variable& self) { return unary<BesselI1>(self); }
Variable polygamma(std::int64_t n, const Variable& self) {
  EBB_CHECK(n >= 0 && n < 170, "polygamma: polygamma(n, x) does not support n = ", n,
            "; n must be in [0, 170).");
  return n == 0 ? digamma(self) : unary(self, Polygamma{{}, static_cast<int>(n)});
}
Variable logit(const Variable& self, optional<double> eps) {
  return unary(self, Logit{{}, eps.value_or(-1)});
}
Variable& logit_(const Variable& self, optional<double> eps) {
  return unary_inplace(self, Logit{{}, eps.value_or(-1)});
}

namespace {

const char* node_of(Special kind) {
  switch (kind) {
    case Special::bessel_j0:
      return "SpecialBesselJ0Backward0";
    case Special::bessel_j1:
      return "SpecialBesselJ1Backward0";
    case Special::bessel_y0:
      return "SpecialBesselY0Backward0";
    case Special::bessel_y1:
      return "SpecialBesselY1Backward0";
    case Special::erf:
      return "ErfBackward0";
    case Special::erfcx:
      return "SpecialErfcxBackward0";
    case Special::erfinv:
      return "ErfinvBackward0";
    case Special::i0e:
      return "SpecialI0EBackward0";
    case Special::i1:
      return "SpecialI1Backward0";
    case Special::i1e:
      return "SpecialI1EBackward0";
    case Special::k0:
      return "SpecialModifiedBesselK0Backward0";
    case Special::k1:
      return "SpecialModifiedBesselK1Backward0";
    case Special::log_ndtr:
      return "SpecialLogNdtrBackward0";
    case Special::ndtr:
      return "SpecialNdtrBackward0";
    default:
      return "SpecialNdtriBackward0";
  }
}

template <Special kind>
Variable derivative_of(int n, const Variable& x);

// Returns the third derivative of a function of order 1 from its differential equation. Near 0, where the
// terms of the equation cancel, the result is `at_zero`.
template <Special kind>
Variable third_of_order_1(const Variable& argument, double sign, double at_zero) {
  const Variable small = argument.abs() < 1e-3, x = where(small, 1, argument);
  const Variable f = kind == Special::i1 ? special_i1(x) : derivative_of<kind>(0, x);
  const Variable first = derivative_of<kind>(1, x), second = derivative_of<kind>(2, x),
                 cubed = 2 * f / x.pow(3);
  return where(small, at_zero, (sign + 2 / x.square()) * first - second / x - cubed);
}

/// Returns the third derivative, computed from the function and its first two derivatives.
template <Special kind>
Variable third_of(const Variable& x) {
  const auto f = [&](int n) { return derivative_of<kind>(n, x); };
  if constexpr (kind == Special::bessel_j0)
    return -derivative_of<Special::bessel_j1>(2, x);
  else if constexpr (kind == Special::bessel_y0)
    return -derivative_of<Special::bessel_y1>(2, x);
  else if constexpr (kind == Special::k0)
    return -derivative_of<Special::k1>(2, x);
  else if constexpr (kind == Special::bessel_j1)
    return third_of_order_1<kind>(x, -1, -0.375);
  else if constexpr (kind == Special::i1)
    return third_of_order_1<kind>(x, 1, 0.375);
  else if constexpr (kind == Special::bessel_y1)
    return third_of_order_1<kind>(x, -1, kInfinity);
  else if constexpr (kind == Special::k1)
    return third_of_order_1<kind>(x, 1, -kInfinity);
  else if constexpr (kind == Special::erf)
    return (4 * x.square() - 2) * f(1);
  else if constexpr (kind == Special::erfcx)
    return 4 * f(1) + 2 * x * f(2);
  else if constexpr (kind == Special::erfinv)
    return 2 * f(1).pow(3) * (1 + 4 * erfinv(x).square());
  else if constexpr (kind == Special::i0e)
    return derivative_of<Special::i1e>(2, x) - sgn(x) * f(2);
  else if constexpr (kind == Special::i1e) {
    const Variable small = x.abs() < 1e-3, divisor = where(small, 1, x);
    const Variable first_of_quotient = (f(1) - f(0) / divisor) / divisor;
    const Variable second_of_quotient = (f(2) - 2 * first_of_quotient) / divisor;
    return where(small, 1.875, derivative_of<Special::i0e>(2, x) - sgn(x) * f(2) - second_of_quotient);
  } else if constexpr (kind == Special::log_ndtr)
    return -f(2) * (x + f(1)) - f(1) * (1 + f(2));
  else if constexpr (kind == Special::ndtr)
    return (x.square() - 1) * f(1);
  else
    return f(1).pow(3) * (1 + 2 * f(0).square());
}

/// The rule of the n-th derivative of function `kind`.
template <Special kind>
struct SpecialRule {
  static constexpr Saves kSaves = Saves::input;
  int n = 0;
  static std::string name() { return node_of(kind); }
  Variable operator()(const Variable& g, const Variable& x) const {
    return g * (n < 2 ? derivative_of<kind>(n + 1, x) : third_of<kind>(x));
  }
};

template <Special kind>
Variable derivative_of(int n, const Variable& x) {
  return run_unary(x, SpecialFunction{{}, kind, static_cast<std::uint8_t>(n)}, SpecialRule<kind>{n});
}

template <Special kind>
Variable differentiable(const Variable& x) {
  return derivative_of<kind>(0, x);
}

Variable flat(const Variable& x, Special kind) { return Variable(apply(SpecialFunction{{}, kind}, x)); }

}  // namespace

Variable erf_derivative(int n, const Variable& x) { return derivative_of<Special::erf>(n, x); }
Variable erfinv_derivative(int n, const Variable& x) { return derivative_of<Special::erfinv>(n, x); }
Variable bessel_i1_derivative(int n, const Variable& x) { return derivative_of<Special::i1>(n, x); }

Variable special_airy_ai(const Variable& x) { return flat(x, Special::airy_ai); }
Variable special_bessel_j0(const Variable& self) { return differentiable<Special::bessel_j0>(self); }
Variable special_bessel_j1(const Variable& self) { return differentiable<Special::bessel_j1>(self); }
Variable special_bessel_y0(const Variable& self) { return differentiable<Special::bessel_y0>(self); }
Variable special_bessel_y1(const Variable& self) { return differentiable<Special::bessel_y1>(self); }
Variable special_entr(const Variable& self) { return unary<Entr>(self); }
Variable special_erfcx(const Variable& self) { return differentiable<Special::erfcx>(self); }
Variable special_i0e(const Variable& self) { return differentiable<Special::i0e>(self); }
Variable special_i1e(const Variable& self) { return differentiable<Special::i1e>(self); }
Variable special_log_ndtr(const Variable& self) { return differentiable<Special::log_ndtr>(self); }
Variable special_modified_bessel_k0(const Variable& self) { return differentiable<Special::k0>(self); }
Variable special_modified_bessel_k1(const Variable& self) { return differentiable<Special::k1>(self); }
Variable special_ndtr(const Variable& self) { return differentiable<Special::ndtr>(self); }
Variable special_ndtri(const Variable& self) { return differentiable<Special::ndtri>(self); }
Variable special_scaled_modified_bessel_k0(const Variable& x) { return flat(x, Special::k0e); }
Variable special_scaled_modified_bessel_k1(const Variable& x) { return flat(x, Special::k1e); }
Variable special_spherical_bessel_j0(const Variable& x) { return flat(x, Special::spherical_bessel_j0); }

namespace {

void check_p(std::int64_t p) {
  EBB_CHECK(p >= 1, "mvlgamma: p has to be greater than or equal to 1, got ", p, ".");
}

/// The rule of the n-th derivative of log Gamma_p.
struct MvlgammaRule {
  static constexpr char kName[] = "MvlgammaBackward0";
  static constexpr unsigned kUsesA = kA, kUsesB = kNone;
  std::int64_t p = 1;
  int n = 0;
  Variable a(const Variable& g, const SavedValues<Variable>& k) const { return g * of(k.a, p, n + 1); }
  Variable b(const Variable&, const SavedValues<Variable>&) const { return {}; }
  static Variable of(const Variable& x, std::int64_t p, int n) {
    return run_binary(x, Scalar(p), op(n), MvlgammaRule{p, n});
  }
  static SpecialBinary op(int n) { return {{}, SpecialBinary::Kind::mvlgamma, {}, n}; }
};

}  // namespace

Variable mvlgamma(const Variable& self, std::int64_t p) {
  check_p(p);
  EBB_CHECK(self.dtype() != kBool,
            "mvlgamma: The input tensor may not be a boolean tensor. Convert it with .to().");
  return MvlgammaRule::of(self, p, 0);
}
Variable& mvlgamma_(const Variable& self, std::int64_t p) {
  check_p(p);
  EBB_CHECK(is_floating(self.dtype()), "mvlgamma_: result type ", get_default_dtype(),
            " can't be cast to the desired output type ", self.dtype(),
            ". Convert self first, or use mvlgamma.");
  return run_binary_inplace(self, Scalar(p), MvlgammaRule::op(0), MvlgammaRule{p});
}

}  // namespace ebb
