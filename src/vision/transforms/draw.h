// Random numbers in the order and of the kind that torchvision draws them.
#pragma once

#include <ebb/core/random.h>
#include <ebb/vision/transforms/random_crop.h>

namespace ebb::vision::transforms::draw {

using From = optional<Generator>;

double uniform(const Range& range, const From& generator);
/// 0 <= i < below.
std::int64_t integer(std::int64_t below, const From& generator);
bool happens(double p, const From& generator);

struct Rectangle {
  std::int64_t first, second;  // sides: the first to the second are as the ratio
};
/// Sides of a rectangle of a part of this area, rounded; the logarithm of their ratio is uniform.
Rectangle rectangle(double area, const Range& scale, const Range& ratio, const From& generator);

}  // namespace ebb::vision::transforms::draw
