// Distributions of random numbers, the check that draws follow them, and helpers of the rows of the table.
#pragma once

#include <ebb/ebb.h>

#include "amp/device.h"
#include "support/catch.h"

#include <functional>
#include <string>
#include <vector>

// Distributions of random numbers, and the check that draws follow them.
// The check computes its thresholds from kFalseAlarms. Each is a bound and not an approximation: Dvoretzky,
// Kiefer & Wolfowitz for distribution functions (Massart, Annals of Probability 18, 1990), Chernoff for tails
// of the binomial and of chi-square.

namespace distributions {

/// The probability that one call of complaint_about rejects right numbers. The table makes fewer than 1,000
/// calls on each of two devices, so a change of all seeds fails with a probability below 1e-3.
constexpr double kFalseAlarms = 5e-7;

/// A distribution. A draw is rounded to the nearest number of the dtype, and a tie to the even one.
struct Law {
  std::function<double(double)> below;  // the probability of numbers up to x
  double apart = 0;                     // a further absolute error of a draw,
  int steps = 0;                        // and an error in steps of the dtype
  std::vector<double> never = {};       // values that must not occur
};

Law uniform(double from, double to);
Law normal(double mean, double deviation);
Law log_normal(double mean, double deviation);
Law exponential(double rate);
Law cauchy(double median, double width);
Law geometric(double p);
/// Returns the distribution of integers from <= x < to.
Law integers(double from, double to);
/// Returns the distribution of `value` with probability p, or else `other`, which is smaller.
Law coin(double p, double value = 1, double other = 0);
/// Returns the distribution of from, from + 1, ... in proportion to the weights.
Law categories(const std::vector<double>& weights, double from = 0);
Law poisson(double rate);
Law binomial(double trials, double p);
/// Returns the distribution of numbers that are redrawn until they are between the bounds.
Law cut(const Law& law, double from, double to);

/// Returns an empty string, or the reason why the draws do not follow the distribution or are not
/// independent.
std::string complaint_about(const ebb::Tensor& draws, const Law& law);

// Distributions and helpers that the rows of the table share.

using namespace ebb;

constexpr std::int64_t kDraws = 1 << 18;
/// The number of calls of rows that draw few numbers at a time. Each call is slow on a device, above all an
/// emulated one.
constexpr int kCalls = kHere == kCPU ? 20000 : 2500;

inline const std::vector<DType> kReals = {kFloat, kDouble, kHalf, kBFloat16}, kWide = {kFloat, kDouble},
                                kNarrow = {kHalf, kBFloat16}, kIntegers = {kByte, kChar, kShort, kInt, kLong};

using Draw = std::function<Tensor(const TensorOptions&)>;

/// Runs one row: checks in each dtype that the draws follow the distribution.
inline void follows(const std::string& name, const std::vector<DType>& dtypes, const Law& law,
                    const Draw& draw) {
  for (const DType dtype : dtypes) {
    manual_seed(2611);
    const std::string complaint = complaint_about(draw(TensorOptions(dtype).device(kHere)), law);
    if (!complaint.empty()) FAIL_CHECK(name << " in " << dtype << ": " << complaint);
  }
}

/// Returns the draw of an in-place op.
template <class Fill>
Draw filled(Fill fill) {
  return [fill](const TensorOptions& options) {
    Tensor x = empty({kDraws}, options);
    fill(x);
    return x;
  };
}

/// Returns the rank of each list of n different numbers among all permutations, 0 ... n! - 1, in
/// lexicographic order.
Tensor ranks_of(const Tensor& lists);

}  // namespace distributions
