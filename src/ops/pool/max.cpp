#include <ebb/ops/pool.h>
#include <ebb/ops/shape.h>

#include <limits>

#include "ops/common.h"
#include "ops/pool/kernels.h"
#include "ops/pool/pool.h"

namespace ebb {
namespace ops {
namespace {

using autograd::GradList;

Variable gather(const PoolNames* names, const Variable& x, const Variable& indices);
Variable scatter(const PoolNames* names, const Variable& y, const Variable& indices, IntArrayRef sizes,
                 bool overwrite);

std::int64_t planes_of(const Variable& indices, std::size_t dims) {
  std::int64_t planes = 1;
  for (std::size_t d = 0; d + dims < indices.sizes().size(); ++d) planes *= indices.sizes()[d];
  return planes;
}

// Of what reads elements at indices: a max pooling, or a gather.
struct SelectBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  const PoolNames* names = nullptr;
  DimVector sizes;
  bool is_layer = true;
  std::string name() const override { return is_layer ? names->layer : names->gradient; }
  GradList apply(GradList&& grads) override {
    if (!grads[0].defined()) return GradList(1);
    return {scatter(names, grads[0], indices.unpack(), sizes, false)};
  }
};

// Of what writes elements at indices: a gradient of those, or an unpooling.
struct PlaceBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  const PoolNames* names = nullptr;
  bool is_layer = false;
  std::string name() const override { return is_layer ? names->layer : names->gradient; }
  GradList apply(GradList&& grads) override { return {gather(names, grads[0], indices.unpack())}; }
};

// The spatial rank is in the names: 1 and 2 axes pool as 2.
constexpr PoolNames kMax2{"MaxPool2DWithIndicesBackward0", "MaxPool2DWithIndicesBackwardBackward0"};
constexpr PoolNames kMax3{"MaxPool3DWithIndicesBackward0", "MaxPool3DWithIndicesBackwardBackward0"};
constexpr PoolNames kAdaptive2{"AdaptiveMaxPool2DBackward0", "AdaptiveMaxPool2DBackwardBackward0"};
constexpr PoolNames kAdaptive3{"AdaptiveMaxPool3DBackward0", "AdaptiveMaxPool3DBackwardBackward0"};
constexpr PoolNames kUnpool2{"MaxUnpool2DBackward0", "MaxUnpool2DBackwardBackward0"};
constexpr PoolNames kUnpool3{"MaxUnpool3DBackward0", "MaxUnpool3DBackwardBackward0"};

std::size_t axes_of(const PoolNames* names) {
  return names == &kMax3 || names == &kAdaptive3 || names == &kUnpool3 ? 3 : 2;
}

Variable gather(const PoolNames* names, const Variable& x, const Variable& indices) {
  NdArray array = NdArray::empty(indices.sizes(), x.dtype(), x.device());
  kernels::pool_gather(x.device(), array, pool_operand(x), indices.array(),
                       planes_of(indices, axes_of(names)));
  Variable out(std::move(array));
  if (autograd::records(x)) {
    auto node = autograd::make_node<SelectBackward>(x);
    node->indices.save(indices);
    node->names = names;
    node->sizes = DimVector(x.sizes());
    node->is_layer = false;
    autograd::set_history(out, node);
  }
  return out;
}

Variable scatter(const PoolNames* names, const Variable& y, const Variable& indices, IntArrayRef sizes,
                 bool overwrite) {
  NdArray array = NdArray::empty(sizes, y.dtype(), y.device());
  kernels::pool_scatter(y.device(), array, pool_operand(y), indices.array(),
                        planes_of(indices, axes_of(names)), overwrite);
  Variable out(std::move(array));
  if (autograd::records(y)) {
    auto node = autograd::make_node<PlaceBackward>(y);
    node->indices.save(indices);
    node->names = names;
    node->is_layer = overwrite;
    autograd::set_history(out, node);
  }
  return out;
}

// `dtype` of the indices; Undefined: wide enough, and only if the gradient will want them.
std::tuple<Variable, Variable> max(const PoolNames* names, const Variable& x, const PoolGeometry& g, int dims,
                                   DType dtype) {
  const DimVector sizes = pooled_shape(x, g, dims);
  const bool records = autograd::records(x);
  if (dtype == DType::Undefined && records)
    dtype = g.in_plane() <= std::numeric_limits<std::int32_t>::max() ? kInt : kLong;
  NdArray array = NdArray::empty(sizes, x.dtype(), x.device()), where;
  if (dtype != DType::Undefined) where = NdArray::empty(sizes, dtype, x.device());
  kernels::max_pool(x.device(), array, where, pool_operand(x), g);
  Variable out(std::move(array)), indices;
  if (where.defined()) indices = Variable(std::move(where));
  if (records) {
    auto node = autograd::make_node<SelectBackward>(x);
    node->indices.save(indices);
    node->names = names;
    node->sizes = DimVector(x.sizes());
    autograd::set_history(out, node);
  }
  return {out, indices};
}

Variable unpool(const char* op, const PoolNames* names, const Variable& x, const Variable& indices,
                IntArrayRef size) {
  const std::size_t dims = axes_of(names);
  common_device(op, x, indices);
  EBB_CHECK(x.sizes() == indices.sizes(), op, ": expected indices of the input's shape ", x.sizes(), ", got ",
            indices.sizes(), ".");
  EBB_CHECK(indices.dtype() == kLong, op, ": expected int64 indices, got ", indices.dtype(), ".");
  EBB_CHECK(size.size() == dims && x.sizes().size() > dims && is_floating(x.dtype()), op,
            ": expected a floating-point input of ", std::uint64_t{dims + 2},
            " dimensions and an output_size of ", std::uint64_t{dims}, ", got ", x.dtype(), " of shape ",
            x.sizes(), " and ", size, ".");
  DimVector sizes(x.sizes());
  std::int64_t plane = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    sizes[sizes.size() - dims + d] = size[d];
    plane *= size[d];
  }
  const Variable at(pool_operand(indices));
  if (x.device().is_cpu()) {
    const std::int64_t* values = at.array().data_as<std::int64_t>();
    for (std::int64_t i = 0; i < at.numel(); ++i)
      EBB_CHECK(values[i] >= 0 && values[i] < plane, op, ": index ", values[i],
                " lies outside an output of size ", size, ".");
  }
  return scatter(names, x, at, sizes, true);
}

}  // namespace
}  // namespace ops

using ops::kMax2;
using ops::kMax3;

Variable max_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, bool ceil_mode) {
  PoolGeometry g =
      ops::pool_geometry("max_pool1d", self, 1, kernel_size, stride, padding, dilation, ceil_mode);
  return std::get<0>(ops::max(&kMax2, self.unsqueeze(-2), g, 2, DType::Undefined)).squeeze(-2);
}
Variable max_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g =
      ops::pool_geometry("max_pool2d", self, 2, kernel_size, stride, padding, dilation, ceil_mode);
  return std::get<0>(ops::max(&kMax2, self, g, 2, DType::Undefined));
}
Variable max_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g =
      ops::pool_geometry("max_pool3d", self, 3, kernel_size, stride, padding, dilation, ceil_mode);
  return std::get<0>(ops::max(&kMax3, self, g, 3, DType::Undefined));
}

std::tuple<Variable, Variable> max_pool1d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                       IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode) {
  PoolGeometry g =
      ops::pool_geometry("max_pool1d", self, 1, kernel_size, stride, padding, dilation, ceil_mode);
  const auto [out, indices] = ops::max(&kMax2, self.unsqueeze(-2), g, 2, kLong);
  return {out.squeeze(-2), indices.squeeze(-2)};
}
std::tuple<Variable, Variable> max_pool2d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                       IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g =
      ops::pool_geometry("max_pool2d", self, 2, kernel_size, stride, padding, dilation, ceil_mode);
  return ops::max(&kMax2, self, g, 2, kLong);
}
std::tuple<Variable, Variable> max_pool3d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                       IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g =
      ops::pool_geometry("max_pool3d", self, 3, kernel_size, stride, padding, dilation, ceil_mode);
  return ops::max(&kMax3, self, g, 3, kLong);
}

Variable max_unpool2d(const Variable& self, const Variable& indices, IntArrayRef output_size) {
  return ops::unpool("max_unpool2d", &ops::kUnpool2, self, indices, output_size);
}
Variable max_unpool3d(const Variable& self, const Variable& indices, IntArrayRef output_size, IntArrayRef,
                      IntArrayRef) {
  return ops::unpool("max_unpool3d", &ops::kUnpool3, self, indices, output_size);
}

std::tuple<Variable, Variable> adaptive_max_pool1d(const Variable& self, IntArrayRef output_size) {
  const PoolGeometry g = ops::adaptive_geometry("adaptive_max_pool1d", self, 1, output_size);
  const auto [out, indices] = ops::max(&ops::kAdaptive2, self.unsqueeze(-2), g, 2, kLong);
  return {out.squeeze(-2), indices.squeeze(-2)};
}
std::tuple<Variable, Variable> adaptive_max_pool2d(const Variable& self, IntArrayRef output_size) {
  return ops::max(&ops::kAdaptive2, self, ops::adaptive_geometry("adaptive_max_pool2d", self, 2, output_size),
                  2, kLong);
}
std::tuple<Variable, Variable> adaptive_max_pool3d(const Variable& self, IntArrayRef output_size) {
  return ops::max(&ops::kAdaptive3, self, ops::adaptive_geometry("adaptive_max_pool3d", self, 3, output_size),
                  3, kLong);
}

}  // namespace ebb
