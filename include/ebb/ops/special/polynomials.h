// Orthogonal polynomials.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

// Orthogonal polynomials of degree n, which is rounded towards 0: 0 for n < 0, infinite where they overflow.
// No derivatives. Except Chebyshev's inside (-1, 1), degree n takes n steps.

/// T_n(x) = cos(n acos x), Chebyshev's polynomial of the first kind (torch.special.chebyshev_polynomial_t).
EBB_API Variable special_chebyshev_polynomial_t(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_t(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_t(const Variable& x, const Scalar& n);

/// U_n(x) = sin((n + 1) acos x) / sin(acos x), of the second kind (torch.special.chebyshev_polynomial_u).
EBB_API Variable special_chebyshev_polynomial_u(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_u(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_u(const Variable& x, const Scalar& n);

/// V_n(x) = cos((n + 1/2) acos x) / cos(acos(x) / 2), of the third kind
/// (torch.special.chebyshev_polynomial_v).
EBB_API Variable special_chebyshev_polynomial_v(const Variable& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_v(const Scalar& x, const Variable& n);
EBB_API Variable special_chebyshev_polynomial_v(const Variable& x, const Scalar& n);

/// W_n(x) = sin((n + 1/2) acos x) / sin(acos(x) / 2), of the fourth kind
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

/// L_n(x), Laguerre's polynomial: (n + 1) L_(n+1) = (2 n + 1 - x) L_n - n L_(n-1)
/// (torch.special.laguerre_polynomial_l).
EBB_API Variable special_laguerre_polynomial_l(const Variable& x, const Variable& n);
EBB_API Variable special_laguerre_polynomial_l(const Scalar& x, const Variable& n);
EBB_API Variable special_laguerre_polynomial_l(const Variable& x, const Scalar& n);

/// P_n(x), Legendre's polynomial: (n + 1) P_(n+1) = (2 n + 1) x P_n - n P_(n-1)
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
