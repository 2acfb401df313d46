// Poisson and binomial numbers, and numbers that are drawn in blocks.
#include <ebb/ebb.h>
#include <ebb/ops/random.h>

#include "check.h"
#include "support/catch.h"

// Poisson and binomial numbers: those of PyTorch on the CPU, and the right distribution on every device.

using namespace ebb;
using op_tests::Values;

namespace {

void require_values(const Variable& x, const Values& expected) {
  REQUIRE(x.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(i);
    CHECK(x[static_cast<std::int64_t>(i)].item<double>() == expected[i]);
  }
}

// Checks mean and variance of many draws within five standard deviations. The seed is fixed, so the result is
// reproducible.
void require_moments(const Variable& draws, double mean, double variance) {
  const double n = static_cast<double>(draws.numel()), got = draws.mean().item<double>();
  INFO("mean " << got << " for " << mean << ", variance " << draws.var().item<double>() << " for "
               << variance);
  CHECK(std::fabs(got - mean) <= 5 * std::sqrt(variance / n));
  // The variance of the sample variance: the kurtosis is at most 3 + 1 / variance for both distributions.
  CHECK(std::fabs(draws.var().item<double>() - variance) <= 5 * variance * std::sqrt((2 + 1 / variance) / n));
  CHECK(draws.eq(draws.floor()).all().item<bool>());
}

// Compares the share of each count below 12 with its probability.
void require_shares(const Variable& draws, const std::function<double(int)>& probability) {
  const double n = static_cast<double>(draws.numel());
  for (int k = 0; k < 12; ++k) {
    const double p = probability(k), share = static_cast<double>(draws.eq(k).sum().item<std::int64_t>()) / n;
    INFO("share of " << k << ": " << share << " for " << p);
    CHECK(std::fabs(share - p) <= 5 * std::sqrt(p * (1 - p) / n) + 5 / n);
  }
}

std::vector<Device> devices() {
  std::vector<Device> all = {kCPU};
  if (cuda::is_available()) all.push_back(kCUDA);
  return all;
}

}  // namespace

TEST_CASE("poisson and binomial draw the numbers of PyTorch on the CPU") {  // torch 2.15, manual_seed(7)
  manual_seed(7);
  const Variable rates = tensor({0.0, 0.5, 3.0, 9.5, 10.0, 12.5, 50.0, 1000.0, 1e6, 2.0, 30.0, 7.0}, kDouble);
  require_values(poisson(rates), {0, 0, 5, 6, 6, 14, 60, 1003, 1000415, 1, 24, 7});
  require_values(poisson(rates.to(kFloat)), {0, 1, 2, 18, 8, 10, 46, 993, 1002187, 2, 37, 6});
  manual_seed(7);
  const Variable n = tensor({10.0, 10.0, 100.0, 100.0, 1000.0, 5.0, 0.0, 40.0, 1e6, 30.0}, kDouble);
  const Variable p = tensor({0.3, 0.9, 0.2, 0.05, 0.7, 1.0, 0.5, 0.25, 0.5, 0.5}, kDouble);
  require_values(binomial(n, p), {3, 8, 21, 2, 716, 5, 0, 11, 500735, 15});
  require_values(binomial(n.to(kFloat), p.to(kFloat)), {3, 10, 18, 4, 686, 5, 0, 11, 499546, 18});
}

TEST_CASE("poisson and binomial have the right moments and probabilities") {
  for (const Device& device : devices()) {
    INFO(device);
    const TensorOptions options = TensorOptions(kDouble).device(device);
    for (const double rate : {0.3, 4.0, 9.99, 10.0, 35.5, 2500.0}) {
      INFO("rate " << rate);
      manual_seed(3);
      const Variable draws = poisson(full({20000}, rate, options));
      require_moments(draws, rate, rate);
      require_shares(draws, [&](int k) { return std::exp(k * std::log(rate) - rate - std::lgamma(k + 1)); });
    }
    for (const auto& [n, p] : {std::pair(12.0, 0.3), std::pair(100.0, 0.02), std::pair(40.0, 0.25),
                               std::pair(60.0, 0.9), std::pair(1e5, 0.5)}) {
      const double trials = n, chance = p;
      INFO("trials " << trials << ", chance " << chance);
      manual_seed(3);
      const Variable draws = binomial(full({20000}, trials, options), full({}, chance, options));
      require_moments(draws, trials * chance, trials * chance * (1 - chance));
      require_shares(draws, [&](int k) {
        if (k > trials) return 0.0;
        return std::exp(std::lgamma(trials + 1) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1) +
                        k * std::log(chance) + (trials - k) * std::log1p(-chance));
      });
    }
  }
}

TEST_CASE("poisson and binomial are reproducible by seed and have zero gradients") {
  for (const Device& device : devices()) {
    INFO(device);
    const Variable rates = full({5, 7}, 15.0, TensorOptions(kFloat).device(device)).requires_grad_();
    manual_seed(5);
    const Variable first = poisson(rates), second = poisson(rates);
    manual_seed(5);
    CHECK(equal(poisson(rates), first));
    CHECK_FALSE(equal(first, second));
    first.sum().backward();
    CHECK(rates.grad().eq(0).all().item<bool>());
    CHECK(poisson(full({3}, NAN, rates.options().requires_grad(false))).isnan().all().item<bool>());
    CHECK(poisson(zeros({0, 3}, rates.options().requires_grad(false))).numel() == 0);
  }
}

// Drawing in blocks gives the same numbers and the same generator state as drawing one by one.

namespace {

using ebb::Tensor;

// Draws into a dense tensor, in blocks, and into a strided one, by element, after `before` random words.
template <class Draw>
void check_draw(std::int64_t n, ebb::DType type, int before, Draw draw) {
  const Tensor dense = ebb::empty({n}, type), wide = ebb::zeros({n, 3}, type), sparse = wide.select(1, 1);
  std::uint32_t next[2];
  for (const Tensor& out : {dense, sparse}) {
    ebb::manual_seed(7);
    for (int i = 0; i < before; ++i) ebb::default_generator().random32();
    draw(out);
    next[out.is_same(sparse)] = ebb::default_generator().random32();
  }
  INFO(n << " of " << type << " after " << before);
  CHECK(ebb::equal(dense, sparse));
  CHECK(next[0] == next[1]);
}

}  // namespace

TEST_CASE("uniform_ and bernoulli_ draw the same numbers in blocks and one at a time") {
  for (const std::int64_t n : {1, 15, 16, 511, 512, 513, 1300})
    for (const int before : {0, 1, 620, 623})
      for (const ebb::DType type : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
        check_draw(n, type, before, [](const Tensor& out) { out.uniform_(-2, 3); });
        for (const double p : {0.0, 0.3, 0.5, 1.0})
          check_draw(n, type, before, [p](const Tensor& out) { out.bernoulli_(p); });
      }
  for (const ebb::DType type : {ebb::kBool, ebb::kByte, ebb::kLong})
    check_draw(700, type, 1, [](const Tensor& out) { out.bernoulli_(0.25); });
}

TEST_CASE("bernoulli_ has the given probability and dropout scales the remaining elements") {
  ebb::manual_seed(3);
  const Tensor coins = ebb::empty({100000}).bernoulli_(0.3);
  CHECK(std::abs(coins.mean().item<double>() - 0.3) < 0.01);
  CHECK(ebb::equal(coins, coins.gt(0).to(ebb::kFloat)));
  const Tensor kept = ebb::dropout(ebb::ones({1000}), 0.75, true);
  CHECK(ebb::equal(kept, kept.gt(0).to(ebb::kFloat) * 4));
}

TEST_CASE("the first numbers of randn are the same for every size that is a multiple of 16") {
  for (const ebb::DType type : {ebb::kFloat, ebb::kDouble, ebb::kBFloat16}) {
    ebb::manual_seed(11);
    const Tensor all = ebb::randn({160}, type);
    for (const std::int64_t n : {16, 32, 48, 80, 144}) {
      ebb::manual_seed(11);
      CHECK(ebb::equal(ebb::randn({n}, type), all.narrow(0, 0, n)));
    }
  }
}
