// sum, nansum and mean.
#include <ebb/autograd/record.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/reduce/kernels.h"

namespace ebb {
namespace ops {
namespace {

struct SumBackward : autograd::Node {
  const char* title = "SumBackward0";
  DimVector sizes;
  DimMask mask = 0;
  bool keepdim = false;
  double divisor = 1;

  std::string name() const override { return title; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    // Divides the gradient before it is expanded, while it has few elements. (sum_over() with the mask 0 only
    // divides.)
    const Variable grad =
        divisor == 1 ? std::move(grads[0]) : sum_over(grads[0], 0, false, nullopt, divisor, "DivBackward0");
    return {expand_reduced(grad, sizes, mask, keepdim)};
  }
};

}  // namespace

Variable sum_over(const Variable& x, DimMask mask, bool keepdim, optional<ScalarType> dtype, double divisor,
                  const char* name) {
  const NdArray in = summed_input(x.array(), dtype);
  const DType type = summed_dtype(in.dtype(), dtype);
  NdArray out = NdArray::empty(reduced_sizes(in.sizes(), mask, keepdim), type, in.device());
  kernels::sum(in.device(), out, in, mask, divisor);
  return record<SumBackward>(
      dtype && *dtype != type ? cast_array(out, *dtype) : std::move(out),
      [&](SumBackward& node) {
        node.title = name;
        node.sizes = DimVector(x.sizes());
        node.mask = mask;
        node.keepdim = keepdim;
        node.divisor = divisor;
      },
      x);
}

namespace {

Variable mean_over(const Variable& x, DimMask mask, bool keepdim, optional<ScalarType> dtype,
                   const char* name) {
  const DType type = dtype.value_or(x.dtype());
  EBB_CHECK(is_floating(type), "mean: expected a floating-point dtype, got ", type,
            ". Convert first, as in x.to(ebb::kFloat), or pass dtype.");
  return sum_over(x, mask, keepdim, dtype, static_cast<double>(reduced_count(x.sizes(), mask)), name);
}

struct NansumBackward : autograd::Node {
  autograd::SavedVariable self{this};
  DimMask mask = 0;
  bool keepdim = false;
  std::string name() const override { return "NansumBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    return {expand_reduced(grads[0], x.sizes(), mask, keepdim) * x.isnan().logical_not()};
  }
};

}  // namespace
}  // namespace ops

Variable sum(const Variable& self, optional<ScalarType> dtype) {
  EBB_AUTOCAST(sum, self, dtype);
  return ops::sum_over(self, ops::all_dims("sum", self), false, dtype, 1, "SumBackward0");
}
Variable sum(const Variable& self, OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) {
  EBB_AUTOCAST(sum, self, dim, keepdim, dtype);
  return ops::sum_over(self, ops::dim_mask("sum", self, dim), keepdim, dtype, 1, "SumBackward1");
}
Variable mean(const Variable& self, optional<ScalarType> dtype) {
  return ops::mean_over(self, ops::all_dims("mean", self), false, dtype, "MeanBackward0");
}
Variable mean(const Variable& self, OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) {
  return ops::mean_over(self, ops::dim_mask("mean", self, dim), keepdim, dtype, "MeanBackward1");
}

Variable nansum(const Variable& self, OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) {
  if (!is_floating(self.dtype())) return sum(self, dim, keepdim, dtype);
  const DimMask mask = ops::dim_mask("nansum", self, dim);
  if (dtype && !is_floating(*dtype)) return sum(self, dim, keepdim, dtype);
  const NdArray& in = self.array();
  NdArray out = NdArray::empty(ops::reduced_sizes(in.sizes(), mask, keepdim),
                               ops::summed_dtype(in.dtype(), dtype), in.device());
  kernels::nansum(in.device(), out, in, mask);
  return ops::record<ops::NansumBackward>(
      ops::cast_array(out, dtype.value_or(in.dtype())),
      [&](ops::NansumBackward& node) {
        node.mask = mask;
        node.keepdim = keepdim;
        node.self.save(self);
      },
      self);
}
Variable nanmean(const Variable& self, OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) {
  EBB_CHECK(is_floating(self.dtype()), "nanmean: expected a floating-point tensor, got ", self,
            ". Convert first, as in x.to(ebb::kFloat).");
  EBB_CHECK(!dtype || is_floating(*dtype), "nanmean: expected a floating-point dtype for the result, got ",
            *dtype, ".");
  return nansum(self, dim, keepdim, dtype) / sum(self.detach().isnan().logical_not(), dim, keepdim);
}

}  // namespace ebb
