// Laws and helpers that the rows of the table share.
#pragma once

#include <functional>
#include <string>

#include "amp/device.h"
#include "random_distributions/law.h"
#include "support/catch.h"

namespace distributions {

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
