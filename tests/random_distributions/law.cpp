// Distribution functions.
#include "random_distributions/law.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace distributions {
namespace {

double standard_normal(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

}  // namespace

Law uniform(double from, double to) {
  return {.below = [=](double x) { return std::clamp((x - from) / (to - from), 0.0, 1.0); }, .never = {to}};
}

Law normal(double mean, double deviation) {
  return {[=](double x) { return standard_normal((x - mean) / deviation); }};
}

Law log_normal(double mean, double deviation) {
  return {[=](double x) { return x > 0 ? standard_normal((std::log(x) - mean) / deviation) : 0; }};
}

Law exponential(double rate) {
  return {.below = [=](double x) { return x > 0 ? -std::expm1(-rate * x) : 0; }, .never = {0}};
}

Law cauchy(double median, double width) {
  return {[=](double x) {
    const double z = (x - median) / width;  // the reciprocal preserves the digits of a far tail
    return z < -1 ? -std::atan(1 / z) / std::numbers::pi : 0.5 + std::atan(z) / std::numbers::pi;
  }};
}

Law geometric(double p) {
  return {[=](double x) { return x >= 1 ? -std::expm1(std::floor(x) * std::log1p(-p)) : 0; }};
}

Law integers(double from, double to) {
  return {[=](double x) { return std::clamp((std::floor(x) - from + 1) / (to - from), 0.0, 1.0); }};
}

Law coin(double p, double value, double other) {
  return {[=](double x) { return x < other ? 0 : x < value ? 1 - p : 1; }};
}

Law categories(const std::vector<double>& weights, double from) {
  std::vector<double> sums;
  Law law;
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sums.push_back(sum += weights[i]);
    if (weights[i] == 0) law.never.push_back(from + static_cast<double>(i));
  }
  law.below = [=](double x) {
    const double at = std::floor(x) - from;
    return at < 0 ? 0 : at >= static_cast<double>(sums.size()) ? 1 : sums[static_cast<std::size_t>(at)] / sum;
  };
  return law;
}

namespace {

/// Computes the distribution of counts from log probabilities, for all counts within 12 standard deviations.
Law counts(double mean, double deviation, double most, const std::function<double(double)>& log_probability) {
  const double from = std::max(0.0, std::floor(mean - 12 * deviation - 30)),
               to = std::min(most, mean + 12 * deviation + 30);
  std::vector<double> weights;
  for (double k = from; k <= to; ++k) weights.push_back(std::exp(log_probability(k)));
  Law law = categories(weights, from);
  law.never.clear();  // values whose probability underflows are not impossible
  return law;
}

}  // namespace

Law poisson(double rate) {
  return counts(rate, std::sqrt(rate), INFINITY,
                [=](double k) { return k * std::log(rate) - rate - std::lgamma(k + 1); });
}

Law binomial(double trials, double p) {
  return counts(trials * p, std::sqrt(trials * p * (1 - p)), trials, [=](double k) {
    return std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1) + k * std::log(p) +
           (trials - k) * std::log1p(-p);
  });
}

Law cut(const Law& law, double from, double to) {
  const double low = law.below(from), high = law.below(to);
  return {[=, below = law.below](double x) {
    return x <= from ? 0 : x >= to ? 1 : std::clamp((below(x) - low) / (high - low), 0.0, 1.0);
  }};
}

}  // namespace distributions
