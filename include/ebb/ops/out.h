// f_out(out, arguments of f...) of reductions, of what gives two results, of lists and of new values; and of
// all others.
#pragma once

#include <ebb/ops/out_elements.h>

namespace ebb {

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
