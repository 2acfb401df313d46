// Colour adjustments: rgb_to_grayscale, adjust_brightness, autocontrast, equalize and others.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/color.h>
#include <ebb/vision/transforms/pixels.h>

#include "vision/transforms/image.h"

#include <limits>

namespace ebb::vision::transforms::functional {
namespace {

// Returns the luminance [..., 1, H, W] in a floating dtype, not rounded.
Variable luminance(const Variable& image) {
  const std::vector<Variable> rgb = image.unbind(-3);
  return rgb[0].mul(0.2989).add_(rgb[1], 0.587).add_(rgb[2], 0.114).unsqueeze(-3);
}

// Returns the grayscale image for adjustments of saturation and contrast, floored for integer images.
Variable faded(const Variable& image) {
  return image.is_floating_point() ? luminance(image) : luminance(image).floor_();
}

// Returns ratio * image + (1 - ratio) * other, clamped to the range of the dtype.
Variable blend(const Variable& image, const Variable& other, double ratio) {
  return image.mul(ratio)
      .add_(other, 1 - ratio)
      .clamp_(0, max_value(image.scalar_type()))
      .to(image.scalar_type());
}

void check_factor(const char* what, double factor) {
  EBB_CHECK(factor >= 0, what, ": expected a factor that is not negative, got ", factor, ".");
}

}  // namespace

Variable rgb_to_grayscale(const Variable& image, std::int64_t num_output_channels) {
  const ImageSize size = size_of_colors("rgb_to_grayscale", image);
  EBB_CHECK(num_output_channels == 1 || num_output_channels == 3,
            "rgb_to_grayscale: num_output_channels must be 1 or 3, not ", num_output_channels, ".");
  const Variable gray = size.channels == 1 ? image.clone() : luminance(image).to(image.scalar_type());
  return num_output_channels == 1 ? gray : gray.repeat_interleave(3, -3);
}

Variable adjust_brightness(const Variable& image, double brightness_factor) {
  size_of_colors("adjust_brightness", image);
  check_factor("adjust_brightness", brightness_factor);
  return image.mul(brightness_factor).clamp_(0, max_value(image.scalar_type())).to(image.scalar_type());
}

Variable adjust_contrast(const Variable& image, double contrast_factor) {
  const ImageSize size = size_of_colors("adjust_contrast", image);
  check_factor("adjust_contrast", contrast_factor);
  const Variable gray = size.channels == 3          ? faded(image)
                        : image.is_floating_point() ? image
                                                    : image.to(kFloat);
  return blend(image, gray.mean({-3, -2, -1}, true), contrast_factor);
}

Variable adjust_saturation(const Variable& image, double saturation_factor) {
  const ImageSize size = size_of_colors("adjust_saturation", image);
  check_factor("adjust_saturation", saturation_factor);
  return size.channels == 1 ? image : blend(image, faded(image), saturation_factor);
}

Variable adjust_gamma(const Variable& image, double gamma, double gain) {
  size_of("adjust_gamma", image);
  check_factor("adjust_gamma", gamma);
  Variable out = (image.is_floating_point() ? image : to_dtype(image, kFloat, true)).pow(gamma);
  if (gain != 1) out = out.mul(gain).clamp(0, 1);
  return to_dtype(out, image.scalar_type(), true);
}

Variable invert(const Variable& image) {
  if (image.is_floating_point()) return image.neg().add(1);
  if (image.dtype() == kByte) return image.bitwise_not();
  // max - x inverts every bit except the sign. The maximum of kLong is not exact as a double.
  if (image.dtype() == kLong) return image.bitwise_xor(std::numeric_limits<std::int64_t>::max());
  return image.bitwise_xor(static_cast<std::int64_t>(max_value(image.scalar_type())));
}

Variable solarize(const Variable& image, double threshold) {
  EBB_CHECK(threshold <= max_value(image.scalar_type()), "solarize: the threshold ", threshold,
            " is above the largest value of ", image, ".");
  return where(image.ge(threshold), invert(image), image);
}

Variable posterize(const Variable& image, std::int64_t bits) {
  EBB_CHECK(bits >= 0 && bits <= 8, "posterize: expected 0 to 8 bits, got ", bits, ".");
  const std::int64_t levels = std::int64_t{1} << bits;
  if (image.is_floating_point())
    return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / static_cast<double>(levels));
  EBB_CHECK(image.dtype() == kByte, "posterize: expected an image of bytes or of floating dtype, got ", image,
            ".");
  return image.bitwise_and(256 - 256 / levels);
}

Variable autocontrast(const Variable& image) {
  size_of_colors("autocontrast", image);
  if (image.numel() == 0) return image;
  const double bound = max_value(image.scalar_type());
  const Variable floating = image.is_floating_point() ? image : image.to(kFloat);
  const Variable low = floating.amin({-2, -1}, true), range = floating.amax({-2, -1}, true).sub(low);
  const Variable flat = range.eq(0);  // such channels stay unchanged
  return floating.sub(low.masked_fill(flat, 0))
      .div(range.mul(1 / bound).masked_fill(flat, 1))
      .clamp(0, bound)
      .to(image.scalar_type());
}

Variable equalize(const Variable& image) {
  size_of("equalize", image);
  if (image.numel() == 0) return image;
  const Variable bytes = to_dtype(image, kByte, true);
  const Variable flat = bytes.flatten(-2).to(kLong);
  DimVector bins(flat.sizes());
  bins.back() = 256;
  const Variable histogram = zeros(bins, flat.options()).scatter_add_(-1, flat, ones_like(flat));
  const Variable cumulative = histogram.cumsum(-1);
  // `step` is the number of pixels, without the brightest ones, for each of the 255 steps of brightness.
  // `levels` are the steps below each value. A channel whose step is 0 stays unchanged.
  const Variable brightest = cumulative.argmax(-1, true);
  const Variable step = histogram.gather(-1, brightest).neg().add(flat.size(-1)).div(255, "floor");
  const Variable levels = cumulative.add(step.div(2, "floor")).div(step.clamp_min(1), "floor").clamp(0, 255);
  const Variable table = cat({zeros_like(levels.narrow(-1, 0, 1)), levels.narrow(-1, 0, 255)}, -1);
  const Variable equalized = table.gather(-1, flat).reshape(bytes.sizes()).to(kByte);
  return to_dtype(where(step.ne(0).unsqueeze(-1), equalized, bytes), image.scalar_type(), true);
}

}  // namespace ebb::vision::transforms::functional
