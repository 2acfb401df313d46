// Pictures side by side.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::vision {

/// Joins images [N, C, H, W] (or one [C, H, W], or [H, W]) into one picture [C, rows * (H + padding) +
/// padding, ...], `columns` of them a row, with `padding` pixels of `pad_value` around each; grey images
/// become RGB (torchvision.utils.make_grid). The dtype stays. Throws for other dimensions.
EBB_API Variable make_grid(const Variable& images, std::int64_t columns = 8, std::int64_t padding = 2,
                           double pad_value = 0);

}  // namespace ebb::vision
