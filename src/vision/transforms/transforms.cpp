// The classes of transforms. The transforms without random numbers are Compose, Resize, CenterCrop, Pad,
// ToDtype and Normalize. The random ones are ColorJitter, RandomGrayscale, GaussianBlur, RandomCrop,
// RandomResizedCrop, RandomHorizontalFlip, RandomVerticalFlip, RandomRotation and RandomErasing.
#include <ebb/core/random.h>
#include <ebb/ebb.h>
#include <ebb/vision/transforms/augment.h>
#include <ebb/vision/transforms/color.h>
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/pixels.h>
#include <ebb/vision/transforms/random_crop.h>
#include <ebb/vision/transforms/resize.h>

#include "vision/transforms/image.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ebb::vision::transforms {
namespace {

constexpr int kDraws = 10;  // the maximum number of random rectangles that are tried

optional<Range> around(const char* name, double center, double x) {
  EBB_CHECK(x >= 0, "ColorJitter: ", name, " must not be negative, got ", x, ". Set a range instead.");
  if (x == 0) return nullopt;
  return Range(center > 0 ? std::max(0.0, center - x) : -x, center + x);
}

// Random numbers of the transforms, drawn in the same order and from the same distributions as in
// torchvision.
namespace draw {

using From = optional<Generator>;

double uniform(const Range& range, const From& generator) {
  EBB_CHECK(range.first <= range.second, "Expected a range from the smaller to the larger, got ", range.first,
            " and ", range.second, ".");
  return uniform_(empty({1}, kFloat), range.first, range.second, generator).item<float>();
}

// Draws an integer i with 0 <= i < below.
std::int64_t integer(std::int64_t below, const From& generator) {
  return randint(below, {1}, generator).item<std::int64_t>();
}

bool happens(double p, const From& generator) {
  EBB_CHECK(p >= 0 && p <= 1, "Expected a probability between 0 and 1, got ", p, ".");
  return rand({1}, generator, kFloat).item<float>() < p;
}

struct Rectangle {
  std::int64_t first, second;  // the sides; first / second is the ratio
};

// Draws the rounded sides of a rectangle. The fraction of `area` that it covers is uniform in `scale`. The
// logarithm of its ratio is uniform between the logarithms of the bounds in `ratio`.
Rectangle rectangle(double area, const Range& scale, const Range& ratio, const From& generator) {
  const double target = area * uniform(scale, generator);
  const Range log_ratio = {std::log(static_cast<float>(ratio.first)),
                           std::log(static_cast<float>(ratio.second))};
  const double drawn = std::exp(static_cast<float>(uniform(log_ratio, generator)));
  const auto side = [](double square) {
    return static_cast<std::int64_t>(std::nearbyint(std::sqrt(square)));
  };
  return {side(target * drawn), side(target / drawn)};
}

}  // namespace draw

}  // namespace

Variable Compose::forward(const Variable& image) const {
  Variable out = image;
  for (const Step& step : steps_) out = step(out);
  return out;
}

Variable Resize::forward(const Variable& image) const {
  return functional::resize(image, size_, interpolation_, max_size_, antialias_);
}
Variable CenterCrop::forward(const Variable& image) const { return functional::center_crop(image, size_); }
Variable Pad::forward(const Variable& image) const {
  return functional::pad(image, padding_, fill_, padding_mode_);
}
Variable ToDtype::forward(const Variable& image) const { return functional::to_dtype(image, dtype_, scale_); }
Variable Normalize::forward(const Variable& image) const { return functional::normalize(image, mean_, std_); }

ColorJitter::ColorJitter(double brightness, double contrast, double saturation, double hue)
    : brightness_(around("brightness", 1, brightness)),
      contrast_(around("contrast", 1, contrast)),
      saturation_(around("saturation", 1, saturation)),
      hue_(around("hue", 0, hue)) {
  EBB_CHECK(hue <= 0.5, "ColorJitter: hue must be at most 0.5, half a circle, got ", hue, ".");
}

Variable ColorJitter::forward(const Variable& image) const {
  struct Step {
    const optional<Range>& range;
    Variable (*adjust)(const Variable&, double);
  };
  const std::array<Step, 4> steps = {{{brightness_, functional::adjust_brightness},
                                      {contrast_, functional::adjust_contrast},
                                      {saturation_, functional::adjust_saturation},
                                      {hue_, functional::adjust_hue}}};
  const Variable order = randperm(4, generator_);
  std::array<double, 4> factors{};
  for (std::size_t i = 0; i < 4; ++i)
    if (steps[i].range) factors[i] = draw::uniform(*steps[i].range, generator_);
  Variable out = image;
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto next = static_cast<std::size_t>(order[i].item<std::int64_t>());
    if (steps[next].range) out = steps[next].adjust(out, factors[next]);
  }
  return out;
}

Variable RandomGrayscale::forward(const Variable& image) const {
  const ImageSize size = size_of_colors("RandomGrayscale", image);
  return draw::happens(p_, generator_) ? functional::rgb_to_grayscale(image, size.channels) : image;
}

Variable GaussianBlur::forward(const Variable& image) const {
  const double sigma = draw::uniform(sigma_, generator_);
  return functional::gaussian_blur(image, kernel_size_, {sigma, sigma});
}

Variable RandomCrop::forward(const Variable& image) const {
  const std::int64_t height = (*size_)[0], width = (*size_)[1];
  EBB_CHECK(height > 0 && width > 0, "RandomCrop: height and width must be positive, got ", height, " and ",
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
