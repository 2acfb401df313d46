// Functions of one tensor that torch.special adds: entropy, the normal distribution, Bessel and Airy
// functions.
#include "ops/elementwise/formulas/special_functions.h"
#include "ops/elementwise/record_formula.h"

#include <ebb/ops/special.h>

namespace ebb {
namespace {

using namespace ops;

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
    case Special::erfcx:
      return "SpecialErfcxBackward0";
    case Special::i0e:
      return "SpecialI0EBackward0";
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

// f(x) / x, whose limit at 0 is 1/2 for the odd functions of order 1.
Variable over_x(const Variable& f, const Variable& x) {
  const Variable zero = eq(x, 0);
  return where(zero, 0.5, f / where(zero, 1, x));
}

/// The derivative at x, or for ndtri at the result.
template <Special kind>
Variable slope_of(const Variable& x) {
  constexpr double root_2_over_pi = 0.79788456080286535588;
  if constexpr (kind == Special::bessel_j0)
    return -special_bessel_j1(x);
  else if constexpr (kind == Special::bessel_j1)
    return special_bessel_j0(x) - over_x(special_bessel_j1(x), x);
  else if constexpr (kind == Special::bessel_y0)
    return -special_bessel_y1(x);
  else if constexpr (kind == Special::bessel_y1)
    return special_bessel_y0(x) - special_bessel_y1(x) / x;
  else if constexpr (kind == Special::k0)
    return -special_modified_bessel_k1(x);
  else if constexpr (kind == Special::k1)
    return -special_modified_bessel_k0(x) - special_modified_bessel_k1(x) / x;
  else if constexpr (kind == Special::erfcx)
    return x * special_erfcx(x) * 2 - kTwoOverRootPi;
  else if constexpr (kind == Special::i0e)
    return special_i1e(x) - sgn(x) * special_i0e(x);
  else if constexpr (kind == Special::i1e) {
    const Variable odd = special_i1e(x);
    return special_i0e(x) - sgn(x) * odd - over_x(odd, x);
  } else if constexpr (kind == Special::log_ndtr)
    return root_2_over_pi / special_erfcx(x * -kSqrtHalf);
  else if constexpr (kind == Special::ndtr)
    return exp(square(x) * -0.5) * (root_2_over_pi / 2);
  else
    return exp(square(x) * 0.5) * (2 / root_2_over_pi);
}

template <Special kind>
struct SpecialRule {
  static constexpr Keep kKeep = kind == Special::ndtri ? Keep::result : Keep::input;
  static std::string name() { return node_of(kind); }
  Variable operator()(const Variable& g, const Variable& x) const { return g * slope_of<kind>(x); }
};

template <Special kind>
Variable differentiable(const Variable& x) {
  return run_unary(x, SpecialFunction{{}, kind}, SpecialRule<kind>());
}

Variable flat(const Variable& x, Special kind) { return Variable(apply(SpecialFunction{{}, kind}, x)); }

}  // namespace

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

Variable log_of_multivariate_gamma(const Variable& x, std::int64_t p) {
  Variable sum = lgamma(x);
  for (std::int64_t i = 1; i < p; ++i) sum = sum + lgamma(x - static_cast<double>(i) / 2);
  return sum + static_cast<double>(p) * static_cast<double>(p - 1) / 4 * 1.14472988584940017414;  // log(pi)
}

}  // namespace

Variable mvlgamma(const Variable& self, std::int64_t p) {
  check_p(p);
  EBB_CHECK(self.dtype() != kBool,
            "mvlgamma: The input tensor may not be a boolean tensor. Convert it with .to().");
  return log_of_multivariate_gamma(self, p);
}
Variable& mvlgamma_(const Variable& self, std::int64_t p) {
  check_p(p);
  EBB_CHECK(is_floating(self.dtype()), "mvlgamma_: result type ", get_default_dtype(),
            " can't be cast to the desired output type ", self.dtype(),
            ". Convert self first, or use mvlgamma.");
  return self.copy_(log_of_multivariate_gamma(self.clone(), p));
}

}  // namespace ebb
