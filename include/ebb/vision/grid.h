// make_grid: combines images into one picture.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::vision {

/// Combines images [N, C, H, W] (or one [C, H, W], or [H, W]) into one picture [C, rows * (H + padding) +
/// padding, n * (W + padding) + padding], where a row has n = min(columns, N) images. `padding` pixels of
/// `pad_value` surround each image. Grey images become RGB (torchvision.utils.make_grid). The dtype does not
/// change. Throws for other numbers of dimensions.
EBB_API Variable make_grid(const Variable& images, std::int64_t columns = 8, std::int64_t padding = 2,
                           double pad_value = 0);

}  // namespace ebb::vision
