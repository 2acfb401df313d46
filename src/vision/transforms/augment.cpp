// ColorJitter, RandomGrayscale and GaussianBlur: transforms that change pixel values at random.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/augment.h>
#include <ebb/vision/transforms/color.h>
#include <ebb/vision/transforms/pixels.h>

#include "vision/transforms/draw.h"
#include "vision/transforms/image.h"

#include <algorithm>
#include <array>

namespace ebb::vision::transforms {
namespace {

optional<Range> around(const char* name, double center, double x) {
  EBB_CHECK(x >= 0, "ColorJitter: ", name, " must not be negative, got ", x, ". Set a range instead.");
  if (x == 0) return nullopt;
  return Range(center > 0 ? std::max(0.0, center - x) : -x, center + x);
}

}  // namespace

ColorJitter::ColorJitter(double brightness, double contrast, double saturation, double hue)
    : brightness_(around("brightness", 1, brightness)),
      contrast_(around("contrast", 1, contrast)),
      saturation_(around("saturation", 1, saturation)),
      hue_(around("hue", 0, hue)) {
  EBB_CHECK(hue <= 0.5, "ColorJitter: hue goes up to half a circle, 0.5, not ", hue, ".");
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

}  // namespace ebb::vision::transforms
