// adjust_hue: conversion between RGB and HSV like in Pillow.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/color.h>
#include <ebb/vision/transforms/pixels.h>

#include "vision/transforms/image.h"

namespace ebb::vision::transforms::functional {
namespace {

struct Hsv {
  Variable hue, saturation, value;  // [..., H, W], in [0, 1]
};

Hsv hsv_of_rgb(const Variable& image) {
  const auto [least, most] = image.aminmax(-3);
  const Variable range = most.sub(least), gray = range.eq(0);
  // Grey pixels have no hue, and a divisor of 1 sets it to 0.
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
  // For each sixth of the circle: which of v, low, falling and rising are red, green and blue.
  const Variable choice = tensor({{0, 2, 1, 1, 3, 0}, {3, 0, 0, 2, 1, 1}, {1, 1, 3, 0, 0, 2}},
                                 TensorOptions(kLong).device(v.device()));
  const Variable sixth = sector.to(kLong).remainder(6);
  const Variable picked = choice.index_select(1, sixth.flatten()).unflatten(1, sixth.sizes()).movedim(0, -3);
  return stack({v, low, falling, rising}, -3).gather(-3, picked);
}

}  // namespace

Variable adjust_hue(const Variable& image, double hue_factor) {
  const ImageSize size = size_of_colors("adjust_hue", image);
  EBB_CHECK(hue_factor >= -0.5 && hue_factor <= 0.5, "adjust_hue: hue_factor goes from -0.5 to 0.5, not ",
            hue_factor, ".");
  if (size.channels == 1 || image.numel() == 0) return image;
  Hsv hsv = hsv_of_rgb(to_dtype(image, kFloat, true));
  hsv.hue = hsv.hue.add(hue_factor).remainder(1);
  return to_dtype(rgb_of_hsv(hsv), image.scalar_type(), true);
}

}  // namespace ebb::vision::transforms::functional
