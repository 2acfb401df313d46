// max, min, amax, amin and aminmax.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/common/values_indices.h"
#include "ops/reduce/kernels.h"

namespace ebb {
namespace ops {
namespace {

void check_not_empty(const char* op, const Variable& x, DimMask mask) {
  for (std::size_t d = 0; d < x.sizes().size(); ++d)
    EBB_CHECK_INDEX(!((mask >> d) & 1) || x.sizes()[d] > 0, op, ": Expected reduction dim ", std::uint64_t{d},
                    " to have non-zero size, got shape ", x.sizes(),
                    ". An empty reduction has no maximum or minimum.");
}

NdArray extreme(const Variable& x, DimMask mask, bool keepdim, bool largest) {
  const NdArray& in = x.array();
  NdArray out = NdArray::empty(reduced_sizes(in.sizes(), mask, keepdim), in.dtype(), in.device());
  (largest ? kernels::amax : kernels::amin)(in.device(), out, in, mask);
  return out;
}

// The node of max() and min() of all elements. Equal elements share the gradient.
struct ExtremeOfAllBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  bool largest = true;
  std::string name() const override { return largest ? "MaxBackward1" : "MinBackward1"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {share_evenly(grads[0], self.unpack(), result.unpack())};
  }
};

// Returns the gradient of amax and amin. Elements that equal the result share the gradient of the result. A
// NaN equals no element, so the gradients of all elements that are reduced to a NaN are NaN, as in torch.
Variable share_along(const Variable& grad, const Variable& self, const Variable& result, DimMask mask,
                     bool keepdim) {
  const Variable equal = self.detach().eq(restore_dims(result.detach(), self.sizes(), mask, keepdim));
  const DType wide = wide_dtype(grad.dtype());
  const Variable count = sum_over(equal, mask, true, wide, 1, "SumBackward1");
  return (restore_dims(grad, self.sizes(), mask, keepdim) * equal.to(wide) / count).to(grad.dtype());
}

struct ExtremeBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  DimMask mask = 0;
  bool keepdim = false, largest = true;
  std::string name() const override { return largest ? "AmaxBackward0" : "AminBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {share_along(grads[0], self.unpack(), result.unpack(), mask, keepdim)};
  }
};

struct AminmaxBackward : autograd::Node {
  autograd::SavedVariable self{this}, min{this}, max{this};
  DimMask mask = 0;
  bool keepdim = false;
  std::string name() const override { return "AminmaxBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    Variable result;
    if (grads[0].defined()) result = share_along(grads[0], x, min.unpack(), mask, keepdim);
    if (grads[1].defined()) {
      const Variable upper = share_along(grads[1], x, max.unpack(), mask, keepdim);
      result = result.defined() ? result + upper : upper;
    }
    return {std::move(result)};
  }
};

Variable extreme_of_all(const char* op, const Variable& self, bool largest) {
  EBB_CHECK(self.numel() > 0, op,
            ": Expected reduction dim to be specified for input.numel() == 0, got shape ", self.sizes(),
            ". An empty reduction has no maximum or minimum.");
  Variable result(extreme(self, all_dims(op, self), false, largest));
  if (const auto node = record_results<ExtremeOfAllBackward>({&result}, self)) {
    node->largest = largest;
    node->self.save(self);
    node->result.save_output(result);
  }
  return result;
}

Variable extreme_over(const char* op, const Variable& self, IntArrayRef dim, bool keepdim, bool largest) {
  const DimMask mask = dim_mask(op, self, dim);
  check_not_empty(op, self, mask);
  Variable result(extreme(self, mask, keepdim, largest));
  if (const auto node = record_results<ExtremeBackward>({&result}, self)) {
    node->mask = mask;
    node->keepdim = keepdim;
    node->largest = largest;
    node->self.save(self);
    node->result.save_output(result);
  }
  return result;
}

std::tuple<NdArray, NdArray> extreme_index(const NdArray& x, std::int64_t dim, bool keepdim, bool largest) {
  const DimVector sizes = reduced_sizes(x.sizes(), DimMask{1} << dim, keepdim);
  NdArray values = NdArray::empty(sizes, x.dtype(), x.device());
  NdArray indices = NdArray::empty(sizes, kLong, x.device());
  kernels::extreme_index(x.device(), values, indices, x, dim, largest);
  return {std::move(values), std::move(indices)};
}

std::tuple<Variable, Variable> extreme_along(const char* op, const Variable& self, std::int64_t dim,
                                             bool keepdim, bool largest) {
  const std::int64_t d = wrap_dim(op, dim, self.dim());
  check_not_empty(op, self, one_dim(op, self, d));
  auto [values, indices] = extreme_index(self.array(), d, keepdim, largest);
  return picked(self, std::move(values), std::move(indices), d, keepdim,
                largest ? "MaxBackward0" : "MinBackward0");
}

Variable arg_extreme(const char* op, const Variable& self, optional<std::int64_t> dim, bool keepdim,
                     bool largest) {
  EBB_CHECK(self.dtype() != kBool, op, ": does not take bool tensors; convert with .to(ebb::kByte).");
  if (dim) {
    const std::int64_t d = wrap_dim(op, *dim, self.dim());
    check_not_empty(op, self, one_dim(op, self, d));
    return Variable(std::get<1>(extreme_index(self.array(), d, keepdim, largest)));
  }
  EBB_CHECK(self.numel() > 0, op,
            ": Expected reduction dim to be specified for input.numel() == 0, got shape ", self.sizes(), ".");
  const NdArray in = contiguous_array(self.array());
  const NdArray index =
      std::get<1>(extreme_index(in.as_strided({in.numel()}, {1}, in.offset()), 0, false, largest));
  const DimVector ones = reduced_sizes(self.sizes(), all_dims(op, self), keepdim);
  return Variable(index.as_strided(ones, contiguous_strides(ones), 0));
}

}  // namespace
}  // namespace ops

Variable max(const Variable& self) { return ops::extreme_of_all("max", self, true); }
Variable min(const Variable& self) { return ops::extreme_of_all("min", self, false); }
std::tuple<Variable, Variable> max(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::extreme_along("max", self, dim, keepdim, true);
}
std::tuple<Variable, Variable> min(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::extreme_along("min", self, dim, keepdim, false);
}
Variable amax(const Variable& self, IntArrayRef dim, bool keepdim) {
  return ops::extreme_over("amax", self, dim, keepdim, true);
}
Variable amin(const Variable& self, IntArrayRef dim, bool keepdim) {
  return ops::extreme_over("amin", self, dim, keepdim, false);
}
Variable argmax(const Variable& self, optional<std::int64_t> dim, bool keepdim) {
  return ops::arg_extreme("argmax", self, dim, keepdim, true);
}
Variable argmin(const Variable& self, optional<std::int64_t> dim, bool keepdim) {
  return ops::arg_extreme("argmin", self, dim, keepdim, false);
}

std::tuple<Variable, Variable> aminmax(const Variable& self, optional<std::int64_t> dim, bool keepdim) {
  const DimMask mask = dim ? ops::one_dim("aminmax", self, *dim) : ops::all_dims("aminmax", self);
  ops::check_not_empty("aminmax", self, mask);
  Variable low(ops::extreme(self, mask, keepdim, false)), high(ops::extreme(self, mask, keepdim, true));
  if (const auto node = ops::record_results<ops::AminmaxBackward>({&low, &high}, self)) {
    node->mask = mask;
    node->keepdim = keepdim;
    node->self.save(self);
    node->min.save_output(low);
    node->max.save_output(high);
  }
  return {std::move(low), std::move(high)};
}

}  // namespace ebb
