// prod, any, all, count_nonzero and hash_tensor.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/reduce/common.h"
#include "ops/reduce/kernels.h"

namespace ebb {
namespace ops {
namespace {

// Returns for each element the product of all other elements. It multiplies the product of the elements
// before it by the product of the elements after it. There is no division, so zeros are exact.
Variable prod_of_others(const Variable& x, std::int64_t dim) {
  return exclusive_prod(cumulative_prod(x, dim, false), dim, false) *
         exclusive_prod(cumulative_prod(x, dim, true), dim, true);
}

struct ProdBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  std::int64_t dim = -1;  // -1 means all dimensions
  bool keepdim = false;

  std::string name() const override { return dim < 0 ? "ProdBackward0" : "ProdBackward1"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack().to(grads[0].dtype());
    if (x.dim() == 0) return {std::move(grads[0])};
    if (x.numel() == 0) return {x * 0};
    const bool zeros = x.detach().eq(0).any().item<bool>();
    const DimMask mask = dim < 0 ? all_dims("prod", x) : one_dim("prod", x, dim);
    const Variable grad = restore_dims(grads[0], x.sizes(), mask, keepdim);
    if (!zeros) return {grad * restore_dims(result.unpack(), x.sizes(), mask, keepdim) / x};
    if (dim >= 0) return {grad * prod_of_others(x, dim)};
    return {grad * prod_of_others(x.reshape({-1}), 0).reshape(x.sizes())};
  }
};

Variable prod_over(const Variable& x, DimMask mask, std::int64_t dim, bool keepdim,
                   optional<ScalarType> dtype) {
  const NdArray in = summed_input(x.array(), dtype);
  const DType type = summed_dtype(in.dtype(), dtype);
  NdArray out = NdArray::empty(reduced_sizes(in.sizes(), mask, keepdim), type, in.device());
  kernels::prod(in.device(), out, in, mask);
  Variable result(cast_array(out, dtype.value_or(type)));
  if (const auto node = record_results<ProdBackward>({&result}, x)) {
    node->dim = dim;
    node->keepdim = keepdim;
    node->self.save(x);
    node->result.save_output(result);
  }
  return result;
}

Variable logical(const KernelSlot<decltype(cpu::any)>& kernel, const Variable& x, DimMask mask,
                 bool keepdim) {
  const NdArray& in = x.array();
  NdArray out = NdArray::empty(reduced_sizes(in.sizes(), mask, keepdim), in.dtype() == kByte ? kByte : kBool,
                               in.device());
  kernel(in.device(), out, in, mask);
  return Variable(std::move(out));
}

Variable count(const Variable& x, DimMask mask) {
  const NdArray& in = x.array();
  NdArray out = NdArray::empty(reduced_sizes(in.sizes(), mask, false), kLong, in.device());
  kernels::count_nonzero(in.device(), out, in, mask);
  return Variable(std::move(out));
}

}  // namespace
}  // namespace ops

Variable prod(const Variable& self, optional<ScalarType> dtype) {
  EBB_AUTOCAST(prod, self, dtype);
  return ops::prod_over(self, ops::all_dims("prod", self), -1, false, dtype);
}
Variable prod(const Variable& self, std::int64_t dim, bool keepdim, optional<ScalarType> dtype) {
  EBB_AUTOCAST(prod, self, dim, keepdim, dtype);
  const std::int64_t d = wrap_dim("prod", dim, self.dim());
  return ops::prod_over(self, ops::one_dim("prod", self, d), d, keepdim, dtype);
}
Variable any(const Variable& self) {
  return ops::logical(kernels::any, self, ops::all_dims("any", self), false);
}
Variable any(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::logical(kernels::any, self, ops::one_dim("any", self, dim), keepdim);
}
Variable any(const Variable& self, OptionalIntArrayRef dim, bool keepdim) {
  return ops::logical(kernels::any, self, ops::dim_mask("any", self, dim), keepdim);
}
Variable all(const Variable& self, OptionalIntArrayRef dim, bool keepdim) {
  return ops::logical(kernels::all, self, ops::dim_mask("all", self, dim), keepdim);
}
Variable all(const Variable& self) {
  return ops::logical(kernels::all, self, ops::all_dims("all", self), false);
}
Variable all(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::logical(kernels::all, self, ops::one_dim("all", self, dim), keepdim);
}
Variable count_nonzero(const Variable& self, IntArrayRef dim) {
  return ops::count(self, ops::dim_mask("count_nonzero", self, dim));
}
Variable count_nonzero(const Variable& self, optional<std::int64_t> dim) {
  return ops::count(self,
                    dim ? ops::one_dim("count_nonzero", self, *dim) : ops::all_dims("count_nonzero", self));
}
Variable hash_tensor(const Variable& self, IntArrayRef dim, bool keepdim, std::int64_t mode) {
  EBB_CHECK(mode == 0, "hash_tensor: the only mode is 0, exclusive or; got ", mode, ".");
  const DimMask mask = ops::dim_mask("hash_tensor", self, dim);
  const NdArray& in = self.array();
  EBB_CHECK(ops::reduced_count(self.sizes(), mask) > 0,
            "hash_tensor: the reduced dimensions must not have size 0, got shape ", self.sizes(), ".");
  NdArray out = NdArray::empty(ops::reduced_sizes(in.sizes(), mask, keepdim), kLong, in.device());
  kernels::xor_bits(in.device(), out, in, mask);
  return Variable(std::move(out));
}

}  // namespace ebb
