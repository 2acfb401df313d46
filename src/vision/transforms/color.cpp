// Colour adjustments: rgb_to_grayscale, adjust_brightness, adjust_hue, autocontrast, equalize and others.
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
            "rgb_to_grayscale: num_output_channels must be 1 or 3, got ", num_output_channels, ".");
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
  // Inverting every bit except the sign computes max - x. A subtraction would convert max to double, which is
  // not exact for kLong.
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
  // step = (number of pixels - number of pixels of the brightest value) / 255. The new value of v + 1 is
  // levels[v] = (number of pixels up to value v + step / 2) / step. A channel whose step is 0 stays
  // unchanged.
  const Variable brightest = cumulative.argmax(-1, true);
  const Variable step = histogram.gather(-1, brightest).neg().add(flat.size(-1)).div(255, "floor");
  const Variable levels = cumulative.add(step.div(2, "floor")).div(step.clamp_min(1), "floor").clamp(0, 255);
  const Variable table = cat({zeros_like(levels.narrow(-1, 0, 1)), levels.narrow(-1, 0, 255)}, -1);
  const Variable equalized = table.gather(-1, flat).reshape(bytes.sizes()).to(kByte);
  return to_dtype(where(step.ne(0).unsqueeze(-1), equalized, bytes), image.scalar_type(), true);
}

namespace {

struct Hsv {
  Variable hue, saturation, value;  // [..., H, W], in [0, 1]
};

Hsv hsv_of_rgb(const Variable& image) {
  const auto [least, most] = image.aminmax(-3);
  const Variable range = most.sub(least), gray = range.eq(0);
  // Grey pixels have no hue. A divisor of 1 sets the hue to 0.
  const Variable saturation = range.div(most.masked_fill(gray, 1));
  const std::vector<Variable> below =
      most.unsqueeze(-3).sub(image).div(range.masked_fill(gray, 1).unsqueeze(-3)).unbind(-3);
  const std::vector<Variable> rgb = image.unbind(-3);
  const Variable red = most.eq(rgb[0]), green = most.eq(rgb[1]).logical_and(red.logical_not());
  const Variable sixths = where(red, below[2].sub(below[1]),
                                where(green, below[0].sub(below[2]).add(2), below[1].sub(below[0]).add(4)));
  return {sixths.mul(1.0 / 6).add(1).fmod(1), saturation, most};
}

Variable rgb_of_hsv(const Hsv& hsv) {
  const Variable turned = hsv.hue.mul(6), sector = turned.floor(), within = turned.sub(sector);
  const Variable& s = hsv.saturation;
  const Variable& v = hsv.value;
  const Variable low = s.neg().add(1).mul(v).clamp(0, 1);
  const Variable falling = s.mul(within).neg().add(1).mul(v).clamp(0, 1);
  const Variable rising = s.mul(within).add(s.neg().add(1)).mul(v).clamp(0, 1);
  // choice[c][s] is the index in {v, low, falling, rising} of the value of channel c in sixth s of the colour
  // circle.
  const Variable choice = tensor({{0, 2, 1, 1, 3, 0}, {3, 0, 0, 2, 1, 1}, {1, 1, 3, 0, 0, 2}},
                                 TensorOptions(kLong).device(v.device()));
  const Variable sixth = sector.to(kLong).remainder(6);
  const Variable picked = choice.index_select(1, sixth.flatten()).unflatten(1, sixth.sizes()).movedim(0, -3);
  return stack({v, low, falling, rising}, -3).gather(-3, picked);
}

}  // namespace

Variable adjust_hue(const Variable& image, double hue_factor) {
  const ImageSize size = size_of_colors("adjust_hue", image);
  EBB_CHECK(hue_factor >= -0.5 && hue_factor <= 0.5,
            "adjust_hue: hue_factor must be in the range -0.5 to 0.5, got ", hue_factor, ".");
  if (size.channels == 1 || image.numel() == 0) return image;
  Hsv hsv = hsv_of_rgb(to_dtype(image, kFloat, true));
  hsv.hue = hsv.hue.add(hue_factor).remainder(1);
  return to_dtype(rgb_of_hsv(hsv), image.scalar_type(), true);
}

}  // namespace ebb::vision::transforms::functional
