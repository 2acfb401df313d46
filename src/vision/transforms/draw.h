// Random numbers of the transforms, drawn in the same order and from the same distributions as in
// torchvision.
#pragma once

#include <ebb/core/random.h>
#include <ebb/vision/transforms/random_crop.h>

namespace ebb::vision::transforms::draw {

using From = optional<Generator>;

double uniform(const Range& range, const From& generator);
/// Draws an integer i with 0 <= i < below.
std::int64_t integer(std::int64_t below, const From& generator);
bool happens(double p, const From& generator);

struct Rectangle {
  std::int64_t first, second;  // the sides; first / second is the ratio
};
/// Draws the rounded sides of a rectangle. Its fraction of `area` is uniform in `scale`, and the logarithm of
/// its ratio is uniform in that of `ratio`.
Rectangle rectangle(double area, const Range& scale, const Range& ratio, const From& generator);

}  // namespace ebb::vision::transforms::draw
