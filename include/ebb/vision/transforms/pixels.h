// Images as numbers: dtypes, normalization, erasing and blurring (torchvision.transforms.v2.functional).
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>

namespace ebb::vision::transforms::functional {

/// The image in another dtype; with scale, full brightness stays full brightness: [0, 1] of floating dtypes
/// is [0, largest] of integers. Throws where the integers have more digits than the floating dtype.
EBB_API Variable to_dtype(const Variable& image, DType dtype, bool scale = false);

/// (image - mean) / std of a floating image [..., C, H, W], one value a channel or one for all. Throws for a
/// std of 0.
EBB_API Variable normalize(const Variable& image, ArrayRef<double> mean, ArrayRef<double> std);

/// A copy in which [i, i + h) x [j, j + w) is `value`, which broadcasts: [C, h, w], [C, 1, 1], a number.
EBB_API Variable erase(const Variable& image, std::int64_t i, std::int64_t j, std::int64_t h, std::int64_t w,
                       const Variable& value);

/// Convolved with a Gaussian of kernel_size {across, down} or {both}, odd, and standard deviations sigma of
/// the same order, 0.15 kernel_size + 0.35 unless given; mirrored at the border.
EBB_API Variable gaussian_blur(const Variable& image, IntArrayRef kernel_size, ArrayRef<double> sigma = {});

}  // namespace ebb::vision::transforms::functional
