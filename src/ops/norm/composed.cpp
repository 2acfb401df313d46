// Ops composed of others: native_group_norm, native_norm, norm_except_dim, cosine_similarity and
// pairwise_distance.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/norm/common.h"

#include <algorithm>

namespace ebb {

std::tuple<Variable, Variable, Variable> native_group_norm(const Variable& input,
                                                           const optional<Variable>& weight,
                                                           const optional<Variable>& bias, std::int64_t N,
                                                           std::int64_t C, std::int64_t HxW,
                                                           std::int64_t group, double eps) {
  EBB_CHECK(input.defined() && input.dim() >= 2 && input.size(0) == N && input.size(1) == C &&
                input.numel() == N * C * HxW,
            "native_group_norm: N = ", N, ", C = ", C, " and HxW = ", HxW,
            " are not the sizes of the input, ", input.defined() ? input.sizes() : IntArrayRef(), ".");
  const Variable out = group_norm(input, group, weight, bias, eps);
  const Variable rows =
      input.reshape({N, group, group > 0 ? C / group * HxW : 0}).to(ops::statistics_dtype(input.dtype()));
  return {out, rows.mean(-1), (rows.var(-1, false) + eps).rsqrt()};
}

Variable native_norm(const Variable& self, const Scalar& p) { return norm(self, p); }

Variable native_norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                     optional<ScalarType> dtype) {
  return dtype ? norm(self, p, dim, keepdim, *dtype) : norm(self, p, dim, keepdim);
}

Variable norm_except_dim(const Variable& v, std::int64_t pow, std::int64_t dim) {
  ops::check_defined("norm_except_dim", v);
  if (dim == -1) return norm(v, pow);
  EBB_CHECK_INDEX(dim >= 0 && dim < v.dim(), "norm_except_dim: dim ", dim, " is out of range for shape ",
                  v.sizes(), ".");
  DimVector sizes;
  sizes.assign(static_cast<std::size_t>(v.dim()), 1);
  sizes[dim] = v.size(dim);
  return norm(v.transpose(0, dim).reshape({v.size(dim), -1}), Scalar(pow), 1).view(sizes);
}

Variable cosine_similarity(const Variable& x1, const Variable& x2, std::int64_t dim, double eps) {
  EBB_AUTOCAST(cosine_similarity, x1, x2, dim, eps);
  const char* op = "cosine_similarity";
  ops::common_device(op, x1, x2);
  EBB_CHECK(eps >= 0, op, ": eps must be non-negative, got: ", eps, ". It bounds the norms from below.");
  const DType dtype = promote_types(x1.dtype(), x2.dtype());
  EBB_CHECK(is_floating(dtype), op, ": expected common dtype to be floating point, yet common dtype is ",
            dtype, ".");
  const DimVector sizes = broadcast_shapes(op, x1.sizes(), x2.sizes());
  const auto normalised = [&](const Variable& x) {
    const Variable v = x.to(dtype).expand(sizes);
    // The clamp is not recorded, as in torch, so the gradient is computed as if norm were not clamped.
    const Variable norm = v.norm(2, dim, /*keepdim=*/true).clone();
    {
      NoGradGuard no_grad;
      norm.detach().clamp_min_(eps);
    }
    return v / norm;
  };
  return (normalised(x1) * normalised(x2)).sum(dim);
}

Variable pairwise_distance(const Variable& x1, const Variable& x2, double p, double eps, bool keepdim) {
  ops::common_device("pairwise_distance", x1, x2);
  return (x1 - x2 + eps).norm(p, -1, keepdim);
}

}  // namespace ebb
