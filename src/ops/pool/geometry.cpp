// Computes the windows of a pooling from the arguments of an op.
#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/layout.h"
#include "ops/pool/pool.h"

namespace ebb::ops {
namespace {

void spread(const char* op, const char* what, IntArrayRef values, int dims, std::int64_t least,
            std::int64_t (&out)[3]) {
  EBB_CHECK(values.size() == 1 || values.size() == static_cast<std::size_t>(dims), op, ": expected ", what,
            " of 1 or ", dims, " values, got ", values, ".");
  for (int a = 0; a < dims; ++a) {
    out[3 - dims + a] = values[values.size() == 1 ? 0 : static_cast<std::size_t>(a)];
    check_window(op, what, out[3 - dims + a], least, values);
  }
}

/// Checks the shape of x. `lead` is the first dimension that must not be empty.
void check_input(const char* op, const Variable& x, int dims, PooledIntegers integers, std::size_t lead) {
  check_defined(op, x);
  EBB_CHECK(x.dim() == dims + 1 || x.dim() == dims + 2, op, ": expected an input of ", dims + 2,
            " dimensions, or ", dims + 1, " without a batch, got shape ", x.sizes(), ".");
  const bool all = integers == PooledIntegers::all, wide = integers == PooledIntegers::only_long;
  EBB_CHECK(is_floating(x.dtype()) || (all && is_integral(x.dtype())) || (wide && x.dtype() == kLong), op,
            ": expected a floating-point dtype",
            all    ? " or integers"
            : wide ? " or Long"
                   : "",
            ", got ", x.dtype(), ". Convert with .to(ebb::kFloat).");
  for (std::size_t d = lead; d < x.sizes().size(); ++d)
    EBB_CHECK(x.sizes()[d] > 0, op, ": only the batch may be empty, got shape ", x.sizes(), ".");
}

PoolGeometry start(const Variable& x, int dims) {
  PoolGeometry g;
  g.planes = 1;
  const std::size_t lead = static_cast<std::size_t>(x.dim() - dims);
  for (std::size_t d = 0; d < lead; ++d) g.planes *= x.sizes()[d];
  for (int a = 0; a < dims; ++a) g.axis[3 - dims + a].in = x.sizes()[lead + static_cast<std::size_t>(a)];
  return g;
}

}  // namespace

PoolGeometry pool_geometry(const char* op, const Variable& x, int dims, IntArrayRef kernel,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                           PooledIntegers integers) {
  check_input(op, x, dims, integers, x.dim() == dims + 2 ? 1 : 0);
  std::int64_t k[3], s[3], p[3], d[3];
  spread(op, "a kernel_size", kernel, dims, 1, k);
  spread(op, "a stride", stride.empty() ? kernel : stride, dims, 1, s);
  spread(op, "a padding", padding, dims, 0, p);
  spread(op, "a dilation", dilation, dims, 1, d);
  PoolGeometry g = start(x, dims);
  for (int a = 3 - dims; a < 3; ++a) {
    EBB_CHECK(p[a] <= k[a] / 2, op, ": padding must be at most half of the kernel size, got padding ",
              padding, " and kernel_size ", kernel, ".");
    PoolAxis& axis = g.axis[a];
    const std::int64_t room = axis.in + 2 * p[a] - d[a] * (k[a] - 1) - 1;
    axis.kernel = k[a];
    axis.stride = s[a];
    axis.padding = p[a];
    axis.dilation = d[a];
    // Divides `over` by the stride and rounds down, also if `over` is negative.
    const std::int64_t over = ceil_mode ? room + s[a] - 1 : room;
    axis.out = (over >= 0 ? over / s[a] : -((-over + s[a] - 1) / s[a])) + 1;
    if (ceil_mode && (axis.out - 1) * s[a] >= axis.in + p[a]) --axis.out;
    EBB_CHECK(axis.out > 0, op, ": windows of ", kernel, " with padding ", padding, " and dilation ",
              dilation, " do not fit an input of shape ", x.sizes(), ".");
  }
  return g;
}

PoolGeometry adaptive_geometry(const char* op, const Variable& x, int dims, IntArrayRef output_size) {
  check_input(op, x, dims, PooledIntegers::none, 1);
  EBB_CHECK(output_size.size() == static_cast<std::size_t>(dims), op, ": expected an output_size of ", dims,
            " values, got ", output_size, ".");
  std::int64_t out[3];
  spread(op, "an output_size", output_size, dims, 0, out);
  PoolGeometry g = start(x, dims);
  for (int a = 3 - dims; a < 3; ++a) {
    g.axis[a].out = out[a];
    g.axis[a].adaptive = true;
  }
  return g;
}

DimVector pooled_shape(const Variable& x, const PoolGeometry& g, int dims) {
  DimVector sizes(x.sizes());
  for (int a = 0; a < dims; ++a)
    sizes[sizes.size() - static_cast<std::size_t>(dims - a)] = g.axis[3 - dims + a].out;
  return sizes;
}

NdArray PoolLayout::operand(const Variable& x) const {
  return contiguous_array(x, {.format = kernel_format(x.device())});
}

NdArray PoolLayout::empty(IntArrayRef sizes, DType dtype, Device device) const {
  return empty_in(sizes, dtype, device, kernel_format(device));
}

Variable PoolLayout::result(NdArray array) const { return Variable(std::move(array)).contiguous(format_); }

}  // namespace ebb::ops
