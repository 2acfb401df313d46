// avg_pool and adaptive_avg_pool.
#include <ebb/autograd/record.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/pool/kernels.h"
#include "ops/pool/pool.h"

namespace ebb {
namespace ops {
namespace {

using autograd::GradList;

constexpr PoolNames kAvg2{"AvgPool2DBackward0", "AvgPool2DBackwardBackward0"};
constexpr PoolNames kAvg3{"AvgPool3DBackward0", "AvgPool3DBackwardBackward0"};
constexpr PoolNames kAdaptiveMean2{"AdaptiveAvgPool2DBackward0", "AdaptiveAvgPool2DBackwardBackward0"};
constexpr PoolNames kAdaptiveMean3{"AdaptiveAvgPool3DBackward0", "AdaptiveAvgPool3DBackwardBackward0"};

// The state that a layer and its derivatives share.
struct MeanPool {
  const PoolNames* names = nullptr;
  PoolGeometry geometry;
  PoolLayout layout;
  DimVector in_sizes, out_sizes;
};

// Computes the mean of each window or, if `transposed`, the transpose of this map. Each computes the gradient
// of the other.
Variable mean(const MeanPool& pool, const Variable& x, bool transposed, bool is_layer);

struct MeanPoolBackward : autograd::Node {
  MeanPool pool;
  bool transposed = false;
  bool is_layer = true;
  std::string name() const override { return is_layer ? pool.names->layer : pool.names->gradient; }
  GradList apply(GradList&& grads) override { return {mean(pool, grads[0], !transposed, false)}; }
};

Variable mean(const MeanPool& pool, const Variable& x, bool transposed, bool is_layer) {
  NdArray array = pool.layout.empty(transposed ? pool.in_sizes : pool.out_sizes, x.dtype(), x.device());
  if (transposed)
    kernels::mean_pool_backward(x.device(), array, pool.layout.operand(x), pool.geometry);
  else
    kernels::mean_pool(x.device(), array, pool.layout.operand(x), pool.geometry);
  Variable out = pool.layout.result(std::move(array));
  if (const auto node = record_results<MeanPoolBackward>({&out}, x)) {
    node->pool = pool;
    node->transposed = transposed;
    node->is_layer = is_layer;
  }
  return out;
}

Variable layer(const PoolNames* names, const Variable& x, const PoolGeometry& g, int dims) {
  const PoolLayout layout(x, dims);
  const Variable input = dims == 1 ? x.unsqueeze(-2) : x;
  MeanPool pool{names, g, layout, DimVector(input.sizes()), pooled_shape(input, g, dims)};
  pool.geometry.interleaved = layout.interleaved(input.sizes(), input.device());
  const Variable out = mean(pool, input, false, true);
  return dims == 1 ? out.squeeze(-2) : out;
}

Variable average(const char* op, const PoolNames* names, const Variable& x, int dims, IntArrayRef kernel,
                 IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool include_padding,
                 optional<std::int64_t> divisor) {
  EBB_CHECK(!divisor || *divisor != 0, op, ": divisor_override must not be 0.");
  PoolGeometry g =
      pool_geometry(op, x, dims, kernel, stride, padding, 1, ceil_mode, PooledIntegers::only_long);
  for (const auto& axis : g.axis)  // torch checks this for three dimensions only
    EBB_CHECK(dims < 3 || axis.in >= axis.kernel, op, ": an input of shape ", x.sizes(),
              " is smaller than the kernel ", kernel, ".");
  g.include_padding = include_padding;
  g.divisor = divisor.value_or(0);
  return layer(names, x, g, dims);
}

Variable adaptive(const char* op, const PoolNames* names, const Variable& x, int dims,
                  IntArrayRef output_size) {
  const PoolGeometry g = adaptive_geometry(op, x, dims, output_size);
  if (g.out_plane() == 1) {  // one window covers everything: the mean of the plane
    const std::int64_t last[] = {-1, -2, -3};
    return x.mean(IntArrayRef(last, static_cast<std::size_t>(dims)), true);
  }
  return layer(names, x, g, dims);
}

}  // namespace
}  // namespace ops

Variable avg_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    bool ceil_mode, bool count_include_pad) {
  return ops::average("avg_pool1d", &ops::kAvg2, self, 1, kernel_size, stride, padding, ceil_mode,
                      count_include_pad, {});
}
Variable avg_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    bool ceil_mode, bool count_include_pad, optional<std::int64_t> divisor_override) {
  return ops::average("avg_pool2d", &ops::kAvg2, self, 2, kernel_size, stride, padding, ceil_mode,
                      count_include_pad, divisor_override);
}
Variable avg_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    bool ceil_mode, bool count_include_pad, optional<std::int64_t> divisor_override) {
  EBB_AUTOCAST(avg_pool3d, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
               divisor_override);
  return ops::average("avg_pool3d", &ops::kAvg3, self, 3, kernel_size, stride, padding, ceil_mode,
                      count_include_pad, divisor_override);
}

Variable adaptive_avg_pool1d(const Variable& self, IntArrayRef output_size) {
  return ops::adaptive("adaptive_avg_pool1d", &ops::kAdaptiveMean2, self, 1, output_size);
}
Variable adaptive_avg_pool2d(const Variable& self, IntArrayRef output_size) {
  return ops::adaptive("adaptive_avg_pool2d", &ops::kAdaptiveMean2, self, 2, output_size);
}
Variable adaptive_avg_pool3d(const Variable& self, IntArrayRef output_size) {
  EBB_AUTOCAST(adaptive_avg_pool3d, self, output_size);
  return ops::adaptive("adaptive_avg_pool3d", &ops::kAdaptiveMean3, self, 3, output_size);
}

}  // namespace ebb
