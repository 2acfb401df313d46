// Transforms that draw where an image's pixels go.
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

/// {x, y}, in pixels from the top left corner.
using Point = std::array<double, 2>;

/// From the smallest to the largest.
using Range = std::pair<double, double>;

/// A part of the image of this size, anywhere. Throws where the image, padded, is smaller.
///     RandomCrop(32, 4)        // of the image with 4 pixels of zeros on each side
///     RandomCrop({24, 32})     // 24 rows of 32 pixels
class EBB_API RandomCrop : public Transform {
 public:
  explicit RandomCrop(ExpandingArray<2> size, IntArrayRef padding = {})
      : size_(size), padding_(padding.vec()) {}
  /// Two numbers in braces are the height and the width, not a RandomCrop of a size and a padding.
  explicit RandomCrop(const std::int64_t (&size)[2]) : size_({size[0], size[1]}) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, size);             ///< height and width
  EBB_ARG(std::vector<std::int64_t>, padding);  ///< around the image first, as functional::pad's
  EBB_ARG(bool, pad_if_needed) = false;         ///< at both ends of sides that are too short
  EBB_ARG(std::vector<double>, fill) = { 0 };   ///< of the padding, one value or one a channel
  EBB_ARG(PaddingMode, padding_mode) = PaddingMode::constant;
  EBB_ARG(optional<Generator>, generator);
};

/// A part of the image of any place, area and shape within these ranges, resized (Szegedy et al. 2015). Where
/// ten draws do not fit into the image, the middle.
class EBB_API RandomResizedCrop : public Transform {
 public:
  explicit RandomResizedCrop(ExpandingArray<2> size) : size_(size) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, size);                  ///< height and width
  EBB_ARG(Range, scale) = { 0.08, 1.0 };             ///< of the image's area
  EBB_ARG(Range, ratio) = { 3.0 / 4.0, 4.0 / 3.0 };  ///< of width to height, drawn by its logarithm
  EBB_ARG(InterpolationMode, interpolation) = InterpolationMode::bilinear;
  EBB_ARG(bool, antialias) = true;
  EBB_ARG(optional<Generator>, generator);
};

/// Left and right exchanged with probability p.
class EBB_API RandomHorizontalFlip : public Transform {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(optional<Generator>, generator);
};

/// Top and bottom exchanged with probability p.
class EBB_API RandomVerticalFlip : public Transform {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(optional<Generator>, generator);
};

/// functional::rotate by an angle from -degrees to degrees, or of a range.
class EBB_API RandomRotation : public Transform {
 public:
  explicit RandomRotation(double degrees) : degrees_(-degrees, degrees) {}
  RandomRotation(double least, double most) : degrees_(least, most) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(Range, degrees);
  EBB_ARG(InterpolationMode, interpolation) = InterpolationMode::nearest;
  EBB_ARG(bool, expand) = false;
  EBB_ARG(optional<Point>, center);            ///< {x, y}; the middle unless set
  EBB_ARG(std::vector<double>, fill) = { 0 };  ///< of what comes from outside
  EBB_ARG(optional<Generator>, generator);
};

/// A rectangle erased with probability p (Zhong et al. 2017). None where ten draws do not fit into the image.
class EBB_API RandomErasing : public Transform {
 public:
  explicit RandomErasing(double p = 0.5) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(Range, scale) = { 0.02, 0.33 };       ///< of the image's area
  EBB_ARG(Range, ratio) = { 0.3, 3.3 };         ///< of height to width, drawn by its logarithm
  EBB_ARG(std::vector<double>, value) = { 0 };  ///< one, one a channel, or none: standard normal numbers
  EBB_ARG(optional<Generator>, generator);
};

}  // namespace ebb::vision::transforms
