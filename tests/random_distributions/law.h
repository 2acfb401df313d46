// The law that numbers are drawn by, the check that they follow it, and what the rows of the table share.
#pragma once

#include <ebb/ebb.h>

#include "amp/device.h"
#include "support/catch.h"

#include <functional>
#include <string>
#include <vector>

// The law that numbers are drawn by, and the check that they follow it.
//
// The check does not choose its thresholds: it computes them from kFalseAlarms. Each is a bound, not an
// approximation: Dvoretzky, Kiefer & Wolfowitz for distribution functions (Massart, Annals of Probability 18,
// 1990), Chernoff for tails of the binomial and of chi-square.

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

// Laws and helpers that the rows of the table share.

using namespace ebb;

constexpr std::int64_t kDraws = 1 << 18;
/// Calls of rows that draw little at a time. Each takes its time on a device, above all an emulated one.
constexpr int kCalls = kHere == kCPU ? 20000 : 2500;

inline const std::vector<DType> kReals = {kFloat, kDouble, kHalf, kBFloat16}, kWide = {kFloat, kDouble},
                                kNarrow = {kHalf, kBFloat16}, kIntegers = {kByte, kChar, kShort, kInt, kLong};

using Draw = std::function<Tensor(const TensorOptions&)>;

/// One row: the numbers that are drawn follow the law in each of the dtypes, here.
inline void follows(const std::string& name, const std::vector<DType>& dtypes, const Law& law,
                    const Draw& draw) {
  for (const DType dtype : dtypes) {
    manual_seed(2611);
    const std::string complaint = complaint_about(draw(TensorOptions(dtype).device(kHere)), law);
    if (!complaint.empty()) FAIL_CHECK(name << " in " << dtype << ": " << complaint);
  }
}

/// A row of an op in place.
template <class Fill>
Draw filled(Fill fill) {
  return [fill](const TensorOptions& options) {
    Tensor x = empty({kDraws}, options);
    fill(x);
    return x;
  };
}

/// The place of each list of n different numbers among all such lists, 0 ... n! - 1 by the order of the rest.
Tensor ranks_of(const Tensor& lists);

}  // namespace distributions
