// size_of and size_of_colors, which check images and return their sizes, and max_value.
#include "vision/transforms/image.h"

#include <ebb/ebb.h>

#include <limits>

namespace ebb::vision::transforms {

ImageSize size_of(std::string_view what, const Variable& image) {
  EBB_CHECK(image.defined() && image.dim() >= 3, what, ": expected an image [..., C, H, W], got ", image,
            ".");
  return {image.size(-3), image.size(-2), image.size(-1)};
}

ImageSize size_of_colors(std::string_view what, const Variable& image) {
  const ImageSize size = size_of(what, image);
  EBB_CHECK(size.channels == 1 || size.channels == 3, what, ": expected an image of 1 or 3 channels, got ",
            image, ".");
  return size;
}

double max_value(DType dtype) {
  switch (dtype) {
    case kByte:
      return std::numeric_limits<std::uint8_t>::max();
    case kChar:
      return std::numeric_limits<std::int8_t>::max();
    case kShort:
      return std::numeric_limits<std::int16_t>::max();
    case kInt:
      return std::numeric_limits<std::int32_t>::max();
    case kLong:
      return static_cast<double>(std::numeric_limits<std::int64_t>::max());
    default:
      return 1;
  }
}

}  // namespace ebb::vision::transforms
