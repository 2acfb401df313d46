// f_out(out, arguments of f...) for each op that has this form in libtorch. It writes the result into an
// existing tensor.
#pragma once

#include <ebb/methods/lists.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <tuple>

namespace ebb {

namespace detail {

/// Writes the result of `op` into `out`, which gets the result's shape. Warns if `out` was not empty and had
/// another shape. Throws if gradient mode is on and `out` or `result` requires grad, and if they are on
/// different devices. Also throws if the dtype of `result` has a higher kind (a float into integers). If
/// `exact`, throws for any difference of the dtypes.
EBB_API Variable& write_out(const char* op, Variable& out, const Variable& result, bool exact = false);
using TwoOut = std::tuple<Variable&, Variable&>;
EBB_API TwoOut write_out(const char* op, Variable& first, Variable& second,
                         const std::tuple<Variable, Variable>& results);

}  // namespace detail

// Each overload of f has a form f_out with the same default arguments. It computes the result and copies it
// to `out`, so it is not faster than f. Views, convolutions, pools and losses have no such form.
// (torch.f(..., out=out))

// clang-format off
// Elementwise ops and ops along a dimension, in addition to those of ebb/methods/lists.h.
#define EBB_OUT_OPS(X) \
  X(elu) X(gelu) X(hardshrink) X(hardsigmoid) X(hardswish) X(hardtanh) X(isneginf) X(isposinf) \
  X(leaky_relu) X(log_sigmoid) X(logit) X(mish) X(nan_to_num) X(polygamma) X(signbit) X(silu) \
  X(softplus) X(softshrink) X(threshold) X(clamp) X(clamp_max) X(clamp_min) X(clip) X(add) X(addcdiv) \
  X(addcmul) X(fmax) X(fmin) X(isin) X(lerp) X(logaddexp) X(logaddexp2) X(maximum) X(minimum) X(sub) \
  X(subtract) X(where) X(argmax) X(argmin) X(cumprod) X(cumsum) X(diff) X(glu) X(log_softmax) \
  X(logcumsumexp) X(prod) X(softmax)

// Matrix products, and ops that select and move elements: out must have the result's dtype.
#define EBB_EXACT_OUT_OPS(X) \
  X(addbmm) X(addmm) X(addmv) X(addr) X(baddbmm) X(bmm) X(chain_matmul) X(cross) X(dot) X(inner) \
  X(kron) X(linalg_matmul) X(linalg_matrix_power) X(linear) X(matmul) X(matrix_power) X(mm) X(mv) \
  X(outer) X(vdot) X(bucketize) X(diag) X(gather) X(index_add) X(index_copy) X(index_select) \
  X(index_reduce) X(masked_select) X(multinomial) X(nonzero) X(scatter) X(scatter_add) \
  X(scatter_reduce) X(searchsorted) X(take) X(take_along_dim) X(tril) X(triu)

// Ops with two results.
#define EBB_TWO_OUT_OPS(X) \
  X(aminmax) X(cummax) X(cummin) X(kthvalue) X(mode) X(sort) X(topk)

// Factories, with out's dtype and device.
#define EBB_FACTORY_OUT_OPS(X) \
  X(arange) X(eye) X(linspace) X(logspace) X(randperm) X(range)

// Ops that join lists of tensors, also in braces, along a dimension or without one.
#define EBB_JOIN_OUT_OPS(X) X(cat) X(concat) X(concatenate) X(stack)
#define EBB_STACK_OUT_OPS(X) X(column_stack) X(dstack) X(hstack) X(row_stack) X(vstack)

// Factories with sizes, which may also be in braces.
#define EBB_SIZED_OUT_OPS(X) X(zeros) X(ones) X(rand) X(randn) X(empty)
// clang-format on

#define EBB_OUT(op) \
  Variable& op##_out(Variable& out, const auto&... a) { return detail::write_out(#op, out, op(a...)); }
EBB_UNARY_OPS(EBB_OUT)
EBB_BINARY_OPS(EBB_OUT)
EBB_TENSOR_BINARY_OPS(EBB_OUT)
EBB_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_OUT_OPS

#define EBB_OUT(op) \
  Variable& op##_out(Variable& out, const auto&... a) { return detail::write_out(#op, out, op(a...), true); }
EBB_EXACT_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_EXACT_OUT_OPS

#define EBB_OUT(op)                                                                                 \
  detail::TwoOut op##_out(Variable& first, Variable& second, const Variable& x, const auto&... a) { \
    return detail::write_out(#op, first, second, op(x, a...));                                      \
  }
EBB_TWO_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_TWO_OUT_OPS

#define EBB_OUT(op)                                              \
  Variable& op##_out(Variable& out, const auto&... a) {          \
    return detail::write_out(#op, out, op(a..., out.options())); \
  }
EBB_FACTORY_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_FACTORY_OUT_OPS

#define EBB_OUT(op)                                                                    \
  inline Variable& op##_out(Variable& out, TensorList tensors, std::int64_t dim = 0) { \
    return detail::write_out(#op, out, op(tensors, dim));                              \
  }
EBB_JOIN_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_JOIN_OUT_OPS

#define EBB_OUT(op)                                              \
  inline Variable& op##_out(Variable& out, TensorList tensors) { \
    return detail::write_out(#op, out, op(tensors));             \
  }
EBB_STACK_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_STACK_OUT_OPS

#define EBB_OUT(op)                                              \
  inline Variable& op##_out(Variable& out, IntArrayRef size) {   \
    return detail::write_out(#op, out, op(size, out.options())); \
  }
EBB_SIZED_OUT_OPS(EBB_OUT)
#undef EBB_OUT
#undef EBB_SIZED_OUT_OPS

// Reductions. Without a dtype argument, sums and products are computed in out's dtype.
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
Variable& var_out(Variable& out, const Variable& x, OptionalIntArrayRef dim, const auto&... a) {
  return detail::write_out("var", out, var(x, dim, a...));
}
Variable& std_out(Variable& out, const Variable& x, OptionalIntArrayRef dim, const auto&... a) {
  return detail::write_out("std", out, ebb::std(x, dim, a...));
}
Variable& norm_out(Variable& out, const Variable& x, const optional<Scalar>& p, IntArrayRef dim,
                   const auto&... a) {
  return detail::write_out("norm", out, norm(x, p, dim, a...));
}
inline Variable& logsumexp_out(Variable& out, const Variable& x, IntArrayRef dim, bool keepdim = false) {
  return detail::write_out("logsumexp", out, logsumexp(x, dim, keepdim));
}

// Maxima and minima, with and without their indices.
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

// Factories with out's dtype and device.
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
Variable& normal_out(Variable& out, const auto&... a) {
  return detail::write_out("normal", out, normal(a...));
}

}  // namespace ebb
