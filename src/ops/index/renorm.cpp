// embedding_renorm_: limits the norms of the rows of a table.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/common/self.h"

namespace ebb {

Variable& embedding_renorm_(const Variable& self, const Variable& indices, double max_norm,
                            double norm_type) {
  const char* op = "embedding_renorm_";
  ops::common_device(op, self, indices);
  EBB_CHECK(self.dim() == 2, op, ": expected a table of 2 dimensions, got shape ", self.sizes(), ".");
  EBB_CHECK(indices.defined() && (indices.dtype() == kLong || indices.dtype() == kInt), op,
            ": expected indices in Long or Int, got ",
            indices.defined() ? to_string(indices.dtype()) : "none", ".");
  NoGradGuard no_grad;
  const Variable used = zeros({self.size(0)}, TensorOptions(kBool).device(self.device()))
                            .index_fill(0, indices.to(kLong).flatten(), true);
  const Variable norms = self.detach().norm(norm_type, 1);
  const Variable scale =
      where(used.logical_and(norms > max_norm), max_norm / (norms + 1e-7), ones_like(norms));
  mul_(self, scale.unsqueeze(1));
  return ops::mutable_self(self);
}

Variable embedding_renorm(const Variable& self, const Variable& indices, double max_norm, double norm_type) {
  const Variable copy = self.detach().clone();
  embedding_renorm_(copy, indices, max_norm, norm_type);
  return copy;
}

}  // namespace ebb
