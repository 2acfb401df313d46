// to_dtype, normalize, erase and gaussian_blur (torchvision.transforms.v2.functional).
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>

namespace ebb::vision::transforms::functional {

/// Converts the dtype. With scale, [0, 1] of floating dtypes corresponds to [0, maximum] of integers. Throws
/// if the integer dtype has more digits than the floating dtype.
EBB_API Variable to_dtype(const Variable& image, DType dtype, bool scale = false);

/// (image - mean) / std for a floating image [..., C, H, W], with one value for each channel or one for all.
/// Throws for a std of 0.
EBB_API Variable normalize(const Variable& image, ArrayRef<double> mean, ArrayRef<double> std);

/// Returns a copy with `value` in [i, i + h) x [j, j + w). `value` has the shape [C, h, w] or [C, 1, 1], or
/// one element, and is broadcast to the region.
EBB_API Variable erase(const Variable& image, std::int64_t i, std::int64_t j, std::int64_t h, std::int64_t w,
                       const Variable& value);

/// Convolves with a Gaussian. kernel_size is {horizontal, vertical} or {both}; the sizes must be odd. sigma
/// contains the standard deviations in the same order. Their default is 0.15 kernel_size + 0.35. The border
/// is mirrored.
EBB_API Variable gaussian_blur(const Variable& image, IntArrayRef kernel_size, ArrayRef<double> sigma = {});

}  // namespace ebb::vision::transforms::functional
