// max_pool, adaptive_max_pool and max_unpool.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/pool/kernels.h"
#include "ops/pool/pool.h"

#include <algorithm>
#include <limits>

namespace ebb {
namespace ops {
namespace {

using autograd::GradList;

// The state that a layer and its derivatives share.
struct IndexSelection {
  const PoolNames* names = nullptr;
  PoolGeometry geometry;  // for unpooling: the memory layout of the planes
  PoolLayout layout;
  DimVector in_sizes;      // the sizes of the array from which elements are selected
  bool of_windows = true;  // true if max pooling computed the indices, false if the caller gave them
};

// gather() reads the elements of x at the indices; scatter() is its transpose. Each computes the gradient of
// the other.
Variable gather(const IndexSelection& choice, const Variable& x, const Variable& indices);
Variable scatter(const IndexSelection& choice, const Variable& y, const Variable& indices, bool overwrite);

// The node of ops that read elements at indices: max pooling and gather.
struct SelectBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  IndexSelection choice;
  bool is_layer = true;
  std::string name() const override { return is_layer ? choice.names->layer : choice.names->gradient; }
  GradList apply(GradList&& grads) override {
    if (!grads[0].defined()) return GradList(1);
    return {scatter(choice, grads[0], indices.unpack(), false)};
  }
};

// The node of ops that write elements at indices: unpooling, and the gradients of the ops above.
struct ScatterBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  IndexSelection choice;
  bool is_layer = false;
  std::string name() const override { return is_layer ? choice.names->layer : choice.names->gradient; }
  GradList apply(GradList&& grads) override { return {gather(choice, grads[0], indices.unpack())}; }
};

// The names contain the number of axes; 1d pooling runs as 2d.
constexpr PoolNames kMax2{"MaxPool2DWithIndicesBackward0", "MaxPool2DWithIndicesBackwardBackward0"};
constexpr PoolNames kMax3{"MaxPool3DWithIndicesBackward0", "MaxPool3DWithIndicesBackwardBackward0"};
constexpr PoolNames kAdaptiveMax2{"AdaptiveMaxPool2DBackward0", "AdaptiveMaxPool2DBackwardBackward0"};
constexpr PoolNames kAdaptiveMax3{"AdaptiveMaxPool3DBackward0", "AdaptiveMaxPool3DBackwardBackward0"};
constexpr PoolNames kUnpool2{"MaxUnpool2DBackward0", "MaxUnpool2DBackwardBackward0"};
constexpr PoolNames kUnpool3{"MaxUnpool3DBackward0", "MaxUnpool3DBackwardBackward0"};

Variable gather(const IndexSelection& c, const Variable& x, const Variable& indices) {
  NdArray array = c.layout.empty(indices.sizes(), x.dtype(), x.device());
  kernels::pool_gather(x.device(), array, c.layout.operand(x), c.layout.operand(indices), c.geometry);
  Variable out = c.layout.result(std::move(array));
  if (const auto node = record_results<SelectBackward>({&out}, x)) {
    node->indices.save(indices);
    node->choice = c;
    node->is_layer = false;
  }
  return out;
}

Variable scatter(const IndexSelection& c, const Variable& y, const Variable& indices, bool overwrite) {
  NdArray array = c.layout.empty(c.in_sizes, y.dtype(), y.device());
  const NdArray from = c.layout.operand(y), at = c.layout.operand(indices);
  if (c.of_windows)
    kernels::max_pool_backward(y.device(), array, from, at, c.geometry);
  else
    kernels::pool_scatter(y.device(), array, from, at, c.geometry, overwrite);
  Variable out = c.layout.result(std::move(array));
  if (const auto node = record_results<ScatterBackward>({&out}, y)) {
    node->indices.save(indices);
    node->choice = c;
    node->is_layer = overwrite;
  }
  return out;
}

// Returns the maximum of each window of integers, and its position in the plane. It first gathers the
// elements of each window.
std::tuple<Variable, Variable> max_of_integers(const Variable& x, const PoolGeometry& g, int dims) {
  // Positions [windows, taps] in a plane. A position in the padding is replaced by the position of the
  // window's first element.
  Variable places = zeros({1, 1}, TensorOptions(kLong));
  for (int a = 3 - dims; a < 3; ++a) {
    const PoolAxis& axis = g.axis[a];
    std::vector<std::int64_t> along;
    for (std::int64_t o = 0; o < axis.out; ++o)
      for (std::int64_t k = 0; k < axis.kernel; ++k) {
        const std::int64_t at = o * axis.stride - axis.padding + k * axis.dilation;
        along.push_back(at >= 0 && at < axis.in ? at : axis.first(o));
      }
    const Variable next = tensor(along).view({1, axis.out, 1, axis.kernel});
    places = (places.unsqueeze(1).unsqueeze(-1) * axis.in + next)
                 .reshape({places.size(0) * axis.out, places.size(1) * axis.kernel});
  }
  places = places.to(x.device());
  const Variable planes = x.detach().flatten(x.dim() - dims);
  const DimVector sizes = pooled_shape(x, g, dims);
  DimVector windows(planes.sizes());
  windows.back() = places.size(0);
  windows.push_back(places.size(1));
  const Variable all = planes.index_select(-1, places.flatten()).view(windows);
  const auto [value, tap] = all.max(-1);
  const Variable at = places.expand(windows).gather(-1, tap.unsqueeze(-1));
  return {value.view(sizes), at.view(sizes)};
}

// `dtype` is the dtype of the indices. If it is undefined, the indices are as wide as necessary, and are
// computed only if the gradient needs them.
std::tuple<Variable, Variable> max(const PoolNames* names, const Variable& self, const PoolGeometry& g,
                                   int dims, DType dtype) {
  if (!is_floating(self.dtype())) return max_of_integers(self, g, dims);
  const PoolLayout layout(self, dims);
  const Variable x = dims == 1 ? self.unsqueeze(-2) : self;
  IndexSelection choice{names, g, layout, DimVector(x.sizes()), true};
  choice.geometry.interleaved = layout.interleaved(x.sizes(), x.device());
  const DimVector sizes = pooled_shape(x, g, dims);
  if (dtype == DType::Undefined && autograd::records(x))
    dtype = g.in_plane() <= std::numeric_limits<std::int32_t>::max() ? kInt : kLong;
  NdArray array = layout.empty(sizes, x.dtype(), x.device()), where;
  if (dtype != DType::Undefined) where = layout.empty(sizes, dtype, x.device());
  kernels::max_pool(x.device(), array, where, layout.operand(x), choice.geometry);
  const Variable out = layout.result(std::move(array));
  const Variable indices = where.defined() ? layout.result(std::move(where)) : Variable();
  if (const auto node = record_results<SelectBackward>({&out}, x)) {
    node->indices.save(indices);
    node->choice = choice;
  }
  if (dims == 1) return {out.squeeze(-2), indices.defined() ? indices.squeeze(-2) : indices};
  return {out, indices};
}

Variable unpool(const char* op, const PoolNames* names, const Variable& x, const Variable& indices,
                IntArrayRef size) {
  const std::size_t dims = names == &kUnpool3 ? 3 : 2;
  common_device(op, x, indices);
  EBB_CHECK(x.sizes() == indices.sizes(), op, ": expected indices of the input's shape ", x.sizes(), ", got ",
            indices.sizes(), ".");
  EBB_CHECK(indices.dtype() == kLong, op, ": expected int64 indices, got ", indices.dtype(), ".");
  EBB_CHECK(size.size() == dims && x.sizes().size() > dims && is_floating(x.dtype()), op,
            ": expected a floating-point input of ", std::uint64_t{dims + 2},
            " dimensions and an output_size of ", std::uint64_t{dims}, ", got ", x.dtype(), " of shape ",
            x.sizes(), " and ", size, ".");
  IndexSelection choice;
  choice.names = names;
  choice.in_sizes = DimVector(x.sizes());
  choice.of_windows = false;
  std::int64_t plane = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    choice.in_sizes[choice.in_sizes.size() - dims + d] = size[d];
    plane *= size[d];
  }
  choice.geometry.planes = 1;
  for (std::size_t d = 0; d + dims < x.sizes().size(); ++d) choice.geometry.planes *= x.sizes()[d];
  const Variable at = indices.contiguous();
  if (x.device().is_cpu()) {
    check_values(op, at, [op, plane, size = DimVector(size)](const NdArray& places) {
      const std::int64_t* values = places.address_as<std::int64_t>();
      for (std::int64_t i = 0; i < places.numel(); ++i)
        EBB_CHECK(values[i] >= 0 && values[i] < plane, op, ": index ", values[i],
                  " lies outside an output of size ", IntArrayRef(size), ".");
    });
  }
  return scatter(choice, x, at, true);
}

}  // namespace
}  // namespace ops

using ops::kMax2;
using ops::kMax3;

Variable max_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g = ops::pool_geometry("max_pool1d", self, 1, kernel_size, stride, padding, dilation,
                                            ceil_mode, ops::PooledIntegers::all);
  return std::get<0>(ops::max(&kMax2, self, g, 1, DType::Undefined));
}
Variable max_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g = ops::pool_geometry("max_pool2d", self, 2, kernel_size, stride, padding, dilation,
                                            ceil_mode, ops::PooledIntegers::all);
  return std::get<0>(ops::max(&kMax2, self, g, 2, DType::Undefined));
}
Variable max_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, bool ceil_mode) {
  EBB_AUTOCAST(max_pool3d, self, kernel_size, stride, padding, dilation, ceil_mode);
  const PoolGeometry g = ops::pool_geometry("max_pool3d", self, 3, kernel_size, stride, padding, dilation,
                                            ceil_mode, ops::PooledIntegers::all);
  return std::get<0>(ops::max(&kMax3, self, g, 3, DType::Undefined));
}

std::tuple<Variable, Variable> max_pool1d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                       IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g = ops::pool_geometry("max_pool1d", self, 1, kernel_size, stride, padding, dilation,
                                            ceil_mode, ops::PooledIntegers::all);
  return ops::max(&kMax2, self, g, 1, kLong);
}
std::tuple<Variable, Variable> max_pool2d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                       IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g = ops::pool_geometry("max_pool2d", self, 2, kernel_size, stride, padding, dilation,
                                            ceil_mode, ops::PooledIntegers::all);
  return ops::max(&kMax2, self, g, 2, kLong);
}
std::tuple<Variable, Variable> max_pool3d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                       IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode) {
  const PoolGeometry g = ops::pool_geometry("max_pool3d", self, 3, kernel_size, stride, padding, dilation,
                                            ceil_mode, ops::PooledIntegers::all);
  return ops::max(&kMax3, self, g, 3, kLong);
}

Variable max_unpool2d(const Variable& self, const Variable& indices, IntArrayRef output_size) {
  EBB_AUTOCAST(max_unpool2d, self, indices, output_size);
  return ops::unpool("max_unpool2d", &ops::kUnpool2, self, indices, output_size);
}
Variable max_unpool3d(const Variable& self, const Variable& indices, IntArrayRef output_size,
                      IntArrayRef stride, IntArrayRef padding) {
  EBB_AUTOCAST(max_unpool3d, self, indices, output_size, stride, padding);
  const auto positive = [](std::int64_t s) { return s > 0; };
  EBB_CHECK(stride.size() == 3 && std::all_of(stride.begin(), stride.end(), positive),
            "max_unpool3d: expected a stride of three values above 0 (depth, height, width), got ", stride,
            ".");
  EBB_CHECK(padding.size() == 3,
            "max_unpool3d: expected a padding of three values (depth, height, width), got ", padding, ".");
  return ops::unpool("max_unpool3d", &ops::kUnpool3, self, indices, output_size);
}

std::tuple<Variable, Variable> adaptive_max_pool1d(const Variable& self, IntArrayRef output_size) {
  return ops::max(&ops::kAdaptiveMax2, self,
                  ops::adaptive_geometry("adaptive_max_pool1d", self, 1, output_size), 1, kLong);
}
std::tuple<Variable, Variable> adaptive_max_pool2d(const Variable& self, IntArrayRef output_size) {
  return ops::max(&ops::kAdaptiveMax2, self,
                  ops::adaptive_geometry("adaptive_max_pool2d", self, 2, output_size), 2, kLong);
}
std::tuple<Variable, Variable> adaptive_max_pool3d(const Variable& self, IntArrayRef output_size) {
  EBB_AUTOCAST(adaptive_max_pool3d, self, output_size);
  return ops::max(&ops::kAdaptiveMax3, self,
                  ops::adaptive_geometry("adaptive_max_pool3d", self, 3, output_size), 3, kLong);
}

}  // namespace ebb
