// The forms of ops that write into a tensor that is there: f_out(out, arguments of f...).
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

/// f_out of every overload of f, with its defaults.
template <class F, bool kExact>
class OutForm {
 public:
  constexpr OutForm(const char* op, F f) : op_(op), f_(f) {}
  template <class... A>
  Variable& operator()(Variable& out, const A&... arguments) const {
    return write_out(op_, out, f_(arguments...), kExact);
  }

 private:
  const char* op_;
  F f_;
};
template <class F>
struct OutOf : OutForm<F, false> {
  using OutForm<F, false>::OutForm;
};
template <class F>
OutOf(const char*, F) -> OutOf<F>;
template <class F>
struct ExactOut : OutForm<F, true> {
  using OutForm<F, true>::OutForm;
};
template <class F>
ExactOut(const char*, F) -> ExactOut<F>;

}  // namespace detail

// The result is computed and then copied: for programs written so, and no faster than f. Views, convolutions,
// pools and losses have no such form. (torch.f(..., out=out))

// Functions of each element.
inline constexpr detail::OutOf abs_out{"abs", [](auto&... a) { return abs(a...); }};
inline constexpr detail::OutOf absolute_out{"absolute", [](auto&... a) { return absolute(a...); }};
inline constexpr detail::OutOf acos_out{"acos", [](auto&... a) { return acos(a...); }};
inline constexpr detail::OutOf arccos_out{"arccos", [](auto&... a) { return arccos(a...); }};
inline constexpr detail::OutOf acosh_out{"acosh", [](auto&... a) { return acosh(a...); }};
inline constexpr detail::OutOf arccosh_out{"arccosh", [](auto&... a) { return arccosh(a...); }};
inline constexpr detail::OutOf asin_out{"asin", [](auto&... a) { return asin(a...); }};
inline constexpr detail::OutOf arcsin_out{"arcsin", [](auto&... a) { return arcsin(a...); }};
inline constexpr detail::OutOf asinh_out{"asinh", [](auto&... a) { return asinh(a...); }};
inline constexpr detail::OutOf arcsinh_out{"arcsinh", [](auto&... a) { return arcsinh(a...); }};
inline constexpr detail::OutOf atan_out{"atan", [](auto&... a) { return atan(a...); }};
inline constexpr detail::OutOf arctan_out{"arctan", [](auto&... a) { return arctan(a...); }};
inline constexpr detail::OutOf atanh_out{"atanh", [](auto&... a) { return atanh(a...); }};
inline constexpr detail::OutOf arctanh_out{"arctanh", [](auto&... a) { return arctanh(a...); }};
inline constexpr detail::OutOf bitwise_not_out{"bitwise_not", [](auto&... a) { return bitwise_not(a...); }};
inline constexpr detail::OutOf ceil_out{"ceil", [](auto&... a) { return ceil(a...); }};
inline constexpr detail::OutOf cos_out{"cos", [](auto&... a) { return cos(a...); }};
inline constexpr detail::OutOf cosh_out{"cosh", [](auto&... a) { return cosh(a...); }};
inline constexpr detail::OutOf deg2rad_out{"deg2rad", [](auto&... a) { return deg2rad(a...); }};
inline constexpr detail::OutOf digamma_out{"digamma", [](auto&... a) { return digamma(a...); }};
inline constexpr detail::OutOf elu_out{"elu", [](auto&... a) { return elu(a...); }};
inline constexpr detail::OutOf erf_out{"erf", [](auto&... a) { return erf(a...); }};
inline constexpr detail::OutOf erfc_out{"erfc", [](auto&... a) { return erfc(a...); }};
inline constexpr detail::OutOf erfinv_out{"erfinv", [](auto&... a) { return erfinv(a...); }};
inline constexpr detail::OutOf exp_out{"exp", [](auto&... a) { return exp(a...); }};
inline constexpr detail::OutOf exp2_out{"exp2", [](auto&... a) { return exp2(a...); }};
inline constexpr detail::OutOf expm1_out{"expm1", [](auto&... a) { return expm1(a...); }};
inline constexpr detail::OutOf fix_out{"fix", [](auto&... a) { return fix(a...); }};
inline constexpr detail::OutOf floor_out{"floor", [](auto&... a) { return floor(a...); }};
inline constexpr detail::OutOf frac_out{"frac", [](auto&... a) { return frac(a...); }};
inline constexpr detail::OutOf gelu_out{"gelu", [](auto&... a) { return gelu(a...); }};
inline constexpr detail::OutOf hardshrink_out{"hardshrink", [](auto&... a) { return hardshrink(a...); }};
inline constexpr detail::OutOf hardsigmoid_out{"hardsigmoid", [](auto&... a) { return hardsigmoid(a...); }};
inline constexpr detail::OutOf hardswish_out{"hardswish", [](auto&... a) { return hardswish(a...); }};
inline constexpr detail::OutOf hardtanh_out{"hardtanh", [](auto&... a) { return hardtanh(a...); }};
inline constexpr detail::OutOf i0_out{"i0", [](auto&... a) { return i0(a...); }};
inline constexpr detail::OutOf isneginf_out{"isneginf", [](auto&... a) { return isneginf(a...); }};
inline constexpr detail::OutOf isposinf_out{"isposinf", [](auto&... a) { return isposinf(a...); }};
inline constexpr detail::OutOf leaky_relu_out{"leaky_relu", [](auto&... a) { return leaky_relu(a...); }};
inline constexpr detail::OutOf lgamma_out{"lgamma", [](auto&... a) { return lgamma(a...); }};
inline constexpr detail::OutOf log_out{"log", [](auto&... a) { return log(a...); }};
inline constexpr detail::OutOf log10_out{"log10", [](auto&... a) { return log10(a...); }};
inline constexpr detail::OutOf log1p_out{"log1p", [](auto&... a) { return log1p(a...); }};
inline constexpr detail::OutOf log2_out{"log2", [](auto&... a) { return log2(a...); }};
inline constexpr detail::OutOf log_sigmoid_out{"log_sigmoid", [](auto&... a) { return log_sigmoid(a...); }};
inline constexpr detail::OutOf logical_not_out{"logical_not", [](auto&... a) { return logical_not(a...); }};
inline constexpr detail::OutOf logit_out{"logit", [](auto&... a) { return logit(a...); }};
inline constexpr detail::OutOf mish_out{"mish", [](auto&... a) { return mish(a...); }};
inline constexpr detail::OutOf nan_to_num_out{"nan_to_num", [](auto&... a) { return nan_to_num(a...); }};
inline constexpr detail::OutOf neg_out{"neg", [](auto&... a) { return neg(a...); }};
inline constexpr detail::OutOf negative_out{"negative", [](auto&... a) { return negative(a...); }};
inline constexpr detail::OutOf polygamma_out{"polygamma", [](auto&... a) { return polygamma(a...); }};
inline constexpr detail::OutOf rad2deg_out{"rad2deg", [](auto&... a) { return rad2deg(a...); }};
inline constexpr detail::OutOf reciprocal_out{"reciprocal", [](auto&... a) { return reciprocal(a...); }};
inline constexpr detail::OutOf round_out{"round", [](auto&... a) { return round(a...); }};
inline constexpr detail::OutOf rsqrt_out{"rsqrt", [](auto&... a) { return rsqrt(a...); }};
inline constexpr detail::OutOf sgn_out{"sgn", [](auto&... a) { return sgn(a...); }};
inline constexpr detail::OutOf sigmoid_out{"sigmoid", [](auto&... a) { return sigmoid(a...); }};
inline constexpr detail::OutOf sign_out{"sign", [](auto&... a) { return sign(a...); }};
inline constexpr detail::OutOf signbit_out{"signbit", [](auto&... a) { return signbit(a...); }};
inline constexpr detail::OutOf silu_out{"silu", [](auto&... a) { return silu(a...); }};
inline constexpr detail::OutOf sin_out{"sin", [](auto&... a) { return sin(a...); }};
inline constexpr detail::OutOf sinc_out{"sinc", [](auto&... a) { return sinc(a...); }};
inline constexpr detail::OutOf sinh_out{"sinh", [](auto&... a) { return sinh(a...); }};
inline constexpr detail::OutOf softplus_out{"softplus", [](auto&... a) { return softplus(a...); }};
inline constexpr detail::OutOf softshrink_out{"softshrink", [](auto&... a) { return softshrink(a...); }};
inline constexpr detail::OutOf sqrt_out{"sqrt", [](auto&... a) { return sqrt(a...); }};
inline constexpr detail::OutOf square_out{"square", [](auto&... a) { return square(a...); }};
inline constexpr detail::OutOf tan_out{"tan", [](auto&... a) { return tan(a...); }};
inline constexpr detail::OutOf tanh_out{"tanh", [](auto&... a) { return tanh(a...); }};
inline constexpr detail::OutOf threshold_out{"threshold", [](auto&... a) { return threshold(a...); }};
inline constexpr detail::OutOf trunc_out{"trunc", [](auto&... a) { return trunc(a...); }};
inline constexpr detail::OutOf clamp_out{"clamp", [](auto&... a) { return clamp(a...); }};
inline constexpr detail::OutOf clamp_max_out{"clamp_max", [](auto&... a) { return clamp_max(a...); }};
inline constexpr detail::OutOf clamp_min_out{"clamp_min", [](auto&... a) { return clamp_min(a...); }};
inline constexpr detail::OutOf clip_out{"clip", [](auto&... a) { return clip(a...); }};

// Of two or three tensors, or a tensor and a number.
inline constexpr detail::OutOf add_out{"add", [](auto&... a) { return add(a...); }};
inline constexpr detail::OutOf addcdiv_out{"addcdiv", [](auto&... a) { return addcdiv(a...); }};
inline constexpr detail::OutOf addcmul_out{"addcmul", [](auto&... a) { return addcmul(a...); }};
inline constexpr detail::OutOf atan2_out{"atan2", [](auto&... a) { return atan2(a...); }};
inline constexpr detail::OutOf arctan2_out{"arctan2", [](auto&... a) { return arctan2(a...); }};
inline constexpr detail::OutOf bitwise_and_out{"bitwise_and", [](auto&... a) { return bitwise_and(a...); }};
inline constexpr detail::OutOf bitwise_left_shift_out{"bitwise_left_shift",
                                                      [](auto&... a) { return bitwise_left_shift(a...); }};
inline constexpr detail::OutOf bitwise_or_out{"bitwise_or", [](auto&... a) { return bitwise_or(a...); }};
inline constexpr detail::OutOf bitwise_right_shift_out{"bitwise_right_shift",
                                                       [](auto&... a) { return bitwise_right_shift(a...); }};
inline constexpr detail::OutOf bitwise_xor_out{"bitwise_xor", [](auto&... a) { return bitwise_xor(a...); }};
inline constexpr detail::OutOf copysign_out{"copysign", [](auto&... a) { return copysign(a...); }};
inline constexpr detail::OutOf div_out{"div", [](auto&... a) { return div(a...); }};
inline constexpr detail::OutOf divide_out{"divide", [](auto&... a) { return divide(a...); }};
inline constexpr detail::OutOf eq_out{"eq", [](auto&... a) { return eq(a...); }};
inline constexpr detail::OutOf float_power_out{"float_power", [](auto&... a) { return float_power(a...); }};
inline constexpr detail::OutOf floor_divide_out{"floor_divide",
                                                [](auto&... a) { return floor_divide(a...); }};
inline constexpr detail::OutOf fmax_out{"fmax", [](auto&... a) { return fmax(a...); }};
inline constexpr detail::OutOf fmin_out{"fmin", [](auto&... a) { return fmin(a...); }};
inline constexpr detail::OutOf fmod_out{"fmod", [](auto&... a) { return fmod(a...); }};
inline constexpr detail::OutOf gcd_out{"gcd", [](auto&... a) { return gcd(a...); }};
inline constexpr detail::OutOf ge_out{"ge", [](auto&... a) { return ge(a...); }};
inline constexpr detail::OutOf greater_out{"greater", [](auto&... a) { return greater(a...); }};
inline constexpr detail::OutOf greater_equal_out{"greater_equal",
                                                 [](auto&... a) { return greater_equal(a...); }};
inline constexpr detail::OutOf gt_out{"gt", [](auto&... a) { return gt(a...); }};
inline constexpr detail::OutOf heaviside_out{"heaviside", [](auto&... a) { return heaviside(a...); }};
inline constexpr detail::OutOf hypot_out{"hypot", [](auto&... a) { return hypot(a...); }};
inline constexpr detail::OutOf isin_out{"isin", [](auto&... a) { return isin(a...); }};
inline constexpr detail::OutOf lcm_out{"lcm", [](auto&... a) { return lcm(a...); }};
inline constexpr detail::OutOf ldexp_out{"ldexp", [](auto&... a) { return ldexp(a...); }};
inline constexpr detail::OutOf le_out{"le", [](auto&... a) { return le(a...); }};
inline constexpr detail::OutOf less_out{"less", [](auto&... a) { return less(a...); }};
inline constexpr detail::OutOf less_equal_out{"less_equal", [](auto&... a) { return less_equal(a...); }};
inline constexpr detail::OutOf lerp_out{"lerp", [](auto&... a) { return lerp(a...); }};
inline constexpr detail::OutOf logaddexp_out{"logaddexp", [](auto&... a) { return logaddexp(a...); }};
inline constexpr detail::OutOf logaddexp2_out{"logaddexp2", [](auto&... a) { return logaddexp2(a...); }};
inline constexpr detail::OutOf logical_and_out{"logical_and", [](auto&... a) { return logical_and(a...); }};
inline constexpr detail::OutOf logical_or_out{"logical_or", [](auto&... a) { return logical_or(a...); }};
inline constexpr detail::OutOf logical_xor_out{"logical_xor", [](auto&... a) { return logical_xor(a...); }};
inline constexpr detail::OutOf lt_out{"lt", [](auto&... a) { return lt(a...); }};
inline constexpr detail::OutOf maximum_out{"maximum", [](auto&... a) { return maximum(a...); }};
inline constexpr detail::OutOf minimum_out{"minimum", [](auto&... a) { return minimum(a...); }};
inline constexpr detail::OutOf mul_out{"mul", [](auto&... a) { return mul(a...); }};
inline constexpr detail::OutOf multiply_out{"multiply", [](auto&... a) { return multiply(a...); }};
inline constexpr detail::OutOf ne_out{"ne", [](auto&... a) { return ne(a...); }};
inline constexpr detail::OutOf not_equal_out{"not_equal", [](auto&... a) { return not_equal(a...); }};
inline constexpr detail::OutOf pow_out{"pow", [](auto&... a) { return pow(a...); }};
inline constexpr detail::OutOf remainder_out{"remainder", [](auto&... a) { return remainder(a...); }};
inline constexpr detail::OutOf sub_out{"sub", [](auto&... a) { return sub(a...); }};
inline constexpr detail::OutOf subtract_out{"subtract", [](auto&... a) { return subtract(a...); }};
inline constexpr detail::OutOf true_divide_out{"true_divide", [](auto&... a) { return true_divide(a...); }};
inline constexpr detail::OutOf where_out{"where", [](auto&... a) { return where(a...); }};
inline constexpr detail::OutOf xlogy_out{"xlogy", [](auto&... a) { return xlogy(a...); }};

// Along a dimension.
inline constexpr detail::OutOf argmax_out{"argmax", [](auto&... a) { return argmax(a...); }};
inline constexpr detail::OutOf argmin_out{"argmin", [](auto&... a) { return argmin(a...); }};
inline constexpr detail::OutOf cumprod_out{"cumprod", [](auto&... a) { return cumprod(a...); }};
inline constexpr detail::OutOf cumsum_out{"cumsum", [](auto&... a) { return cumsum(a...); }};
inline constexpr detail::OutOf diff_out{"diff", [](auto&... a) { return diff(a...); }};
inline constexpr detail::OutOf glu_out{"glu", [](auto&... a) { return glu(a...); }};
inline constexpr detail::OutOf log_softmax_out{"log_softmax", [](auto&... a) { return log_softmax(a...); }};
inline constexpr detail::OutOf logcumsumexp_out{"logcumsumexp",
                                                [](auto&... a) { return logcumsumexp(a...); }};
inline constexpr detail::OutOf prod_out{"prod", [](auto&... a) { return prod(a...); }};
inline constexpr detail::OutOf softmax_out{"softmax", [](auto&... a) { return softmax(a...); }};

// Products: out has the result's dtype.
inline constexpr detail::ExactOut addbmm_out{"addbmm", [](auto&... a) { return addbmm(a...); }};
inline constexpr detail::ExactOut addmm_out{"addmm", [](auto&... a) { return addmm(a...); }};
inline constexpr detail::ExactOut addmv_out{"addmv", [](auto&... a) { return addmv(a...); }};
inline constexpr detail::ExactOut addr_out{"addr", [](auto&... a) { return addr(a...); }};
inline constexpr detail::ExactOut baddbmm_out{"baddbmm", [](auto&... a) { return baddbmm(a...); }};
inline constexpr detail::ExactOut bmm_out{"bmm", [](auto&... a) { return bmm(a...); }};
inline constexpr detail::ExactOut chain_matmul_out{"chain_matmul",
                                                   [](auto&... a) { return chain_matmul(a...); }};
inline constexpr detail::ExactOut cross_out{"cross", [](auto&... a) { return cross(a...); }};
inline constexpr detail::ExactOut dot_out{"dot", [](auto&... a) { return dot(a...); }};
inline constexpr detail::ExactOut inner_out{"inner", [](auto&... a) { return inner(a...); }};
inline constexpr detail::ExactOut kron_out{"kron", [](auto&... a) { return kron(a...); }};
inline constexpr detail::ExactOut linalg_matmul_out{"linalg_matmul",
                                                    [](auto&... a) { return linalg_matmul(a...); }};
inline constexpr detail::ExactOut linalg_matrix_power_out{
    "linalg_matrix_power", [](auto&... a) { return linalg_matrix_power(a...); }};
inline constexpr detail::ExactOut linear_out{"linear", [](auto&... a) { return linear(a...); }};
inline constexpr detail::ExactOut matmul_out{"matmul", [](auto&... a) { return matmul(a...); }};
inline constexpr detail::ExactOut matrix_power_out{"matrix_power",
                                                   [](auto&... a) { return matrix_power(a...); }};
inline constexpr detail::ExactOut mm_out{"mm", [](auto&... a) { return mm(a...); }};
inline constexpr detail::ExactOut mv_out{"mv", [](auto&... a) { return mv(a...); }};
inline constexpr detail::ExactOut outer_out{"outer", [](auto&... a) { return outer(a...); }};
inline constexpr detail::ExactOut vdot_out{"vdot", [](auto&... a) { return vdot(a...); }};

// Elements picked and moved: out has the result's dtype.
inline constexpr detail::ExactOut bucketize_out{"bucketize", [](auto&... a) { return bucketize(a...); }};
inline constexpr detail::ExactOut diag_out{"diag", [](auto&... a) { return diag(a...); }};
inline constexpr detail::ExactOut gather_out{"gather", [](auto&... a) { return gather(a...); }};
inline constexpr detail::ExactOut index_add_out{"index_add", [](auto&... a) { return index_add(a...); }};
inline constexpr detail::ExactOut index_copy_out{"index_copy", [](auto&... a) { return index_copy(a...); }};
inline constexpr detail::ExactOut index_select_out{"index_select",
                                                   [](auto&... a) { return index_select(a...); }};
inline constexpr detail::ExactOut index_reduce_out{"index_reduce",
                                                   [](auto&... a) { return index_reduce(a...); }};
inline constexpr detail::ExactOut masked_select_out{"masked_select",
                                                    [](auto&... a) { return masked_select(a...); }};
inline constexpr detail::ExactOut multinomial_out{"multinomial",
                                                  [](auto&... a) { return multinomial(a...); }};
inline constexpr detail::ExactOut nonzero_out{"nonzero", [](auto&... a) { return nonzero(a...); }};
inline constexpr detail::ExactOut scatter_out{"scatter", [](auto&... a) { return scatter(a...); }};
inline constexpr detail::ExactOut scatter_add_out{"scatter_add",
                                                  [](auto&... a) { return scatter_add(a...); }};
inline constexpr detail::ExactOut scatter_reduce_out{"scatter_reduce",
                                                     [](auto&... a) { return scatter_reduce(a...); }};
inline constexpr detail::ExactOut searchsorted_out{"searchsorted",
                                                   [](auto&... a) { return searchsorted(a...); }};
inline constexpr detail::ExactOut take_out{"take", [](auto&... a) { return take(a...); }};
inline constexpr detail::ExactOut take_along_dim_out{"take_along_dim",
                                                     [](auto&... a) { return take_along_dim(a...); }};
inline constexpr detail::ExactOut tril_out{"tril", [](auto&... a) { return tril(a...); }};
inline constexpr detail::ExactOut triu_out{"triu", [](auto&... a) { return triu(a...); }};

// Reductions. Without a dtype, sums and products are taken in out's.
inline Variable& sum_out(Variable& out, const Variable& x, OptionalIntArrayRef dim = nullopt,
                         bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return detail::write_out("sum", out, sum(x, dim, keepdim, dtype ? dtype : out.scalar_type()), true);
}
inline Variable& nansum_out(Variable& out, const Variable& x, OptionalIntArrayRef dim = nullopt,
                            bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return detail::write_out("nansum", out, nansum(x, dim, keepdim, dtype ? dtype : out.scalar_type()), true);
}
inline Variable& mean_out(Variable& out, const Variable& x, OptionalIntArrayRef dim = nullopt,
                          bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return detail::write_out("mean", out, mean(x, dim, keepdim, dtype ? dtype : out.scalar_type()), true);
}
inline Variable& nanmean_out(Variable& out, const Variable& x, OptionalIntArrayRef dim = nullopt,
                             bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return detail::write_out("nanmean", out, nanmean(x, dim, keepdim, dtype ? dtype : out.scalar_type()), true);
}
inline Variable& amax_out(Variable& out, const Variable& x, IntArrayRef dim = {}, bool keepdim = false) {
  return detail::write_out("amax", out, amax(x, dim, keepdim), true);
}
inline Variable& amin_out(Variable& out, const Variable& x, IntArrayRef dim = {}, bool keepdim = false) {
  return detail::write_out("amin", out, amin(x, dim, keepdim), true);
}
inline Variable& any_out(Variable& out, const Variable& x, OptionalIntArrayRef dim = nullopt,
                         bool keepdim = false) {
  return detail::write_out("any", out, any(x, dim, keepdim));
}
inline Variable& all_out(Variable& out, const Variable& x, OptionalIntArrayRef dim = nullopt,
                         bool keepdim = false) {
  return detail::write_out("all", out, all(x, dim, keepdim));
}
template <class... A>
Variable& var_out(Variable& out, const Variable& x, OptionalIntArrayRef dim, const A&... a) {
  return detail::write_out("var", out, var(x, dim, a...));
}
template <class... A>
Variable& std_out(Variable& out, const Variable& x, OptionalIntArrayRef dim, const A&... a) {
  return detail::write_out("std", out, ebb::std(x, dim, a...));
}
template <class... A>
Variable& norm_out(Variable& out, const Variable& x, const optional<Scalar>& p, IntArrayRef dim,
                   const A&... a) {
  return detail::write_out("norm", out, norm(x, p, dim, a...));
}
inline Variable& logsumexp_out(Variable& out, const Variable& x, IntArrayRef dim, bool keepdim = false) {
  return detail::write_out("logsumexp", out, logsumexp(x, dim, keepdim));
}

// Two results at once.
inline Variable& max_out(Variable& out, const Variable& x) { return detail::write_out("max", out, max(x)); }
inline Variable& min_out(Variable& out, const Variable& x) { return detail::write_out("min", out, min(x)); }
inline Variable& max_out(Variable& out, const Variable& x, const Variable& other) {
  return detail::write_out("max", out, max(x, other));
}
inline Variable& min_out(Variable& out, const Variable& x, const Variable& other) {
  return detail::write_out("min", out, min(x, other));
}
inline detail::TwoOut max_out(Variable& values, Variable& indices, const Variable& x, std::int64_t dim,
                              bool keepdim = false) {
  return detail::write_out("max", values, indices, max(x, dim, keepdim));
}
inline detail::TwoOut min_out(Variable& values, Variable& indices, const Variable& x, std::int64_t dim,
                              bool keepdim = false) {
  return detail::write_out("min", values, indices, min(x, dim, keepdim));
}
template <class... A>
detail::TwoOut aminmax_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("aminmax", first, second, aminmax(x, a...));
}
template <class... A>
detail::TwoOut cummax_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("cummax", first, second, cummax(x, a...));
}
template <class... A>
detail::TwoOut cummin_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("cummin", first, second, cummin(x, a...));
}
template <class... A>
detail::TwoOut kthvalue_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("kthvalue", first, second, kthvalue(x, a...));
}
template <class... A>
detail::TwoOut mode_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("mode", first, second, mode(x, a...));
}
template <class... A>
detail::TwoOut sort_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("sort", first, second, sort(x, a...));
}
template <class... A>
detail::TwoOut topk_out(Variable& first, Variable& second, const Variable& x, const A&... a) {
  return detail::write_out("topk", first, second, topk(x, a...));
}

// Lists of tensors, which may stand in braces.
inline Variable& cat_out(Variable& out, TensorList tensors, std::int64_t dim = 0) {
  return detail::write_out("cat", out, cat(tensors, dim));
}
inline Variable& concat_out(Variable& out, TensorList tensors, std::int64_t dim = 0) {
  return detail::write_out("concat", out, concat(tensors, dim));
}
inline Variable& concatenate_out(Variable& out, TensorList tensors, std::int64_t dim = 0) {
  return detail::write_out("concatenate", out, concatenate(tensors, dim));
}
inline Variable& stack_out(Variable& out, TensorList tensors, std::int64_t dim = 0) {
  return detail::write_out("stack", out, stack(tensors, dim));
}
inline Variable& column_stack_out(Variable& out, TensorList tensors) {
  return detail::write_out("column_stack", out, column_stack(tensors));
}
inline Variable& dstack_out(Variable& out, TensorList tensors) {
  return detail::write_out("dstack", out, dstack(tensors));
}
inline Variable& hstack_out(Variable& out, TensorList tensors) {
  return detail::write_out("hstack", out, hstack(tensors));
}
inline Variable& row_stack_out(Variable& out, TensorList tensors) {
  return detail::write_out("row_stack", out, row_stack(tensors));
}
inline Variable& vstack_out(Variable& out, TensorList tensors) {
  return detail::write_out("vstack", out, vstack(tensors));
}

// New values in out's dtype, on its device.
inline Variable& zeros_out(Variable& out, IntArrayRef size) {
  return detail::write_out("zeros", out, zeros(size, out.options()));
}
inline Variable& ones_out(Variable& out, IntArrayRef size) {
  return detail::write_out("ones", out, ones(size, out.options()));
}
inline Variable& rand_out(Variable& out, IntArrayRef size) {
  return detail::write_out("rand", out, rand(size, out.options()));
}
inline Variable& randn_out(Variable& out, IntArrayRef size) {
  return detail::write_out("randn", out, randn(size, out.options()));
}
inline Variable& empty_out(Variable& out, IntArrayRef size) {
  return detail::write_out("empty", out, empty(size, out.options()));
}
inline Variable& full_out(Variable& out, IntArrayRef size, const Scalar& value) {
  return detail::write_out("full", out, full(size, value, out.options()));
}
inline Variable& randint_out(Variable& out, std::int64_t high, IntArrayRef size) {
  return detail::write_out("randint", out, randint(high, size, out.options()));
}
inline Variable& randint_out(Variable& out, std::int64_t low, std::int64_t high, IntArrayRef size) {
  return detail::write_out("randint", out, randint(low, high, size, out.options()));
}
inline Variable& normal_out(Variable& out, double mean, double std, IntArrayRef size) {
  return detail::write_out("normal", out, normal(mean, std, size, nullopt, out.options()));
}
template <class... A>
Variable& normal_out(Variable& out, const A&... a) {
  return detail::write_out("normal", out, normal(a...));
}
template <class... A>
Variable& arange_out(Variable& out, const A&... a) {
  return detail::write_out("arange", out, arange(a..., out.options()));
}
template <class... A>
Variable& eye_out(Variable& out, const A&... a) {
  return detail::write_out("eye", out, eye(a..., out.options()));
}
template <class... A>
Variable& linspace_out(Variable& out, const A&... a) {
  return detail::write_out("linspace", out, linspace(a..., out.options()));
}
template <class... A>
Variable& logspace_out(Variable& out, const A&... a) {
  return detail::write_out("logspace", out, logspace(a..., out.options()));
}
template <class... A>
Variable& randperm_out(Variable& out, const A&... a) {
  return detail::write_out("randperm", out, randperm(a..., out.options()));
}
template <class... A>
Variable& range_out(Variable& out, const A&... a) {
  return detail::write_out("range", out, range(a..., out.options()));
}

}  // namespace ebb
