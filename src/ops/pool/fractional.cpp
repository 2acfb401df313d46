// fractional_max_pool2d and 3d. A kernel finds the positions of the maxima, and gather reads the elements.
// The derivatives are those of gather.
#include "ops/pool/fractional.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"

namespace ebb {
namespace {

std::tuple<Variable, Variable> pool(const char* op, const Variable& x, IntArrayRef kernel, IntArrayRef output,
                                    const Variable& random, int dims) {
  const Device device = ops::common_device(op, x, random);
  const auto axes = static_cast<std::size_t>(dims);
  EBB_CHECK(is_floating(x.dtype()) && (x.dim() == dims + 1 || x.dim() == dims + 2), op,
            ": expected a floating-point input of ", dims + 1, " or ", dims + 2, " dimensions, got ",
            x.dtype(), " of shape ", x.sizes(), ".");
  EBB_CHECK(random.defined(), op, ": expected random_samples, got an undefined tensor.");
  ops::check_same_dtype(op, x, random);
  const auto per_axis = [&](const char* name, IntArrayRef list) {
    EBB_CHECK(list.size() == 1 || list.size() == axes, op, ": ", name,
              " must have one value, or one for each of the ", dims, " axes, got ", list, ".");
  };
  per_axis("kernel_size", kernel);
  per_axis("output_size", output);
  const bool batched = x.dim() == dims + 2;
  const std::int64_t batch = batched ? x.size(0) : 1, channels = x.size(batched ? 1 : 0);
  EBB_CHECK(
      random.dim() == 3 && random.size(0) >= batch && random.size(1) == channels && random.size(2) == dims,
      op, ": expected random_samples of shape [", batch, ", ", channels, ", ", dims,
      "], or for a larger batch, got ", random.sizes(), ".");
  FractionalGeometry g;
  g.planes = batch * channels;
  g.samples = dims;
  DimVector sizes(x.sizes());
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t d = 3 - axes + i, at = sizes.size() - axes + i;
    g.in[d] = x.sizes()[at];
    g.kernel[d] = kernel[kernel.size() == 1 ? 0 : i];
    g.out[d] = sizes[at] = output[output.size() == 1 ? 0 : i];
    // In 2d, the first sample belongs to the width, and the second one to the height.
    g.sample[d] = static_cast<int>(dims == 2 ? 1 - i : i);
    EBB_CHECK(g.kernel[d] > 0 && g.out[d] > 0 && g.out[d] + g.kernel[d] - 1 <= g.in[d], op, ": windows of ",
              kernel, " and an output of ", output, " do not fit an input of shape ", x.sizes(),
              ": kernel + output - 1 may not exceed it.");
  }
  NdArray places = NdArray::empty(sizes, kLong, device);
  kernels::fractional_max_indices(device, places, ops::contiguous_array(x.array()),
                                  ops::contiguous_array(random.detach().narrow(0, 0, batch).array()), g);
  const Variable indices(std::move(places));
  const std::int64_t last = -dims;
  const Variable values = x.flatten(last).gather(-1, indices.flatten(last));
  return {values.view(sizes), indices};
}

}  // namespace

std::tuple<Variable, Variable> fractional_max_pool2d(const Variable& self, IntArrayRef kernel_size,
                                                     IntArrayRef output_size,
                                                     const Variable& random_samples) {
  EBB_AUTOCAST(fractional_max_pool2d, self, kernel_size, output_size, random_samples);
  return pool("fractional_max_pool2d", self, kernel_size, output_size, random_samples, 2);
}

std::tuple<Variable, Variable> fractional_max_pool3d(const Variable& self, IntArrayRef kernel_size,
                                                     IntArrayRef output_size,
                                                     const Variable& random_samples) {
  EBB_AUTOCAST(fractional_max_pool3d, self, kernel_size, output_size, random_samples);
  return pool("fractional_max_pool3d", self, kernel_size, output_size, random_samples, 3);
}

}  // namespace ebb
