// torch.special as `special_<name>`: special functions and orthogonal polynomials.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

// All functions are elementwise. Operands broadcast, and integer tensors are first converted to the default
// dtype unless stated otherwise. Double results are accurate to a few units in the last place; the error of
// an oscillating function is relative to its amplitude. Results of other dtypes are computed in double and
// rounded. A function has a derivative if it has one in PyTorch. The result of a function without a
// derivative does not require grad.

/// Ai(x), the Airy function; no derivative (torch.special.airy_ai).
EBB_API Variable special_airy_ai(const Variable& x);
/// J_0(x), the Bessel function of the first kind (torch.special.bessel_j0).
EBB_API Variable special_bessel_j0(const Variable& self);
/// J_1(x) (torch.special.bessel_j1).
EBB_API Variable special_bessel_j1(const Variable& self);
/// Y_0(x), the Bessel function of the second kind: -inf at 0, NaN below 0 (torch.special.bessel_y0).
EBB_API Variable special_bessel_y0(const Variable& self);
/// Y_1(x) (torch.special.bessel_y1).
EBB_API Variable special_bessel_y1(const Variable& self);
/// The entropy term -x * log(x): 0 at 0, -inf below 0 (torch.special.entr).
EBB_API Variable special_entr(const Variable& self);
/// e^(x^2) erfc(x), without overflow for large x (torch.special.erfcx).
EBB_API Variable special_erfcx(const Variable& self);
/// e^-|x| I_0(x) (torch.special.i0e).
EBB_API Variable special_i0e(const Variable& self);
/// e^-|x| I_1(x) (torch.special.i1e).
EBB_API Variable special_i1e(const Variable& self);
/// log(ndtr(x)), without cancellation on either side (torch.special.log_ndtr).
EBB_API Variable special_log_ndtr(const Variable& self);
/// K_0(x), the modified Bessel function of the second kind: inf at 0, NaN below 0
/// (torch.special.modified_bessel_k0).
EBB_API Variable special_modified_bessel_k0(const Variable& self);
/// K_1(x) (torch.special.modified_bessel_k1).
EBB_API Variable special_modified_bessel_k1(const Variable& self);
/// The normal distribution function erfc(-x / sqrt(2)) / 2 (torch.special.ndtr).
EBB_API Variable special_ndtr(const Variable& self);
/// The inverse of ndtr: NaN outside [0, 1], infinite at its ends (torch.special.ndtri).
EBB_API Variable special_ndtri(const Variable& self);
/// e^x K_0(x); no derivative (torch.special.scaled_modified_bessel_k0).
EBB_API Variable special_scaled_modified_bessel_k0(const Variable& x);
/// e^x K_1(x); no derivative (torch.special.scaled_modified_bessel_k1).
EBB_API Variable special_scaled_modified_bessel_k1(const Variable& x);
/// sin(x) / x; 1 at 0. No derivative (torch.special.spherical_bessel_j0).
EBB_API Variable special_spherical_bessel_j0(const Variable& x);

/// P(self, other) = gamma(self, other) / Gamma(self), the regularized lower incomplete gamma function P(a, x)
/// for a >= 0 and x >= 0. Floating dtypes only. The function is differentiable with respect to x. backward
/// with respect to a throws, as in PyTorch (torch.special.gammainc).
EBB_API Variable igamma(const Variable& self, const Variable& other);
EBB_API Variable& igamma_(const Variable& self, const Variable& other);
/// Q = 1 - P, the upper incomplete gamma function (torch.special.gammaincc).
EBB_API Variable igammac(const Variable& self, const Variable& other);
EBB_API Variable& igammac_(const Variable& self, const Variable& other);
/// The logarithm of the multivariate gamma function, p (p - 1) / 4 log(pi) + sum_i lgamma(x - i / 2) with i =
/// 0 ... p - 1 (torch.special.multigammaln). Throws for p < 1.
EBB_API Variable mvlgamma(const Variable& self, std::int64_t p);
EBB_API Variable& mvlgamma_(const Variable& self, std::int64_t p);

/// x log(1 + y); 0 where x is 0 and y is not NaN (torch.special.xlog1py).
EBB_API Variable special_xlog1py(const Variable& self, const Variable& other);
EBB_API Variable special_xlog1py(const Scalar& self, const Variable& other);
EBB_API Variable special_xlog1py(const Variable& self, const Scalar& other);
/// The Hurwitz zeta function, the sum over k >= 0 of (other + k)^-self. It is inf at self = 1 and where other
/// is 0, -1, ..., and NaN for self < 1. The function is differentiable with respect to other. backward with
/// respect to self throws, as in PyTorch (torch.special.zeta).
EBB_API Variable special_zeta(const Variable& self, const Variable& other);
EBB_API Variable special_zeta(const Scalar& self, const Variable& other);
EBB_API Variable special_zeta(const Variable& self, const Scalar& other);

// Orthogonal polynomials of degree n. n is rounded towards 0. The result is 0 for n < 0, and infinite on
// overflow. No derivatives. Degree n takes n steps, except for Chebyshev polynomials inside (-1, 1).

/// T_n(x) = cos(n acos x), the Chebyshev polynomial of the first kind (torch.special.chebyshev_polynomial_t).
EBB_API Variable special_chebyshev_polynomial_t(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_t(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_t(const Variable& x, const Scalar& n);

/// U_n(x) = sin((n + 1) acos x) / sin(acos x), the Chebyshev polynomial of the second kind
/// (torch.special.chebyshev_polynomial_u).
EBB_API Variable special_chebyshev_polynomial_u(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_u(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_u(const Variable& x, const Scalar& n);

/// V_n(x) = cos((n + 1/2) acos x) / cos(acos(x) / 2), the Chebyshev polynomial of the third kind
/// (torch.special.chebyshev_polynomial_v).
EBB_API Variable special_chebyshev_polynomial_v(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_v(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_v(const Variable& x, const Scalar& n);

/// W_n(x) = sin((n + 1/2) acos x) / sin(acos(x) / 2), the Chebyshev polynomial of the fourth kind
/// (torch.special.chebyshev_polynomial_w).
EBB_API Variable special_chebyshev_polynomial_w(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_w(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_w(const Variable& x, const Scalar& n);

/// H_n(x), the physicists' Hermite polynomial: H_(n+1) = 2 x H_n - 2 n H_(n-1)
/// (torch.special.hermite_polynomial_h).
EBB_API Variable special_hermite_polynomial_h(const Variable& x, const Variable& n);
EBB_API Variable special_hermite_polynomial_h(const Scalar& x, const Variable& n);
EBB_API Variable special_hermite_polynomial_h(const Variable& x, const Scalar& n);

/// He_n(x), the probabilists' Hermite polynomial: He_(n+1) = x He_n - n He_(n-1)
/// (torch.special.hermite_polynomial_he).
EBB_API Variable special_hermite_polynomial_he(const Variable& x, const Variable& n);
EBB_API Variable special_hermite_polynomial_he(const Scalar& x, const Variable& n);
EBB_API Variable special_hermite_polynomial_he(const Variable& x, const Scalar& n);

/// L_n(x), the Laguerre polynomial: (n + 1) L_(n+1) = (2 n + 1 - x) L_n - n L_(n-1)
/// (torch.special.laguerre_polynomial_l).
EBB_API Variable special_laguerre_polynomial_l(const Variable& x, const Variable& n);
EBB_API Variable special_laguerre_polynomial_l(const Scalar& x, const Variable& n);
EBB_API Variable special_laguerre_polynomial_l(const Variable& x, const Scalar& n);

/// P_n(x), the Legendre polynomial: (n + 1) P_(n+1) = (2 n + 1) x P_n - n P_(n-1)
/// (torch.special.legendre_polynomial_p).
EBB_API Variable special_legendre_polynomial_p(const Variable& x, const Variable& n);
EBB_API Variable special_legendre_polynomial_p(const Scalar& x, const Variable& n);
EBB_API Variable special_legendre_polynomial_p(const Variable& x, const Scalar& n);

/// T_n(2 x - 1) (torch.special.shifted_chebyshev_polynomial_t).
EBB_API Variable special_shifted_chebyshev_polynomial_t(const Variable& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_t(const Scalar& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_t(const Variable& x, const Scalar& n);

/// U_n(2 x - 1) (torch.special.shifted_chebyshev_polynomial_u).
EBB_API Variable special_shifted_chebyshev_polynomial_u(const Variable& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_u(const Scalar& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_u(const Variable& x, const Scalar& n);

/// V_n(2 x - 1) (torch.special.shifted_chebyshev_polynomial_v).
EBB_API Variable special_shifted_chebyshev_polynomial_v(const Variable& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_v(const Scalar& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_v(const Variable& x, const Scalar& n);

/// W_n(2 x - 1) (torch.special.shifted_chebyshev_polynomial_w).
EBB_API Variable special_shifted_chebyshev_polynomial_w(const Variable& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_w(const Scalar& x, const Variable& n);
EBB_API Variable special_shifted_chebyshev_polynomial_w(const Variable& x, const Scalar& n);

}  // namespace ebb
