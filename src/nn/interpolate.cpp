// interpolate, grid_sample and affine_grid: check the options and call the ops.
#include <ebb/core/warning.h>
#include <ebb/nn/functional/padding.h>
#include <ebb/nn/functional/vision.h>
#include <ebb/ops/pool.h>

#include "ops/common/autocast.h"

#include <cmath>

namespace ebb::nn::functional {

Variable interpolate(const Variable& input, const InterpolateFuncOptions& o) {
  const std::int64_t spatial = input.dim() - 2;
  EBB_CHECK(spatial >= 1 && spatial <= 3,
            "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(), "D)");
  EBB_CHECK(o.size().has_value() != o.scale_factor().has_value(),
            "interpolate: only one of size or scale_factor should be defined, and one must be.");
  const auto mode = o.mode();
  const bool nearest = mode == kNearest || mode == kNearestExact;
  EBB_CHECK(
      !o.align_corners() || !(nearest || mode == kArea),
      "interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear | "
      "bicubic | trilinear");
  EBB_CHECK(!o.antialias() || mode == kBilinear || mode == kBicubic,
            "interpolate: Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
            "tensor as input, got mode ",
            mode.name(), ".");
  const std::int64_t needed = mode == kLinear                         ? 1
                              : mode == kBilinear || mode == kBicubic ? 2
                              : mode == kTrilinear                    ? 3
                                                                      : spatial;
  EBB_CHECK(spatial == needed, "interpolate: mode ", mode.name(), " needs ", needed,
            " spatial dimensions, got ", spatial, ".");
  const bool align = o.align_corners().value_or(false);

  DimVector sizes;
  optional<double> scales[3];
  for (std::int64_t d = 0; d < spatial; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t in = input.size(d + 2);
    const auto pick = [&](const auto& list) {
      EBB_CHECK(list.size() == static_cast<std::size_t>(spatial),
                "interpolate: size or scale_factor must have a value for each of the ", spatial,
                " spatial dimensions, got ", static_cast<std::int64_t>(list.size()), ".");
      return list[at];
    };
    std::int64_t out = 0;
    if (o.size()) {
      out = pick(*o.size());
    } else {
      const double factor = pick(*o.scale_factor()), size = std::floor(static_cast<double>(in) * factor);
      EBB_CHECK(size < 4.6e18, "interpolate: the scale factor ", factor,
                " gives a size that is too large for a tensor.");  // the check also refuses NaN
      out = size < 1 ? 0 : static_cast<std::int64_t>(size);
      if (!o.recompute_scale_factor().value_or(false)) scales[d] = factor;
    }
    EBB_CHECK(in > 0 && out > 0, "interpolate: Input and output sizes should be greater than 0, got ", in,
              " and ", out, ".");
    sizes.push_back(out);
  }
  if (const auto cast = mode == kArea ? ops::Autocast() : ops::autocast("interpolate", input)) [[unlikely]]
    return interpolate(cast(input), o);
  const auto& [a, b, c] = scales;
  switch (spatial) {
    case 1:
      if (mode == kArea) return adaptive_avg_pool1d(input, sizes);
      if (mode == kNearest) return upsample_nearest1d(input, sizes, a);
      if (mode == kNearestExact) return _upsample_nearest_exact1d(input, sizes, a);
      return upsample_linear1d(input, sizes, align, a);
    case 2:
      if (mode == kArea) return adaptive_avg_pool2d(input, sizes);
      if (mode == kNearest) return upsample_nearest2d(input, sizes, a, b);
      if (mode == kNearestExact) return _upsample_nearest_exact2d(input, sizes, a, b);
      if (mode == kBicubic)
        return o.antialias() ? _upsample_bicubic2d_aa(input, sizes, align, a, b)
                             : upsample_bicubic2d(input, sizes, align, a, b);
      return o.antialias() ? _upsample_bilinear2d_aa(input, sizes, align, a, b)
                           : upsample_bilinear2d(input, sizes, align, a, b);
    default:
      if (mode == kArea) return adaptive_avg_pool3d(input, sizes);
      if (mode == kNearest) return upsample_nearest3d(input, sizes, a, b, c);
      if (mode == kNearestExact) return _upsample_nearest_exact3d(input, sizes, a, b, c);
      return upsample_trilinear3d(input, sizes, align, a, b, c);
  }
}

Variable affine_grid(const Variable& theta, IntArrayRef size, bool align_corners) {
  return affine_grid_generator(theta, size, align_corners);
}

Variable grid_sample(const Variable& input, const Variable& grid, const GridSampleFuncOptions& o) {
  if (!o.align_corners())
    warn(
        "grid_sample: align_corners is not set, and its default is false, as in torch since 1.3.0. Set "
        "align_corners to avoid this warning.");
  const std::int64_t mode = o.mode() == kBilinear ? 0 : o.mode() == kNearest ? 1 : 2;
  const std::int64_t padding = o.padding_mode() == kZeros ? 0 : o.padding_mode() == kBorder ? 1 : 2;
  return grid_sampler(input, grid, mode, padding, o.align_corners().value_or(false));
}

}  // namespace ebb::nn::functional
