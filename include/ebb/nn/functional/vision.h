// Sampling at grids with options (torch::nn::functional).
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

  EBB_ARG(mode_t, mode);                   ///< between elements; kBicubic for images only
  EBB_ARG(padding_mode_t, padding_mode);   ///< beyond them
  EBB_ARG(optional<bool>, align_corners);  ///< -1 and 1 are the outermost centres; false unless set
};

/// The grid (N, H, W, 2) or (N, D, H, W, 3) that theta (N, 2, 3) or (N, 3, 4) maps the places of an output of
/// `size`, (N, C, H, W) or (N, C, D, H, W), to: what grid_sample takes (torch.nn.functional.affine_grid).
EBB_API Variable affine_grid(const Variable& theta, IntArrayRef size, bool align_corners = false);

/// The input (N, C, H, W) or (N, C, D, H, W) read at the points of a grid (torch.nn.functional.grid_sample);
/// see ebb::grid_sampler. Warns where align_corners is not set.
EBB_API Variable grid_sample(const Variable& input, const Variable& grid,
                             const GridSampleFuncOptions& options = {});

}  // namespace ebb::nn::functional
