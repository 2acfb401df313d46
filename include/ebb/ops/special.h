// torch.special's names, as `special_<name>` and as `special::<name>`.
#pragma once

#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

namespace ebb {

// Functions that also have another name.

inline Variable special_digamma(const Variable& self) { return digamma(self); }
inline Variable special_erf(const Variable& self) { return erf(self); }
inline Variable special_erfc(const Variable& self) { return erfc(self); }
inline Variable special_erfinv(const Variable& self) { return erfinv(self); }
inline Variable special_exp2(const Variable& self) { return exp2(self); }
inline Variable special_expit(const Variable& self) { return sigmoid(self); }
inline Variable special_expm1(const Variable& self) { return expm1(self); }
inline Variable special_gammaln(const Variable& self) { return lgamma(self); }
inline Variable special_log1p(const Variable& self) { return log1p(self); }
inline Variable special_psi(const Variable& self) { return digamma(self); }
inline Variable special_sinc(const Variable& self) { return sinc(self); }
inline Variable special_modified_bessel_i0(const Variable& self) { return i0(self); }
inline Variable special_modified_bessel_i1(const Variable& self) { return special_i1(self); }
inline Variable special_gammainc(const Variable& self, const Variable& other) { return igamma(self, other); }
inline Variable special_gammaincc(const Variable& self, const Variable& other) {
  return igammac(self, other);
}
inline Variable special_logit(const Variable& self, optional<double> eps = nullopt) {
  return logit(self, eps);
}
inline Variable special_logsumexp(const Variable& self, IntArrayRef dim, bool keepdim = false) {
  return logsumexp(self, dim, keepdim);
}
inline Variable special_multigammaln(const Variable& self, std::int64_t p) { return mvlgamma(self, p); }
inline Variable special_polygamma(std::int64_t n, const Variable& self) { return polygamma(n, self); }
inline Variable special_round(const Variable& self, std::int64_t decimals = 0) {
  return round(self, decimals);
}
inline Variable special_xlogy(const Variable& self, const Variable& other) { return xlogy(self, other); }
inline Variable special_xlogy(const Scalar& self, const Variable& other) { return xlogy(self, other); }
inline Variable special_xlogy(const Variable& self, const Scalar& other) { return xlogy(self, other); }

/// torch.special's names.
namespace special {

inline Variable digamma(const Variable& self) { return ebb::digamma(self); }
inline Variable erf(const Variable& self) { return ebb::erf(self); }
inline Variable erfc(const Variable& self) { return ebb::erfc(self); }
inline Variable erfinv(const Variable& self) { return ebb::erfinv(self); }
inline Variable exp2(const Variable& self) { return ebb::exp2(self); }
inline Variable expit(const Variable& self) { return ebb::sigmoid(self); }
inline Variable expm1(const Variable& self) { return ebb::expm1(self); }
inline Variable gammaln(const Variable& self) { return ebb::lgamma(self); }
inline Variable log1p(const Variable& self) { return ebb::log1p(self); }
inline Variable psi(const Variable& self) { return ebb::digamma(self); }
inline Variable sinc(const Variable& self) { return ebb::sinc(self); }
inline Variable modified_bessel_i0(const Variable& self) { return ebb::i0(self); }
inline Variable modified_bessel_i1(const Variable& self) { return ebb::special_i1(self); }
inline Variable i0(const Variable& self) { return ebb::i0(self); }
inline Variable i1(const Variable& self) { return special_i1(self); }
inline Variable airy_ai(const Variable& self) { return special_airy_ai(self); }
inline Variable bessel_j0(const Variable& self) { return special_bessel_j0(self); }
inline Variable bessel_j1(const Variable& self) { return special_bessel_j1(self); }
inline Variable bessel_y0(const Variable& self) { return special_bessel_y0(self); }
inline Variable bessel_y1(const Variable& self) { return special_bessel_y1(self); }
inline Variable entr(const Variable& self) { return special_entr(self); }
inline Variable erfcx(const Variable& self) { return special_erfcx(self); }
inline Variable i0e(const Variable& self) { return special_i0e(self); }
inline Variable i1e(const Variable& self) { return special_i1e(self); }
inline Variable log_ndtr(const Variable& self) { return special_log_ndtr(self); }
inline Variable modified_bessel_k0(const Variable& self) { return special_modified_bessel_k0(self); }
inline Variable modified_bessel_k1(const Variable& self) { return special_modified_bessel_k1(self); }
inline Variable ndtr(const Variable& self) { return special_ndtr(self); }
inline Variable ndtri(const Variable& self) { return special_ndtri(self); }
inline Variable scaled_modified_bessel_k0(const Variable& self) {
  return special_scaled_modified_bessel_k0(self);
}
inline Variable scaled_modified_bessel_k1(const Variable& self) {
  return special_scaled_modified_bessel_k1(self);
}
inline Variable spherical_bessel_j0(const Variable& self) { return special_spherical_bessel_j0(self); }
inline Variable gammainc(const Variable& self, const Variable& other) { return igamma(self, other); }
inline Variable gammaincc(const Variable& self, const Variable& other) { return igammac(self, other); }
inline Variable logit(const Variable& self, optional<double> eps = nullopt) { return ebb::logit(self, eps); }
inline Variable logsumexp(const Variable& self, IntArrayRef dim, bool keepdim = false) {
  return ebb::logsumexp(self, dim, keepdim);
}
inline Variable softmax(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt) {
  return ebb::softmax(self, dim, dtype);
}
inline Variable log_softmax(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt) {
  return ebb::log_softmax(self, dim, dtype);
}
inline Variable multigammaln(const Variable& self, std::int64_t p) { return mvlgamma(self, p); }
inline Variable polygamma(std::int64_t n, const Variable& self) { return ebb::polygamma(n, self); }
inline Variable round(const Variable& self, std::int64_t decimals = 0) { return ebb::round(self, decimals); }
inline Variable xlogy(const Variable& self, const Variable& other) { return ebb::xlogy(self, other); }
inline Variable xlogy(const Scalar& self, const Variable& other) { return ebb::xlogy(self, other); }
inline Variable xlogy(const Variable& self, const Scalar& other) { return ebb::xlogy(self, other); }
inline Variable xlog1py(const Variable& self, const Variable& other) { return special_xlog1py(self, other); }
inline Variable xlog1py(const Scalar& self, const Variable& other) { return special_xlog1py(self, other); }
inline Variable xlog1py(const Variable& self, const Scalar& other) { return special_xlog1py(self, other); }
inline Variable zeta(const Variable& self, const Variable& other) { return special_zeta(self, other); }
inline Variable zeta(const Scalar& self, const Variable& other) { return special_zeta(self, other); }
inline Variable zeta(const Variable& self, const Scalar& other) { return special_zeta(self, other); }
inline Variable chebyshev_polynomial_t(const Variable& x, const Variable& n) {
  return special_chebyshev_polynomial_t(x, n);
}
inline Variable chebyshev_polynomial_t(const Scalar& x, const Variable& n) {
  return special_chebyshev_polynomial_t(x, n);
}
inline Variable chebyshev_polynomial_t(const Variable& x, const Scalar& n) {
  return special_chebyshev_polynomial_t(x, n);
}
inline Variable chebyshev_polynomial_u(const Variable& x, const Variable& n) {
  return special_chebyshev_polynomial_u(x, n);
}
inline Variable chebyshev_polynomial_u(const Scalar& x, const Variable& n) {
  return special_chebyshev_polynomial_u(x, n);
}
inline Variable chebyshev_polynomial_u(const Variable& x, const Scalar& n) {
  return special_chebyshev_polynomial_u(x, n);
}
inline Variable chebyshev_polynomial_v(const Variable& x, const Variable& n) {
  return special_chebyshev_polynomial_v(x, n);
}
inline Variable chebyshev_polynomial_v(const Scalar& x, const Variable& n) {
  return special_chebyshev_polynomial_v(x, n);
}
inline Variable chebyshev_polynomial_v(const Variable& x, const Scalar& n) {
  return special_chebyshev_polynomial_v(x, n);
}
inline Variable chebyshev_polynomial_w(const Variable& x, const Variable& n) {
  return special_chebyshev_polynomial_w(x, n);
}
inline Variable chebyshev_polynomial_w(const Scalar& x, const Variable& n) {
  return special_chebyshev_polynomial_w(x, n);
}
inline Variable chebyshev_polynomial_w(const Variable& x, const Scalar& n) {
  return special_chebyshev_polynomial_w(x, n);
}
inline Variable hermite_polynomial_h(const Variable& x, const Variable& n) {
  return special_hermite_polynomial_h(x, n);
}
inline Variable hermite_polynomial_h(const Scalar& x, const Variable& n) {
  return special_hermite_polynomial_h(x, n);
}
inline Variable hermite_polynomial_h(const Variable& x, const Scalar& n) {
  return special_hermite_polynomial_h(x, n);
}
inline Variable hermite_polynomial_he(const Variable& x, const Variable& n) {
  return special_hermite_polynomial_he(x, n);
}
inline Variable hermite_polynomial_he(const Scalar& x, const Variable& n) {
  return special_hermite_polynomial_he(x, n);
}
inline Variable hermite_polynomial_he(const Variable& x, const Scalar& n) {
  return special_hermite_polynomial_he(x, n);
}
inline Variable laguerre_polynomial_l(const Variable& x, const Variable& n) {
  return special_laguerre_polynomial_l(x, n);
}
inline Variable laguerre_polynomial_l(const Scalar& x, const Variable& n) {
  return special_laguerre_polynomial_l(x, n);
}
inline Variable laguerre_polynomial_l(const Variable& x, const Scalar& n) {
  return special_laguerre_polynomial_l(x, n);
}
inline Variable legendre_polynomial_p(const Variable& x, const Variable& n) {
  return special_legendre_polynomial_p(x, n);
}
inline Variable legendre_polynomial_p(const Scalar& x, const Variable& n) {
  return special_legendre_polynomial_p(x, n);
}
inline Variable legendre_polynomial_p(const Variable& x, const Scalar& n) {
  return special_legendre_polynomial_p(x, n);
}
inline Variable shifted_chebyshev_polynomial_t(const Variable& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_t(x, n);
}
inline Variable shifted_chebyshev_polynomial_t(const Scalar& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_t(x, n);
}
inline Variable shifted_chebyshev_polynomial_t(const Variable& x, const Scalar& n) {
  return special_shifted_chebyshev_polynomial_t(x, n);
}
inline Variable shifted_chebyshev_polynomial_u(const Variable& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_u(x, n);
}
inline Variable shifted_chebyshev_polynomial_u(const Scalar& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_u(x, n);
}
inline Variable shifted_chebyshev_polynomial_u(const Variable& x, const Scalar& n) {
  return special_shifted_chebyshev_polynomial_u(x, n);
}
inline Variable shifted_chebyshev_polynomial_v(const Variable& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_v(x, n);
}
inline Variable shifted_chebyshev_polynomial_v(const Scalar& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_v(x, n);
}
inline Variable shifted_chebyshev_polynomial_v(const Variable& x, const Scalar& n) {
  return special_shifted_chebyshev_polynomial_v(x, n);
}
inline Variable shifted_chebyshev_polynomial_w(const Variable& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_w(x, n);
}
inline Variable shifted_chebyshev_polynomial_w(const Scalar& x, const Variable& n) {
  return special_shifted_chebyshev_polynomial_w(x, n);
}
inline Variable shifted_chebyshev_polynomial_w(const Variable& x, const Scalar& n) {
  return special_shifted_chebyshev_polynomial_w(x, n);
}

}  // namespace special

}  // namespace ebb
