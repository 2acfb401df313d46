// RandomCrop, RandomResizedCrop, flips, RandomRotation and RandomErasing: transforms that move or erase
// pixels at random.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/pixels.h>
#include <ebb/vision/transforms/random_crop.h>

#include "vision/transforms/draw.h"
#include "vision/transforms/image.h"

#include <algorithm>
#include <cmath>

namespace ebb::vision::transforms {
namespace {

constexpr int kDraws = 10;  // the number of random rectangles before one that always fits is used

}  // namespace

Variable RandomCrop::forward(const Variable& image) const {
  const std::int64_t height = (*size_)[0], width = (*size_)[1];
  EBB_CHECK(height > 0 && width > 0, "RandomCrop: height and width must be positive, not ", height, " and ",
            width, ".");
  Variable padded = padding_.empty() ? image : functional::pad(image, padding_, fill_, padding_mode_);
  ImageSize size = size_of("RandomCrop", padded);
  if (pad_if_needed_ && (size.height < height || size.width < width)) {
    padded = functional::pad(
        padded,
        {std::max<std::int64_t>(width - size.width, 0), std::max<std::int64_t>(height - size.height, 0)},
        fill_, padding_mode_);
    size = size_of("RandomCrop", padded);
  }
  EBB_CHECK(size.height >= height && size.width >= width, "RandomCrop: cannot cut ", height, " x ", width,
            " pixels from ", size.height, " x ", size.width, ". Pad the image, or set pad_if_needed.");
  const std::int64_t top = size.height > height ? draw::integer(size.height - height + 1, generator_) : 0;
  const std::int64_t left = size.width > width ? draw::integer(size.width - width + 1, generator_) : 0;
  return functional::crop(padded, top, left, height, width);
}

Variable RandomResizedCrop::forward(const Variable& image) const {
  const ImageSize size = size_of("RandomResizedCrop", image);
  const auto resized = [&](std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
    return functional::resized_crop(image, top, left, height, width, size_, interpolation_, antialias_);
  };
  const auto area = static_cast<double>(size.height * size.width);
  for (int i = 0; i < kDraws; ++i) {
    const auto [width, height] = draw::rectangle(area, scale_, ratio_, generator_);
    if (width <= 0 || width > size.width || height <= 0 || height > size.height) continue;
    const std::int64_t top = draw::integer(size.height - height + 1, generator_);
    return resized(top, draw::integer(size.width - width + 1, generator_), height, width);
  }
  const auto round = [](double x) { return static_cast<std::int64_t>(std::nearbyint(x)); };
  const double now = static_cast<double>(size.width) / static_cast<double>(size.height);
  std::int64_t height = size.height, width = size.width;
  if (now < ratio_.first) height = round(static_cast<double>(width) / ratio_.first);
  if (now > ratio_.second) width = round(static_cast<double>(height) * ratio_.second);
  return resized((size.height - height) / 2, (size.width - width) / 2, height, width);
}

Variable RandomHorizontalFlip::forward(const Variable& image) const {
  return draw::happens(p_, generator_) ? functional::hflip(image) : image;
}

Variable RandomVerticalFlip::forward(const Variable& image) const {
  return draw::happens(p_, generator_) ? functional::vflip(image) : image;
}

Variable RandomRotation::forward(const Variable& image) const {
  return functional::rotate(image, draw::uniform(degrees_, generator_), interpolation_, expand_, center_,
                            fill_);
}

Variable RandomErasing::forward(const Variable& image) const {
  const ImageSize size = size_of("RandomErasing", image);
  if (!draw::happens(p_, generator_)) return image;
  const auto area = static_cast<double>(size.height * size.width);
  for (int i = 0; i < kDraws; ++i) {
    const auto [height, width] = draw::rectangle(area, scale_, ratio_, generator_);
    if (height >= size.height || width >= size.width) continue;
    const Variable value = value_.empty() ? randn({size.channels, height, width}, generator_, kFloat)
                                          : tensor(value_, kFloat).reshape({-1, 1, 1});
    const std::int64_t top = draw::integer(size.height - height + 1, generator_);
    return functional::erase(image, top, draw::integer(size.width - width + 1, generator_), height, width,
                             value);
  }
  return image;
}

}  // namespace ebb::vision::transforms
