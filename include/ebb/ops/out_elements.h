// f_out(out, arguments of f...) of ops that take tensors and numbers: results written into a tensor that is
// there.
#pragma once

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/scan.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>
#include <ebb/ops/sort.h>

#include <tuple>

namespace ebb {

namespace detail {

/// Writes the result of `op` into `out`, which takes its shape; a warning says so where `out` had elements.
/// Throws where a gradient would be recorded through either, for another device, and for a result of another
/// dtype: of a higher kind (a float into integers), or, for an exact op, any other.
EBB_API Variable& write_out(const char* op, Variable& out, const Variable& result, bool exact = false);
using TwoOut = std::tuple<Variable&, Variable&>;
EBB_API TwoOut write_out(const char* op, Variable& first, Variable& second,
                         const std::tuple<Variable, Variable>& results);

}  // namespace detail

// Every overload of f, with its defaults. The result is computed and then copied: for programs written so,
// and no faster than f. Views, convolutions, pools and losses have no such form. (torch.f(..., out=out))

// Functions of each element.
Variable& abs_out(Variable& out, const auto&... a) { return detail::write_out("abs", out, abs(a...)); }
Variable& absolute_out(Variable& out, const auto&... a) {
  return detail::write_out("absolute", out, absolute(a...));
}
Variable& acos_out(Variable& out, const auto&... a) { return detail::write_out("acos", out, acos(a...)); }
Variable& arccos_out(Variable& out, const auto&... a) {
  return detail::write_out("arccos", out, arccos(a...));
}
Variable& acosh_out(Variable& out, const auto&... a) { return detail::write_out("acosh", out, acosh(a...)); }
Variable& arccosh_out(Variable& out, const auto&... a) {
  return detail::write_out("arccosh", out, arccosh(a...));
}
Variable& asin_out(Variable& out, const auto&... a) { return detail::write_out("asin", out, asin(a...)); }
Variable& arcsin_out(Variable& out, const auto&... a) {
  return detail::write_out("arcsin", out, arcsin(a...));
}
Variable& asinh_out(Variable& out, const auto&... a) { return detail::write_out("asinh", out, asinh(a...)); }
Variable& arcsinh_out(Variable& out, const auto&... a) {
  return detail::write_out("arcsinh", out, arcsinh(a...));
}
Variable& atan_out(Variable& out, const auto&... a) { return detail::write_out("atan", out, atan(a...)); }
Variable& arctan_out(Variable& out, const auto&... a) {
  return detail::write_out("arctan", out, arctan(a...));
}
Variable& atanh_out(Variable& out, const auto&... a) { return detail::write_out("atanh", out, atanh(a...)); }
Variable& arctanh_out(Variable& out, const auto&... a) {
  return detail::write_out("arctanh", out, arctanh(a...));
}
Variable& bitwise_not_out(Variable& out, const auto&... a) {
  return detail::write_out("bitwise_not", out, bitwise_not(a...));
}
Variable& ceil_out(Variable& out, const auto&... a) { return detail::write_out("ceil", out, ceil(a...)); }
Variable& cos_out(Variable& out, const auto&... a) { return detail::write_out("cos", out, cos(a...)); }
Variable& cosh_out(Variable& out, const auto&... a) { return detail::write_out("cosh", out, cosh(a...)); }
Variable& deg2rad_out(Variable& out, const auto&... a) {
  return detail::write_out("deg2rad", out, deg2rad(a...));
}
Variable& digamma_out(Variable& out, const auto&... a) {
  return detail::write_out("digamma", out, digamma(a...));
}
Variable& elu_out(Variable& out, const auto&... a) { return detail::write_out("elu", out, elu(a...)); }
Variable& erf_out(Variable& out, const auto&... a) { return detail::write_out("erf", out, erf(a...)); }
Variable& erfc_out(Variable& out, const auto&... a) { return detail::write_out("erfc", out, erfc(a...)); }
Variable& erfinv_out(Variable& out, const auto&... a) {
  return detail::write_out("erfinv", out, erfinv(a...));
}
Variable& exp_out(Variable& out, const auto&... a) { return detail::write_out("exp", out, exp(a...)); }
Variable& exp2_out(Variable& out, const auto&... a) { return detail::write_out("exp2", out, exp2(a...)); }
Variable& expm1_out(Variable& out, const auto&... a) { return detail::write_out("expm1", out, expm1(a...)); }
Variable& fix_out(Variable& out, const auto&... a) { return detail::write_out("fix", out, fix(a...)); }
Variable& floor_out(Variable& out, const auto&... a) { return detail::write_out("floor", out, floor(a...)); }
Variable& frac_out(Variable& out, const auto&... a) { return detail::write_out("frac", out, frac(a...)); }
Variable& gelu_out(Variable& out, const auto&... a) { return detail::write_out("gelu", out, gelu(a...)); }
Variable& hardshrink_out(Variable& out, const auto&... a) {
  return detail::write_out("hardshrink", out, hardshrink(a...));
}
Variable& hardsigmoid_out(Variable& out, const auto&... a) {
  return detail::write_out("hardsigmoid", out, hardsigmoid(a...));
}
Variable& hardswish_out(Variable& out, const auto&... a) {
  return detail::write_out("hardswish", out, hardswish(a...));
}
Variable& hardtanh_out(Variable& out, const auto&... a) {
  return detail::write_out("hardtanh", out, hardtanh(a...));
}
Variable& i0_out(Variable& out, const auto&... a) { return detail::write_out("i0", out, i0(a...)); }
Variable& isneginf_out(Variable& out, const auto&... a) {
  return detail::write_out("isneginf", out, isneginf(a...));
}
Variable& isposinf_out(Variable& out, const auto&... a) {
  return detail::write_out("isposinf", out, isposinf(a...));
}
Variable& leaky_relu_out(Variable& out, const auto&... a) {
  return detail::write_out("leaky_relu", out, leaky_relu(a...));
}
Variable& lgamma_out(Variable& out, const auto&... a) {
  return detail::write_out("lgamma", out, lgamma(a...));
}
Variable& log_out(Variable& out, const auto&... a) { return detail::write_out("log", out, log(a...)); }
Variable& log10_out(Variable& out, const auto&... a) { return detail::write_out("log10", out, log10(a...)); }
Variable& log1p_out(Variable& out, const auto&... a) { return detail::write_out("log1p", out, log1p(a...)); }
Variable& log2_out(Variable& out, const auto&... a) { return detail::write_out("log2", out, log2(a...)); }
Variable& log_sigmoid_out(Variable& out, const auto&... a) {
  return detail::write_out("log_sigmoid", out, log_sigmoid(a...));
}
Variable& logical_not_out(Variable& out, const auto&... a) {
  return detail::write_out("logical_not", out, logical_not(a...));
}
Variable& logit_out(Variable& out, const auto&... a) { return detail::write_out("logit", out, logit(a...)); }
Variable& mish_out(Variable& out, const auto&... a) { return detail::write_out("mish", out, mish(a...)); }
Variable& nan_to_num_out(Variable& out, const auto&... a) {
  return detail::write_out("nan_to_num", out, nan_to_num(a...));
}
Variable& neg_out(Variable& out, const auto&... a) { return detail::write_out("neg", out, neg(a...)); }
Variable& negative_out(Variable& out, const auto&... a) {
  return detail::write_out("negative", out, negative(a...));
}
Variable& polygamma_out(Variable& out, const auto&... a) {
  return detail::write_out("polygamma", out, polygamma(a...));
}
Variable& rad2deg_out(Variable& out, const auto&... a) {
  return detail::write_out("rad2deg", out, rad2deg(a...));
}
Variable& reciprocal_out(Variable& out, const auto&... a) {
  return detail::write_out("reciprocal", out, reciprocal(a...));
}
Variable& round_out(Variable& out, const auto&... a) { return detail::write_out("round", out, round(a...)); }
Variable& rsqrt_out(Variable& out, const auto&... a) { return detail::write_out("rsqrt", out, rsqrt(a...)); }
Variable& sgn_out(Variable& out, const auto&... a) { return detail::write_out("sgn", out, sgn(a...)); }
Variable& sigmoid_out(Variable& out, const auto&... a) {
  return detail::write_out("sigmoid", out, sigmoid(a...));
}
Variable& sign_out(Variable& out, const auto&... a) { return detail::write_out("sign", out, sign(a...)); }
Variable& signbit_out(Variable& out, const auto&... a) {
  return detail::write_out("signbit", out, signbit(a...));
}
Variable& silu_out(Variable& out, const auto&... a) { return detail::write_out("silu", out, silu(a...)); }
Variable& sin_out(Variable& out, const auto&... a) { return detail::write_out("sin", out, sin(a...)); }
Variable& sinc_out(Variable& out, const auto&... a) { return detail::write_out("sinc", out, sinc(a...)); }
Variable& sinh_out(Variable& out, const auto&... a) { return detail::write_out("sinh", out, sinh(a...)); }
Variable& softplus_out(Variable& out, const auto&... a) {
  return detail::write_out("softplus", out, softplus(a...));
}
Variable& softshrink_out(Variable& out, const auto&... a) {
  return detail::write_out("softshrink", out, softshrink(a...));
}
Variable& sqrt_out(Variable& out, const auto&... a) { return detail::write_out("sqrt", out, sqrt(a...)); }
Variable& square_out(Variable& out, const auto&... a) {
  return detail::write_out("square", out, square(a...));
}
Variable& tan_out(Variable& out, const auto&... a) { return detail::write_out("tan", out, tan(a...)); }
Variable& tanh_out(Variable& out, const auto&... a) { return detail::write_out("tanh", out, tanh(a...)); }
Variable& threshold_out(Variable& out, const auto&... a) {
  return detail::write_out("threshold", out, threshold(a...));
}
Variable& trunc_out(Variable& out, const auto&... a) { return detail::write_out("trunc", out, trunc(a...)); }
Variable& clamp_out(Variable& out, const auto&... a) { return detail::write_out("clamp", out, clamp(a...)); }
Variable& clamp_max_out(Variable& out, const auto&... a) {
  return detail::write_out("clamp_max", out, clamp_max(a...));
}
Variable& clamp_min_out(Variable& out, const auto&... a) {
  return detail::write_out("clamp_min", out, clamp_min(a...));
}
Variable& clip_out(Variable& out, const auto&... a) { return detail::write_out("clip", out, clip(a...)); }

// Of two or three tensors, or a tensor and a number.
Variable& add_out(Variable& out, const auto&... a) { return detail::write_out("add", out, add(a...)); }
Variable& addcdiv_out(Variable& out, const auto&... a) {
  return detail::write_out("addcdiv", out, addcdiv(a...));
}
Variable& addcmul_out(Variable& out, const auto&... a) {
  return detail::write_out("addcmul", out, addcmul(a...));
}
Variable& atan2_out(Variable& out, const auto&... a) { return detail::write_out("atan2", out, atan2(a...)); }
Variable& arctan2_out(Variable& out, const auto&... a) {
  return detail::write_out("arctan2", out, arctan2(a...));
}
Variable& bitwise_and_out(Variable& out, const auto&... a) {
  return detail::write_out("bitwise_and", out, bitwise_and(a...));
}
Variable& bitwise_left_shift_out(Variable& out, const auto&... a) {
  return detail::write_out("bitwise_left_shift", out, bitwise_left_shift(a...));
}
Variable& bitwise_or_out(Variable& out, const auto&... a) {
  return detail::write_out("bitwise_or", out, bitwise_or(a...));
}
Variable& bitwise_right_shift_out(Variable& out, const auto&... a) {
  return detail::write_out("bitwise_right_shift", out, bitwise_right_shift(a...));
}
Variable& bitwise_xor_out(Variable& out, const auto&... a) {
  return detail::write_out("bitwise_xor", out, bitwise_xor(a...));
}
Variable& copysign_out(Variable& out, const auto&... a) {
  return detail::write_out("copysign", out, copysign(a...));
}
Variable& div_out(Variable& out, const auto&... a) { return detail::write_out("div", out, div(a...)); }
Variable& divide_out(Variable& out, const auto&... a) {
  return detail::write_out("divide", out, divide(a...));
}
Variable& eq_out(Variable& out, const auto&... a) { return detail::write_out("eq", out, eq(a...)); }
Variable& float_power_out(Variable& out, const auto&... a) {
  return detail::write_out("float_power", out, float_power(a...));
}
Variable& floor_divide_out(Variable& out, const auto&... a) {
  return detail::write_out("floor_divide", out, floor_divide(a...));
}
Variable& fmax_out(Variable& out, const auto&... a) { return detail::write_out("fmax", out, fmax(a...)); }
Variable& fmin_out(Variable& out, const auto&... a) { return detail::write_out("fmin", out, fmin(a...)); }
Variable& fmod_out(Variable& out, const auto&... a) { return detail::write_out("fmod", out, fmod(a...)); }
Variable& gcd_out(Variable& out, const auto&... a) { return detail::write_out("gcd", out, gcd(a...)); }
Variable& ge_out(Variable& out, const auto&... a) { return detail::write_out("ge", out, ge(a...)); }
Variable& greater_out(Variable& out, const auto&... a) {
  return detail::write_out("greater", out, greater(a...));
}
Variable& greater_equal_out(Variable& out, const auto&... a) {
  return detail::write_out("greater_equal", out, greater_equal(a...));
}
Variable& gt_out(Variable& out, const auto&... a) { return detail::write_out("gt", out, gt(a...)); }
Variable& heaviside_out(Variable& out, const auto&... a) {
  return detail::write_out("heaviside", out, heaviside(a...));
}
Variable& hypot_out(Variable& out, const auto&... a) { return detail::write_out("hypot", out, hypot(a...)); }
Variable& isin_out(Variable& out, const auto&... a) { return detail::write_out("isin", out, isin(a...)); }
Variable& lcm_out(Variable& out, const auto&... a) { return detail::write_out("lcm", out, lcm(a...)); }
Variable& ldexp_out(Variable& out, const auto&... a) { return detail::write_out("ldexp", out, ldexp(a...)); }
Variable& le_out(Variable& out, const auto&... a) { return detail::write_out("le", out, le(a...)); }
Variable& less_out(Variable& out, const auto&... a) { return detail::write_out("less", out, less(a...)); }
Variable& less_equal_out(Variable& out, const auto&... a) {
  return detail::write_out("less_equal", out, less_equal(a...));
}
Variable& lerp_out(Variable& out, const auto&... a) { return detail::write_out("lerp", out, lerp(a...)); }
Variable& logaddexp_out(Variable& out, const auto&... a) {
  return detail::write_out("logaddexp", out, logaddexp(a...));
}
Variable& logaddexp2_out(Variable& out, const auto&... a) {
  return detail::write_out("logaddexp2", out, logaddexp2(a...));
}
Variable& logical_and_out(Variable& out, const auto&... a) {
  return detail::write_out("logical_and", out, logical_and(a...));
}
Variable& logical_or_out(Variable& out, const auto&... a) {
  return detail::write_out("logical_or", out, logical_or(a...));
}
Variable& logical_xor_out(Variable& out, const auto&... a) {
  return detail::write_out("logical_xor", out, logical_xor(a...));
}
Variable& lt_out(Variable& out, const auto&... a) { return detail::write_out("lt", out, lt(a...)); }
Variable& maximum_out(Variable& out, const auto&... a) {
  return detail::write_out("maximum", out, maximum(a...));
}
Variable& minimum_out(Variable& out, const auto&... a) {
  return detail::write_out("minimum", out, minimum(a...));
}
Variable& mul_out(Variable& out, const auto&... a) { return detail::write_out("mul", out, mul(a...)); }
Variable& multiply_out(Variable& out, const auto&... a) {
  return detail::write_out("multiply", out, multiply(a...));
}
Variable& ne_out(Variable& out, const auto&... a) { return detail::write_out("ne", out, ne(a...)); }
Variable& not_equal_out(Variable& out, const auto&... a) {
  return detail::write_out("not_equal", out, not_equal(a...));
}
Variable& pow_out(Variable& out, const auto&... a) { return detail::write_out("pow", out, pow(a...)); }
Variable& remainder_out(Variable& out, const auto&... a) {
  return detail::write_out("remainder", out, remainder(a...));
}
Variable& sub_out(Variable& out, const auto&... a) { return detail::write_out("sub", out, sub(a...)); }
Variable& subtract_out(Variable& out, const auto&... a) {
  return detail::write_out("subtract", out, subtract(a...));
}
Variable& true_divide_out(Variable& out, const auto&... a) {
  return detail::write_out("true_divide", out, true_divide(a...));
}
Variable& where_out(Variable& out, const auto&... a) { return detail::write_out("where", out, where(a...)); }
Variable& xlogy_out(Variable& out, const auto&... a) { return detail::write_out("xlogy", out, xlogy(a...)); }

// Along a dimension.
Variable& argmax_out(Variable& out, const auto&... a) {
  return detail::write_out("argmax", out, argmax(a...));
}
Variable& argmin_out(Variable& out, const auto&... a) {
  return detail::write_out("argmin", out, argmin(a...));
}
Variable& cumprod_out(Variable& out, const auto&... a) {
  return detail::write_out("cumprod", out, cumprod(a...));
}
Variable& cumsum_out(Variable& out, const auto&... a) {
  return detail::write_out("cumsum", out, cumsum(a...));
}
Variable& diff_out(Variable& out, const auto&... a) { return detail::write_out("diff", out, diff(a...)); }
Variable& glu_out(Variable& out, const auto&... a) { return detail::write_out("glu", out, glu(a...)); }
Variable& log_softmax_out(Variable& out, const auto&... a) {
  return detail::write_out("log_softmax", out, log_softmax(a...));
}
Variable& logcumsumexp_out(Variable& out, const auto&... a) {
  return detail::write_out("logcumsumexp", out, logcumsumexp(a...));
}
Variable& prod_out(Variable& out, const auto&... a) { return detail::write_out("prod", out, prod(a...)); }
Variable& softmax_out(Variable& out, const auto&... a) {
  return detail::write_out("softmax", out, softmax(a...));
}

// Products: out has the result's dtype.
Variable& addbmm_out(Variable& out, const auto&... a) {
  return detail::write_out("addbmm", out, addbmm(a...), true);
}
Variable& addmm_out(Variable& out, const auto&... a) {
  return detail::write_out("addmm", out, addmm(a...), true);
}
Variable& addmv_out(Variable& out, const auto&... a) {
  return detail::write_out("addmv", out, addmv(a...), true);
}
Variable& addr_out(Variable& out, const auto&... a) {
  return detail::write_out("addr", out, addr(a...), true);
}
Variable& baddbmm_out(Variable& out, const auto&... a) {
  return detail::write_out("baddbmm", out, baddbmm(a...), true);
}
Variable& bmm_out(Variable& out, const auto&... a) { return detail::write_out("bmm", out, bmm(a...), true); }
Variable& chain_matmul_out(Variable& out, const auto&... a) {
  return detail::write_out("chain_matmul", out, chain_matmul(a...), true);
}
Variable& cross_out(Variable& out, const auto&... a) {
  return detail::write_out("cross", out, cross(a...), true);
}
Variable& dot_out(Variable& out, const auto&... a) { return detail::write_out("dot", out, dot(a...), true); }
Variable& inner_out(Variable& out, const auto&... a) {
  return detail::write_out("inner", out, inner(a...), true);
}
Variable& kron_out(Variable& out, const auto&... a) {
  return detail::write_out("kron", out, kron(a...), true);
}
Variable& linalg_matmul_out(Variable& out, const auto&... a) {
  return detail::write_out("linalg_matmul", out, linalg_matmul(a...), true);
}
Variable& linalg_matrix_power_out(Variable& out, const auto&... a) {
  return detail::write_out("linalg_matrix_power", out, linalg_matrix_power(a...), true);
}
Variable& linear_out(Variable& out, const auto&... a) {
  return detail::write_out("linear", out, linear(a...), true);
}
Variable& matmul_out(Variable& out, const auto&... a) {
  return detail::write_out("matmul", out, matmul(a...), true);
}
Variable& matrix_power_out(Variable& out, const auto&... a) {
  return detail::write_out("matrix_power", out, matrix_power(a...), true);
}
Variable& mm_out(Variable& out, const auto&... a) { return detail::write_out("mm", out, mm(a...), true); }
Variable& mv_out(Variable& out, const auto&... a) { return detail::write_out("mv", out, mv(a...), true); }
Variable& outer_out(Variable& out, const auto&... a) {
  return detail::write_out("outer", out, outer(a...), true);
}
Variable& vdot_out(Variable& out, const auto&... a) {
  return detail::write_out("vdot", out, vdot(a...), true);
}

// Elements picked and moved: out has the result's dtype.
Variable& bucketize_out(Variable& out, const auto&... a) {
  return detail::write_out("bucketize", out, bucketize(a...), true);
}
Variable& diag_out(Variable& out, const auto&... a) {
  return detail::write_out("diag", out, diag(a...), true);
}
Variable& gather_out(Variable& out, const auto&... a) {
  return detail::write_out("gather", out, gather(a...), true);
}
Variable& index_add_out(Variable& out, const auto&... a) {
  return detail::write_out("index_add", out, index_add(a...), true);
}
Variable& index_copy_out(Variable& out, const auto&... a) {
  return detail::write_out("index_copy", out, index_copy(a...), true);
}
Variable& index_select_out(Variable& out, const auto&... a) {
  return detail::write_out("index_select", out, index_select(a...), true);
}
Variable& index_reduce_out(Variable& out, const auto&... a) {
  return detail::write_out("index_reduce", out, index_reduce(a...), true);
}
Variable& masked_select_out(Variable& out, const auto&... a) {
  return detail::write_out("masked_select", out, masked_select(a...), true);
}
Variable& multinomial_out(Variable& out, const auto&... a) {
  return detail::write_out("multinomial", out, multinomial(a...), true);
}
Variable& nonzero_out(Variable& out, const auto&... a) {
  return detail::write_out("nonzero", out, nonzero(a...), true);
}
Variable& scatter_out(Variable& out, const auto&... a) {
  return detail::write_out("scatter", out, scatter(a...), true);
}
Variable& scatter_add_out(Variable& out, const auto&... a) {
  return detail::write_out("scatter_add", out, scatter_add(a...), true);
}
Variable& scatter_reduce_out(Variable& out, const auto&... a) {
  return detail::write_out("scatter_reduce", out, scatter_reduce(a...), true);
}
Variable& searchsorted_out(Variable& out, const auto&... a) {
  return detail::write_out("searchsorted", out, searchsorted(a...), true);
}
Variable& take_out(Variable& out, const auto&... a) {
  return detail::write_out("take", out, take(a...), true);
}
Variable& take_along_dim_out(Variable& out, const auto&... a) {
  return detail::write_out("take_along_dim", out, take_along_dim(a...), true);
}
Variable& tril_out(Variable& out, const auto&... a) {
  return detail::write_out("tril", out, tril(a...), true);
}
Variable& triu_out(Variable& out, const auto&... a) {
  return detail::write_out("triu", out, triu(a...), true);
}

}  // namespace ebb
