// cosine_similarity and pairwise_distance.
#include <ebb/ops/creation.h>
#include <ebb/ops/norm.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/norm/backward.h"

#include <algorithm>

namespace ebb {

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
    // The clamp is hidden from autograd, as in torch: the gradient is that of the norm itself.
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
