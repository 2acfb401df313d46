// What colours an image's pixels have: torchvision.transforms.v2.functional on tensors.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>

namespace ebb::vision::transforms::functional {

// Images [..., C, H, W] of 1 or 3 channels, floating in [0, 1] or of integers up to the largest of their
// dtype, which stays. Values beyond are clamped.

/// 0.2989 R + 0.587 G + 0.114 B, in 1 channel, or repeated in 3.
EBB_API Variable rgb_to_grayscale(const Variable& image, std::int64_t num_output_channels = 1);

/// Times brightness_factor: 0 gives black, 1 the image.
EBB_API Variable adjust_brightness(const Variable& image, double brightness_factor);
/// 0 gives the mean grey of each image, 1 the image, above 1 away from the mean.
EBB_API Variable adjust_contrast(const Variable& image, double contrast_factor);
/// 0 gives the grey image, 1 the image. Grey images stay.
EBB_API Variable adjust_saturation(const Variable& image, double saturation_factor);
/// Turns hues by hue_factor of a circle, -0.5 to 0.5. Grey images stay.
EBB_API Variable adjust_hue(const Variable& image, double hue_factor);
/// gain * image^gamma.
EBB_API Variable adjust_gamma(const Variable& image, double gamma, double gain = 1);

/// The largest value less the image.
EBB_API Variable invert(const Variable& image);
/// What is at least `threshold` inverted.
EBB_API Variable solarize(const Variable& image, double threshold);
/// 2^bits levels, 0 <= bits <= 8.
EBB_API Variable posterize(const Variable& image, std::int64_t bits);
/// Each channel stretched from its smallest and largest value to all values.
EBB_API Variable autocontrast(const Variable& image);
/// Each channel so that its values are about equally frequent, as Pillow does it; in 256 levels.
EBB_API Variable equalize(const Variable& image);

}  // namespace ebb::vision::transforms::functional
