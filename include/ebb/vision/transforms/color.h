// Colour adjustments: torchvision.transforms.v2.functional on tensors.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>

namespace ebb::vision::transforms::functional {

// Images are [..., C, H, W] with 1 or 3 channels. Values are floating in [0, 1], or integers up to the
// dtype's maximum. The dtype does not change, and results are clamped to the range.

/// 0.2989 R + 0.587 G + 0.114 B, as 1 channel or repeated in 3.
EBB_API Variable rgb_to_grayscale(const Variable& image, std::int64_t num_output_channels = 1);

/// Multiplies by brightness_factor: 0 gives black, 1 the image.
EBB_API Variable adjust_brightness(const Variable& image, double brightness_factor);
/// Blends with the mean grey of each image: 0 gives the mean, 1 gives the image, and above 1 the contrast
/// increases.
EBB_API Variable adjust_contrast(const Variable& image, double contrast_factor);
/// Blends with the grey image: 0 gives the grey image, 1 the image. Grey images do not change.
EBB_API Variable adjust_saturation(const Variable& image, double saturation_factor);
/// Shifts hues by hue_factor, a fraction of the colour circle from -0.5 to 0.5. Grey images do not change.
EBB_API Variable adjust_hue(const Variable& image, double hue_factor);
/// gain * image^gamma.
EBB_API Variable adjust_gamma(const Variable& image, double gamma, double gain = 1);

/// Returns the maximum value minus the image.
EBB_API Variable invert(const Variable& image);
/// Inverts values that are at least `threshold`.
EBB_API Variable solarize(const Variable& image, double threshold);
/// Reduces to 2^bits levels, 0 <= bits <= 8.
EBB_API Variable posterize(const Variable& image, std::int64_t bits);
/// Stretches each channel from its minimum and maximum to the full range.
EBB_API Variable autocontrast(const Variable& image);
/// Equalizes the histogram of each channel in 256 levels, as in Pillow.
EBB_API Variable equalize(const Variable& image);

}  // namespace ebb::vision::transforms::functional
