// Checks of images, and conversions that most transforms use.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string_view>

namespace ebb::vision::transforms {

struct ImageSize {
  std::int64_t channels, height, width;
};

/// Returns the size of an image. Throws unless it is [..., C, H, W].
ImageSize size_of(std::string_view what, const Variable& image);
/// Returns the size of an image. Throws unless it is [..., C, H, W] with 1 or 3 channels.
ImageSize size_of_colors(std::string_view what, const Variable& image);

/// Returns the value of full brightness: 1 for floating dtypes, and the largest value of an integer dtype.
double max_value(DType dtype);

/// Applies f to the image as a batch [N, C, H, W], and restores the leading dimensions in the result [N, C,
/// H', W'].
template <class F>
Variable of_batch(const Variable& image, const F& f) {
  const IntArrayRef sizes = image.sizes();
  const std::size_t leading = sizes.size() - 3;
  const Variable batch = image.reshape({-1, sizes[leading], sizes[leading + 1], sizes[leading + 2]});
  const Variable out = f(batch);
  DimVector shape(sizes.slice(0, leading));
  for (const std::int64_t size : out.sizes().slice(1)) shape.push_back(size);
  return out.reshape(shape);
}

/// Applies f to the image in a floating dtype. Integer images are converted to Float, and the result is
/// rounded and converted back.
template <class F>
Variable in_floating(const Variable& image, const F& f) {
  if (image.is_floating_point()) return f(image);
  return f(image.to(kFloat)).round().to(image.scalar_type());
}

}  // namespace ebb::vision::transforms
