// Comparison of emitted classes with their original functions.
#pragma once

#include "functions.h"
#include "support/catch.h"

#include <tuple>
#include <utility>

namespace emitted_tests {

/// Returns the path of the file of weights that was emitted with the function.
std::string weights(const std::string& name);

bool same_bits(const ebb::Tensor& a, const ebb::Tensor& b);

/// Requires equal bits for five sets of new arguments. Later calls must not overwrite earlier results.
template <class Fn, class Emitted>
void require_same(Fn function, Emitted emitted) {
  ebb::manual_seed(100);
  std::vector<std::pair<ebb::Tensor, ebb::Tensor>> held;
  const auto hold = [&](const ebb::Tensor& a, const ebb::Tensor& b) { held.emplace_back(a, b); };
  for (int round = 0; round < 5; ++round) {
    const auto arguments = Fn::inputs();
    const auto expected = std::apply(function, arguments);
    const auto found = std::apply(emitted, arguments);
    if constexpr (std::is_same_v<decltype(found), const ebb::Tensor>) {
      hold(expected, found);
    } else {
      hold(std::get<0>(expected), std::get<0>(found));
      hold(std::get<1>(expected), std::get<1>(found));
    }
  }
  for (const auto& [a, b] : held) REQUIRE(same_bits(b, a));
  REQUIRE_FALSE(held.front().first.equal(held.back().first));
}

}  // namespace emitted_tests
