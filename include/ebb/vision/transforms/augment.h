// ColorJitter, RandomGrayscale and GaussianBlur: random transforms of an image's colours.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/core/random.h>
#include <ebb/nn/expanding_array.h>
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/random_crop.h>

namespace ebb::vision::transforms {

/// Adjusts brightness, contrast, saturation and hue, in random order. An argument x selects a random factor
/// in [max(0, 1 - x), 1 + x], or for hue a random shift in [-x, x]. 0 skips the adjustment.
class EBB_API ColorJitter : public Transform {
 public:
  explicit ColorJitter(double brightness = 0, double contrast = 0, double saturation = 0, double hue = 0);
  Variable forward(const Variable& image) const override;

  EBB_ARG(optional<Range>, brightness);
  EBB_ARG(optional<Range>, contrast);
  EBB_ARG(optional<Range>, saturation);
  EBB_ARG(optional<Range>, hue);
  EBB_ARG(optional<Generator>, generator);
};

/// Converts to grey with probability p. The number of channels does not change.
class EBB_API RandomGrayscale : public Transform {
 public:
  explicit RandomGrayscale(double p = 0.1) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(optional<Generator>, generator);
};

/// Applies functional::gaussian_blur with a standard deviation drawn from a range.
class EBB_API GaussianBlur : public Transform {
 public:
  explicit GaussianBlur(ExpandingArray<2> kernel_size, Range sigma = {0.1, 2.0})
      : kernel_size_(kernel_size), sigma_(sigma) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, kernel_size);  ///< horizontal, vertical
  EBB_ARG(Range, sigma);
  EBB_ARG(optional<Generator>, generator);
};

}  // namespace ebb::vision::transforms
