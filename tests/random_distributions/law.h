// The law that numbers are drawn by, and the check that they follow it.
//
// The check does not choose its thresholds: it computes them from kFalseAlarms. Each is a bound, not an
// approximation: Dvoretzky, Kiefer & Wolfowitz for distribution functions (Massart, Annals of Probability 18,
// 1990), Chernoff for tails of the binomial and of chi-square.
#pragma once

#include <ebb/ebb.h>

#include <functional>
#include <string>
#include <vector>

namespace distributions {

/// The probability that right numbers are rejected, for each call of complaint_about. The table makes less
/// than 1,000 calls on each of two devices, so that a change of all seeds fails with a probability below
/// 1e-3.
constexpr double kFalseAlarms = 5e-7;

/// A number of the law is rounded to the nearest of the dtype; half way, to the even one.
struct Law {
  std::function<double(double)> below;  // the probability of numbers up to x
  double apart = 0;                     // what else a number may be moved by,
  int steps = 0;                        // besides so many steps of the dtype
  std::vector<double> never = {};       // values that must not come
};

Law uniform(double from, double to);
Law normal(double mean, double deviation);
Law log_normal(double mean, double deviation);
Law exponential(double rate);
Law cauchy(double median, double width);
Law geometric(double p);
/// Integers from <= x < to.
Law integers(double from, double to);
/// `value` with probability p, else `other`, which is less.
Law coin(double p, double value = 1, double other = 0);
/// from, from + 1, ... in proportion to the weights.
Law categories(const std::vector<double>& weights, double from = 0);
Law poisson(double rate);
Law binomial(double trials, double p);
/// The law of numbers that are drawn anew until they lie between the bounds.
Law cut(const Law& law, double from, double to);

/// Empty, or why these numbers do not follow the law, or not independently of their neighbours.
std::string complaint_about(const ebb::Tensor& draws, const Law& law);

}  // namespace distributions
