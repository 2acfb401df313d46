// What functions of images ask about their arguments.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string_view>

namespace ebb::vision::transforms {

struct ImageSize {
  std::int64_t channels, height, width;
};

/// Throws unless it is [..., C, H, W].
ImageSize size_of(std::string_view what, const Variable& image);
/// The same, and throws unless it has 1 or 3 channels.
ImageSize size_of_colors(std::string_view what, const Variable& image);

/// Full brightness: 1, or the largest integer.
double max_value(DType dtype);

/// The image as a batch [N, C, H, W], what f makes of it, [N, C, H', W'], under the image's own leading
/// dimensions.
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

/// What f makes of the image in a floating dtype, in its own: integers are computed in Float and rounded.
template <class F>
Variable in_floating(const Variable& image, const F& f) {
  if (image.is_floating_point()) return f(image);
  return f(image.to(kFloat)).round().to(image.scalar_type());
}

}  // namespace ebb::vision::transforms
