// Random numbers of the transforms.
#include "vision/transforms/draw.h"

#include <ebb/ebb.h>

#include <cmath>

namespace ebb::vision::transforms::draw {

double uniform(const Range& range, const From& generator) {
  EBB_CHECK(range.first <= range.second, "Expected a range from the smaller to the larger, got ", range.first,
            " and ", range.second, ".");
  return uniform_(empty({1}, kFloat), range.first, range.second, generator).item<float>();
}

std::int64_t integer(std::int64_t below, const From& generator) {
  return randint(below, {1}, generator).item<std::int64_t>();
}

bool happens(double p, const From& generator) {
  EBB_CHECK(p >= 0 && p <= 1, "Expected a probability between 0 and 1, got ", p, ".");
  return rand({1}, generator, kFloat).item<float>() < p;
}

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

}  // namespace ebb::vision::transforms::draw
