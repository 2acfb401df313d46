// Transcendental functions of several lanes at once: glibc's libmvec, on x86-64 with AVX2. All of them keep
// NumPy's bounds on accuracy (tests/ops/numpy_ulp_test.cpp). An element's value must not depend on where in
// an array it stands, so rows use these for every element, the last few padded, and never the scalar
// functions beside them.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__AVX2__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define EBB_LIBMVEC 1
#endif
#endif
#ifndef EBB_LIBMVEC
#define EBB_LIBMVEC 0
#endif

#if EBB_LIBMVEC

namespace ebb::cpu::lanes {

typedef double Doubles __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(32)));

extern "C" {
Doubles _ZGVdN4v_acos(Doubles);
Floats _ZGVdN8v_acosf(Floats);
Doubles _ZGVdN4v_acosh(Doubles);
Floats _ZGVdN8v_acoshf(Floats);
Doubles _ZGVdN4v_asin(Doubles);
Floats _ZGVdN8v_asinf(Floats);
Doubles _ZGVdN4v_asinh(Doubles);
Floats _ZGVdN8v_asinhf(Floats);
Doubles _ZGVdN4v_atan(Doubles);
Floats _ZGVdN8v_atanf(Floats);
Doubles _ZGVdN4v_atanh(Doubles);
Floats _ZGVdN8v_atanhf(Floats);
Doubles _ZGVdN4v_cos(Doubles);
Floats _ZGVdN8v_cosf(Floats);
Doubles _ZGVdN4v_cosh(Doubles);
Floats _ZGVdN8v_coshf(Floats);
Doubles _ZGVdN4v_erf(Doubles);
Floats _ZGVdN8v_erff(Floats);
Doubles _ZGVdN4v_erfc(Doubles);
Floats _ZGVdN8v_erfcf(Floats);
Doubles _ZGVdN4v_exp(Doubles);
Floats _ZGVdN8v_expf(Floats);
Doubles _ZGVdN4v_exp2(Doubles);
Floats _ZGVdN8v_exp2f(Floats);
Doubles _ZGVdN4v_expm1(Doubles);
Floats _ZGVdN8v_expm1f(Floats);
Doubles _ZGVdN4v_log(Doubles);
Floats _ZGVdN8v_logf(Floats);
Doubles _ZGVdN4v_log10(Doubles);
Floats _ZGVdN8v_log10f(Floats);
Doubles _ZGVdN4v_log1p(Doubles);
Floats _ZGVdN8v_log1pf(Floats);
Doubles _ZGVdN4v_log2(Doubles);
Floats _ZGVdN8v_log2f(Floats);
Doubles _ZGVdN4v_sin(Doubles);
Floats _ZGVdN8v_sinf(Floats);
Doubles _ZGVdN4v_sinh(Doubles);
Floats _ZGVdN8v_sinhf(Floats);
Doubles _ZGVdN4v_tan(Doubles);
Floats _ZGVdN8v_tanf(Floats);
Doubles _ZGVdN4v_tanh(Doubles);
Floats _ZGVdN8v_tanhf(Floats);
}

inline Doubles acos(Doubles x) { return _ZGVdN4v_acos(x); }
inline Floats acos(Floats x) { return _ZGVdN8v_acosf(x); }
inline Doubles acosh(Doubles x) { return _ZGVdN4v_acosh(x); }
inline Floats acosh(Floats x) { return _ZGVdN8v_acoshf(x); }
inline Doubles asin(Doubles x) { return _ZGVdN4v_asin(x); }
inline Floats asin(Floats x) { return _ZGVdN8v_asinf(x); }
inline Doubles asinh(Doubles x) { return _ZGVdN4v_asinh(x); }
inline Floats asinh(Floats x) { return _ZGVdN8v_asinhf(x); }
inline Doubles atan(Doubles x) { return _ZGVdN4v_atan(x); }
inline Floats atan(Floats x) { return _ZGVdN8v_atanf(x); }
inline Doubles atanh(Doubles x) { return _ZGVdN4v_atanh(x); }
inline Floats atanh(Floats x) { return _ZGVdN8v_atanhf(x); }
inline Doubles cos(Doubles x) { return _ZGVdN4v_cos(x); }
inline Floats cos(Floats x) { return _ZGVdN8v_cosf(x); }
inline Doubles cosh(Doubles x) { return _ZGVdN4v_cosh(x); }
inline Floats cosh(Floats x) { return _ZGVdN8v_coshf(x); }
inline Doubles erf(Doubles x) { return _ZGVdN4v_erf(x); }
inline Floats erf(Floats x) { return _ZGVdN8v_erff(x); }
inline Doubles erfc(Doubles x) { return _ZGVdN4v_erfc(x); }
inline Floats erfc(Floats x) { return _ZGVdN8v_erfcf(x); }
inline Doubles exp(Doubles x) { return _ZGVdN4v_exp(x); }
inline Floats exp(Floats x) { return _ZGVdN8v_expf(x); }
inline Doubles exp2(Doubles x) { return _ZGVdN4v_exp2(x); }
inline Floats exp2(Floats x) { return _ZGVdN8v_exp2f(x); }
inline Doubles expm1(Doubles x) { return _ZGVdN4v_expm1(x); }
inline Floats expm1(Floats x) { return _ZGVdN8v_expm1f(x); }
inline Doubles log(Doubles x) { return _ZGVdN4v_log(x); }
inline Floats log(Floats x) { return _ZGVdN8v_logf(x); }
inline Doubles log10(Doubles x) { return _ZGVdN4v_log10(x); }
inline Floats log10(Floats x) { return _ZGVdN8v_log10f(x); }
inline Doubles log1p(Doubles x) { return _ZGVdN4v_log1p(x); }
inline Floats log1p(Floats x) { return _ZGVdN8v_log1pf(x); }
inline Doubles log2(Doubles x) { return _ZGVdN4v_log2(x); }
inline Floats log2(Floats x) { return _ZGVdN8v_log2f(x); }
inline Doubles sin(Doubles x) { return _ZGVdN4v_sin(x); }
inline Floats sin(Floats x) { return _ZGVdN8v_sinf(x); }
inline Doubles sinh(Doubles x) { return _ZGVdN4v_sinh(x); }
inline Floats sinh(Floats x) { return _ZGVdN8v_sinhf(x); }
inline Doubles tan(Doubles x) { return _ZGVdN4v_tan(x); }
inline Floats tan(Floats x) { return _ZGVdN8v_tanf(x); }
inline Doubles tanh(Doubles x) { return _ZGVdN4v_tanh(x); }
inline Floats tanh(Floats x) { return _ZGVdN8v_tanhf(x); }

}  // namespace ebb::cpu::lanes

#endif
