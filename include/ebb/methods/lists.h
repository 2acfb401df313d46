// Lists of elementwise ops. For each name, macros declare the methods of Variable (ebb/methods/elementwise.h)
// and the form with an output tensor (ebb/ops/out.h).
#pragma once

// clang-format off

// f(x) and f_(x).
#define EBB_UNARY_OPS(X) \
  X(abs) X(absolute) X(neg) X(negative) X(sign) X(sgn) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) \
  X(log1p) X(sqrt) X(rsqrt) X(square) X(reciprocal) X(sin) X(cos) X(tan) X(asin) X(arcsin) X(acos) \
  X(arccos) X(atan) X(arctan) X(sinh) X(cosh) X(tanh) X(asinh) X(arcsinh) X(acosh) X(arccosh) X(atanh) \
  X(arctanh) X(sigmoid) X(erf) X(erfc) X(erfinv) X(lgamma) X(digamma) X(i0) X(sinc) X(floor) X(ceil) \
  X(round) X(trunc) X(fix) X(frac) X(deg2rad) X(rad2deg) X(logical_not) X(bitwise_not) X(relu)

// f(x, other) and f_(x, other), where other is a tensor or a scalar.
#define EBB_BINARY_OPS(X) \
  X(mul) X(multiply) X(div) X(divide) X(true_divide) X(floor_divide) X(fmod) X(remainder) X(pow) \
  X(float_power) X(copysign) X(xlogy) X(eq) X(ne) X(not_equal) X(lt) X(less) X(le) X(less_equal) X(gt) \
  X(greater) X(ge) X(greater_equal) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift) \
  X(bitwise_right_shift)

// f(x, other) and f_(x, other), where other is a tensor.
#define EBB_TENSOR_BINARY_OPS(X) \
  X(gcd) X(lcm) X(atan2) X(arctan2) X(hypot) X(ldexp) X(heaviside) X(igamma) X(igammac) X(nextafter) \
  X(logical_and) X(logical_or) X(logical_xor)
