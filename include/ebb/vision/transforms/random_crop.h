// RandomCrop, RandomResizedCrop, RandomHorizontalFlip, RandomRotation, RandomErasing: random geometric
// transforms.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/core/random.h>
#include <ebb/nn/expanding_array.h>
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/geometry.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ebb::vision::transforms {

/// {x, y} in pixels from the top left corner.
using Point = std::array<double, 2>;

/// {minimum, maximum}.
using Range = std::pair<double, double>;

/// Crops to a size at a random position. Throws if the image, after padding, is smaller.
///     RandomCrop(32, 4)        // pads with 4 zeros on each side first
///     RandomCrop({24, 32})     // height 24, width 32
class EBB_API RandomCrop : public Transform {
 public:
  explicit RandomCrop(ExpandingArray<2> size, IntArrayRef padding = {})
      : size_(size), padding_(padding.vec()) {}
  /// Two numbers in braces are height and width, not a size and a padding.
  explicit RandomCrop(const std::int64_t (&size)[2]) : size_({size[0], size[1]}) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, size);             ///< height and width
  EBB_ARG(std::vector<std::int64_t>, padding);  ///< padding before the crop, as in functional::pad
  EBB_ARG(bool, pad_if_needed) = false;         ///< pads both ends of sides that are too short
  EBB_ARG(std::vector<double>, fill) = { 0 };   ///< padding value, one for all channels or one for each
  EBB_ARG(PaddingMode, padding_mode) = PaddingMode::constant;
  EBB_ARG(optional<Generator>, generator);
};

/// Crops a random area and aspect ratio at a random position, and resizes it (Szegedy et al. 2015). If ten
/// samples do not fit into the image, crops the centre.
class EBB_API RandomResizedCrop : public Transform {
 public:
  explicit RandomResizedCrop(ExpandingArray<2> size) : size_(size) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, size);                  ///< height and width
  EBB_ARG(Range, scale) = { 0.08, 1.0 };             ///< range of the fraction of the image's area
  EBB_ARG(Range, ratio) = { 3.0 / 4.0, 4.0 / 3.0 };  ///< range of width / height, log-uniform
  EBB_ARG(InterpolationMode, interpolation) = InterpolationMode::bilinear;
  EBB_ARG(bool, antialias) = true;
  EBB_ARG(optional<Generator>, generator);
};

/// Flips the image horizontally with probability p.
class EBB_API RandomHorizontalFlip : public Transform {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(optional<Generator>, generator);
};

/// Flips the image vertically with probability p.
class EBB_API RandomVerticalFlip : public Transform {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(optional<Generator>, generator);
};

/// Applies functional::rotate with a random angle in [-degrees, degrees], or in a range.
class EBB_API RandomRotation : public Transform {
 public:
  explicit RandomRotation(double degrees) : degrees_(-degrees, degrees) {}
  RandomRotation(double least, double most) : degrees_(least, most) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(Range, degrees);
  EBB_ARG(InterpolationMode, interpolation) = InterpolationMode::nearest;
  EBB_ARG(bool, expand) = false;
  EBB_ARG(optional<Point>, center);            ///< {x, y} in pixels; the default is the middle
  EBB_ARG(std::vector<double>, fill) = { 0 };  ///< value of pixels from outside
  EBB_ARG(optional<Generator>, generator);
};

/// Erases a random rectangle with probability p (Zhong et al. 2017). Erases nothing if the rectangles of ten
/// samples do not fit.
class EBB_API RandomErasing : public Transform {
 public:
  explicit RandomErasing(double p = 0.5) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(Range, scale) = { 0.02, 0.33 };       ///< range of the fraction of the image's area
  EBB_ARG(Range, ratio) = { 0.3, 3.3 };         ///< range of height / width, log-uniform
  EBB_ARG(std::vector<double>, value) = { 0 };  ///< one value or one per channel; none: N(0, 1) noise
  EBB_ARG(optional<Generator>, generator);
};

}  // namespace ebb::vision::transforms
