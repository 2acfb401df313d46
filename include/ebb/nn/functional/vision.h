// affine_grid and grid_sample with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/enums.h>

namespace ebb::nn::functional {

/// Options of grid_sample.
class EBB_API GridSampleFuncOptions {
 public:
  using mode_t = OneOf<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = OneOf<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;

  EBB_ARG(mode_t, mode);                   ///< interpolation; kBicubic for images only
  EBB_ARG(padding_mode_t, padding_mode);   ///< values outside the input
  EBB_ARG(optional<bool>, align_corners);  ///< -1 and 1 are centres of outer elements, not edges
};

/// Returns the sampling grid (N, H, W, 2) or (N, D, H, W, 3) for grid_sample. theta (N, 2, 3) or (N, 3, 4)
/// maps the positions of an output with `size` (N, C, H, W) or (N, C, D, H, W) to positions in the input
/// (torch.nn.functional.affine_grid).
EBB_API Variable affine_grid(const Variable& theta, IntArrayRef size, bool align_corners = false);

/// Samples the input (N, C, H, W) or (N, C, D, H, W) at the points of a grid
/// (torch.nn.functional.grid_sample); see ebb::grid_sampler. Warns if align_corners is not set.
EBB_API Variable grid_sample(const Variable& input, const Variable& grid,
                             const GridSampleFuncOptions& options = {});

}  // namespace ebb::nn::functional
