// Sampling at grids, with options.
#include <ebb/core/warning.h>
#include <ebb/nn/functional/vision.h>
#include <ebb/ops/resample.h>

namespace ebb::nn::functional {

Variable affine_grid(const Variable& theta, IntArrayRef size, bool align_corners) {
  return affine_grid_generator(theta, size, align_corners);
}

Variable grid_sample(const Variable& input, const Variable& grid, const GridSampleFuncOptions& o) {
  if (!o.align_corners())
    warn(
        "grid_sample: align_corners is not set, and false is taken, as in torch since 1.3.0. Set it to say "
        "which is meant.");
  const std::int64_t mode = o.mode() == kBilinear ? 0 : o.mode() == kNearest ? 1 : 2;
  const std::int64_t padding = o.padding_mode() == kZeros ? 0 : o.padding_mode() == kBorder ? 1 : 2;
  return grid_sampler(input, grid, mode, padding, o.align_corners().value_or(false));
}

}  // namespace ebb::nn::functional
