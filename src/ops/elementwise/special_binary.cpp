// Binary functions of torch.special: xlog1py, igamma, igammac, zeta, orthogonal polynomials.
#include <ebb/ops/special.h>

#include "ops/common/checks.h"
#include "ops/elementwise/formulas/special_functions.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {
namespace {

using namespace ops;
using Kind = SpecialBinary::Kind;

[[noreturn]] void no_derivative(const char* op, const char* argument) {
  ebb::detail::fail("derivative for ", op, " by ", argument, " is not implemented; call .detach() on it.");
}

/// The rule of the n-th derivative of zeta with respect to its second argument.
struct ZetaRule {
  static constexpr char kName[] = "SpecialZetaBackward0";
  static constexpr unsigned kUsesA = kNone, kUsesB = kA | kB;
  int n = 0;
  Variable a(const Variable&, const SavedValues<Variable>&) const { no_derivative("special_zeta", "self"); }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return g * run_binary(k.a, k.b, zeta_op(n + 1), ZetaRule{n + 1});
  }
  static SpecialBinary zeta_op(int n) { return {{}, Kind::zeta, {}, n}; }
};

/// The rule of the n-th derivative of P(a, x) or Q(a, x) with respect to x. The derivative with respect to a
/// is implemented only for n > 0.
template <bool upper>
struct GammaRule {
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  int n = 0;
  static std::string name() { return upper ? "IgammacBackward0" : "IgammaBackward0"; }
  static Variable derivative(int n, const SavedValues<Variable>& k) {
    return run_binary(k.a, k.b, SpecialBinary{{}, upper ? Kind::igammac : Kind::igamma, {}, n}, GammaRule{n});
  }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    if (n == 0) no_derivative(upper ? "igammac" : "igamma", "self");
    const Variable by_exponent = derivative(n, k) * (log(k.b) - digamma(k.a));
    return g * (n == 1 ? by_exponent : by_exponent + derivative(1, k) / k.b);
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    if (n < 2) return g * derivative(n + 1, k);
    const Variable falling = (k.a - 1) / k.b;
    return g * (derivative(2, k) * (falling - 1) - derivative(1, k) * falling / k.b);
  }
};

// Checks the operands and throws errors that contain `op`. The kernel cannot do this, because several ops
// share it.
void check_pair(const char* op, const Variable& a, const Variable& b) {
  check_defined(op, a);
  check_defined(op, b);
  const auto number = [](const Variable& x) { return x.dim() == 0 && x.is_cpu(); };
  EBB_CHECK(a.device() == b.device() || number(a) || number(b), op,
            ": expected all tensors on one device, got ", a.device(), " and ", b.device(),
            ". Move one with .to(device).");
  broadcast_shapes(op, a.sizes(), b.sizes());
}
void check_pair(const char*, const Variable&, const Scalar&) {}
void check_pair(const char*, const Scalar&, const Variable&) {}

SpecialBinary gamma_op(const char* op, const Variable& self, const Variable& other, bool upper) {
  check_pair(op, self, other);
  EBB_CHECK(is_floating(result_type(self, other)), op, ": expected a floating-point dtype, got ",
            self.dtype(), " and ", other.dtype(), ". Convert one with .to(kFloat).");
  return {{}, upper ? Kind::igammac : Kind::igamma};
}

template <class A, class B>
Variable zeta_of(const A& self, const B& other) {
  check_pair("special_zeta", self, other);
  return run_binary(self, other, ZetaRule::zeta_op(0), ZetaRule());
}

}  // namespace

Variable igamma(const Variable& self, const Variable& other) {
  return run_binary(self, other, gamma_op("igamma", self, other, false), GammaRule<false>());
}
Variable& igamma_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, gamma_op("igamma_", self, other, false), GammaRule<false>());
}
Variable igammac(const Variable& self, const Variable& other) {
  return run_binary(self, other, gamma_op("igammac", self, other, true), GammaRule<true>());
}
Variable& igammac_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, gamma_op("igammac_", self, other, true), GammaRule<true>());
}

Variable special_xlog1py(const Variable& self, const Variable& other) { return binary<Xlog1py>(self, other); }
Variable special_xlog1py(const Variable& self, const Scalar& other) { return binary<Xlog1py>(self, other); }
Variable special_xlog1py(const Scalar& self, const Variable& other) { return binary<Xlog1py>(self, other); }

Variable special_zeta(const Variable& self, const Variable& other) { return zeta_of(self, other); }
Variable special_zeta(const Variable& self, const Scalar& other) { return zeta_of(self, other); }
Variable special_zeta(const Scalar& self, const Variable& other) { return zeta_of(self, other); }

namespace {

template <class X, class N>
Variable polynomial(const char* op, Polynomial kind, const X& x, const N& n) {
  check_pair(op, x, n);
  return Variable(apply(SpecialBinary{{}, Kind::polynomial, kind}, x, n));
}

}  // namespace

Variable special_chebyshev_polynomial_t(const Variable& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_t", Polynomial::chebyshev_t, x, n);
}
Variable special_chebyshev_polynomial_t(const Scalar& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_t", Polynomial::chebyshev_t, x, n);
}
Variable special_chebyshev_polynomial_t(const Variable& x, const Scalar& n) {
  return polynomial("special_chebyshev_polynomial_t", Polynomial::chebyshev_t, x, n);
}
Variable special_chebyshev_polynomial_u(const Variable& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_u", Polynomial::chebyshev_u, x, n);
}
Variable special_chebyshev_polynomial_u(const Scalar& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_u", Polynomial::chebyshev_u, x, n);
}
Variable special_chebyshev_polynomial_u(const Variable& x, const Scalar& n) {
  return polynomial("special_chebyshev_polynomial_u", Polynomial::chebyshev_u, x, n);
}
Variable special_chebyshev_polynomial_v(const Variable& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_v", Polynomial::chebyshev_v, x, n);
}
Variable special_chebyshev_polynomial_v(const Scalar& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_v", Polynomial::chebyshev_v, x, n);
}
Variable special_chebyshev_polynomial_v(const Variable& x, const Scalar& n) {
  return polynomial("special_chebyshev_polynomial_v", Polynomial::chebyshev_v, x, n);
}
Variable special_chebyshev_polynomial_w(const Variable& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_w", Polynomial::chebyshev_w, x, n);
}
Variable special_chebyshev_polynomial_w(const Scalar& x, const Variable& n) {
  return polynomial("special_chebyshev_polynomial_w", Polynomial::chebyshev_w, x, n);
}
Variable special_chebyshev_polynomial_w(const Variable& x, const Scalar& n) {
  return polynomial("special_chebyshev_polynomial_w", Polynomial::chebyshev_w, x, n);
}
Variable special_hermite_polynomial_h(const Variable& x, const Variable& n) {
  return polynomial("special_hermite_polynomial_h", Polynomial::hermite_h, x, n);
}
Variable special_hermite_polynomial_h(const Scalar& x, const Variable& n) {
  return polynomial("special_hermite_polynomial_h", Polynomial::hermite_h, x, n);
}
Variable special_hermite_polynomial_h(const Variable& x, const Scalar& n) {
  return polynomial("special_hermite_polynomial_h", Polynomial::hermite_h, x, n);
}
Variable special_hermite_polynomial_he(const Variable& x, const Variable& n) {
  return polynomial("special_hermite_polynomial_he", Polynomial::hermite_he, x, n);
}
Variable special_hermite_polynomial_he(const Scalar& x, const Variable& n) {
  return polynomial("special_hermite_polynomial_he", Polynomial::hermite_he, x, n);
}
Variable special_hermite_polynomial_he(const Variable& x, const Scalar& n) {
  return polynomial("special_hermite_polynomial_he", Polynomial::hermite_he, x, n);
}
Variable special_laguerre_polynomial_l(const Variable& x, const Variable& n) {
  return polynomial("special_laguerre_polynomial_l", Polynomial::laguerre_l, x, n);
}
Variable special_laguerre_polynomial_l(const Scalar& x, const Variable& n) {
  return polynomial("special_laguerre_polynomial_l", Polynomial::laguerre_l, x, n);
}
Variable special_laguerre_polynomial_l(const Variable& x, const Scalar& n) {
  return polynomial("special_laguerre_polynomial_l", Polynomial::laguerre_l, x, n);
}
Variable special_legendre_polynomial_p(const Variable& x, const Variable& n) {
  return polynomial("special_legendre_polynomial_p", Polynomial::legendre_p, x, n);
}
Variable special_legendre_polynomial_p(const Scalar& x, const Variable& n) {
  return polynomial("special_legendre_polynomial_p", Polynomial::legendre_p, x, n);
}
Variable special_legendre_polynomial_p(const Variable& x, const Scalar& n) {
  return polynomial("special_legendre_polynomial_p", Polynomial::legendre_p, x, n);
}
Variable special_shifted_chebyshev_polynomial_t(const Variable& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_t", Polynomial::shifted_chebyshev_t, x, n);
}
Variable special_shifted_chebyshev_polynomial_t(const Scalar& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_t", Polynomial::shifted_chebyshev_t, x, n);
}
Variable special_shifted_chebyshev_polynomial_t(const Variable& x, const Scalar& n) {
  return polynomial("special_shifted_chebyshev_polynomial_t", Polynomial::shifted_chebyshev_t, x, n);
}
Variable special_shifted_chebyshev_polynomial_u(const Variable& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_u", Polynomial::shifted_chebyshev_u, x, n);
}
Variable special_shifted_chebyshev_polynomial_u(const Scalar& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_u", Polynomial::shifted_chebyshev_u, x, n);
}
Variable special_shifted_chebyshev_polynomial_u(const Variable& x, const Scalar& n) {
  return polynomial("special_shifted_chebyshev_polynomial_u", Polynomial::shifted_chebyshev_u, x, n);
}
Variable special_shifted_chebyshev_polynomial_v(const Variable& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_v", Polynomial::shifted_chebyshev_v, x, n);
}
Variable special_shifted_chebyshev_polynomial_v(const Scalar& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_v", Polynomial::shifted_chebyshev_v, x, n);
}
Variable special_shifted_chebyshev_polynomial_v(const Variable& x, const Scalar& n) {
  return polynomial("special_shifted_chebyshev_polynomial_v", Polynomial::shifted_chebyshev_v, x, n);
}
Variable special_shifted_chebyshev_polynomial_w(const Variable& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_w", Polynomial::shifted_chebyshev_w, x, n);
}
Variable special_shifted_chebyshev_polynomial_w(const Scalar& x, const Variable& n) {
  return polynomial("special_shifted_chebyshev_polynomial_w", Polynomial::shifted_chebyshev_w, x, n);
}
Variable special_shifted_chebyshev_polynomial_w(const Variable& x, const Scalar& n) {
  return polynomial("special_shifted_chebyshev_polynomial_w", Polynomial::shifted_chebyshev_w, x, n);
}

}  // namespace ebb
