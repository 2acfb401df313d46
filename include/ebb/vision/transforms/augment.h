// Transforms that draw what an image's pixels look like.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/core/random.h>
#include <ebb/nn/expanding_array.h>
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/random_crop.h>

namespace ebb::vision::transforms {

/// Brightness, contrast, saturation and hue adjusted, in any order. A number x stands for factors from
/// max(0, 1 - x) to 1 + x, of hue for turns from -x to x; 0 leaves out.
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

/// Grey with probability p, in as many channels.
class EBB_API RandomGrayscale : public Transform {
 public:
  explicit RandomGrayscale(double p = 0.1) : p_(p) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(double, p);
  EBB_ARG(optional<Generator>, generator);
};

/// functional::gaussian_blur by a standard deviation of a range.
class EBB_API GaussianBlur : public Transform {
 public:
  explicit GaussianBlur(ExpandingArray<2> kernel_size, Range sigma = {0.1, 2.0})
      : kernel_size_(kernel_size), sigma_(sigma) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, kernel_size);  ///< across and down
  EBB_ARG(Range, sigma);
  EBB_ARG(optional<Generator>, generator);
};

}  // namespace ebb::vision::transforms
