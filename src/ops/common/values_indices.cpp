// Gradients of ops that return values and indices along a dimension (max, sort, topk).
#include "ops/common/values_indices.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/dims.h"
#include "ops/common/record.h"

namespace ebb::ops {
namespace {

struct PickBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  DimVector sizes;
  std::int64_t dim = 0;
  bool keepdim = true;
  const char* title = "";

  std::string name() const override { return title; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    if (sizes.empty()) return {std::move(grads[0])};
    const Variable index = indices.unpack();
    const Variable zero = zeros(sizes, grads[0].options());
    if (keepdim) return {zero.scatter_(dim, index, grads[0])};
    return {zero.scatter_(dim, index.unsqueeze(dim), grads[0].unsqueeze(dim))};
  }
};

}  // namespace

std::tuple<Variable, Variable> picked(const Variable& self, NdArray values, NdArray indices, std::int64_t dim,
                                      bool keepdim, const char* name) {
  Variable value(std::move(values)), index(std::move(indices));
  if (const auto node = record_results<PickBackward>({&value}, self)) {
    node->sizes = DimVector(self.sizes());
    node->dim = dim;
    node->keepdim = keepdim;
    node->title = name;
    node->indices.save(index);
  }
  return {std::move(value), std::move(index)};
}

Variable share_evenly(const Variable& grad, const Variable& self, const Variable& result) {
  const Variable value = result.detach();
  const Variable mask = self.detach().eq(value).logical_or(self.detach().isnan().logical_and(value.isnan()));
  const Variable share = (grad.to(wide_dtype(grad.dtype())) / mask.sum()).to(grad.dtype());
  return where(mask, share, zeros({}, grad.options()));
}

}  // namespace ebb::ops
