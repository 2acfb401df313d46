// Distributions of random integers, permutations, categories and counts, and of real and Bernoulli numbers.
#include "random_distributions/law.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace distributions;

namespace distributions {

Tensor ranks_of(const Tensor& lists) {
  const Tensor held = lists.cpu().to(kLong).contiguous();
  const std::int64_t n = held.size(1);
  std::vector<std::int64_t> ranks;
  for (const std::int64_t* p = held.data_ptr<std::int64_t>();
       ranks.size() < static_cast<std::size_t>(held.size(0)); p += n) {
    std::int64_t rank = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      rank *= n - i;
      for (std::int64_t j = i + 1; j < n; ++j) rank += p[j] < p[i];
    }
    ranks.push_back(rank);
  }
  return tensor(ranks, kLong);
}

}  // namespace distributions

namespace {

using Weights = std::vector<double>;

void integer_row(const std::vector<DType>& dtypes, std::int64_t from, std::int64_t to) {
  const std::string of = " from " + std::to_string(from) + " to " + std::to_string(to);
  const Law law = integers(static_cast<double>(from), static_cast<double>(to));
  follows("randint" + of, dtypes, law,
          [=](const TensorOptions& o) { return randint(from, to, {kDraws}, o); });
  follows("random_" + of, dtypes, law, filled([=](Tensor& x) { x.random_(from, to); }));
}

/// Tests the last bits of numbers from a wide range.
void last_bits_row(const std::string& name, const std::vector<DType>& dtypes, const Draw& draw) {
  follows("the last bits of " + name, dtypes, integers(0, 256),
          [=](const TensorOptions& o) { return draw(o).to(kLong).bitwise_and(255); });
}

void multinomial_row(const std::string& name, const std::vector<DType>& dtypes, const Weights& weights) {
  for (const DType dtype : dtypes) {
    const Tensor rounded = tensor(weights, TensorOptions(dtype).device(kHere)),
                 held = rounded.cpu().to(kDouble);
    follows("multinomial of " + name, {dtype},
            categories(Weights(held.data_ptr<double>(), held.data_ptr<double>() + held.numel())),
            [&](const TensorOptions&) { return multinomial(rounded, kDraws, true); });
  }
}

/// Returns one weight of 1 and many small weights, whose sum is a hundredth.
Weights one_and_many(std::size_t size) {
  Weights weights(size, 0.01 / static_cast<double>(size));
  weights[0] = 1;
  return weights;
}

/// Returns the distribution of pairs drawn without replacement, as 10 first + second.
Law pairs_of(const Weights& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Weights pairs(10 * weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t j = 0; j < weights.size(); ++j)
      if (i != j) pairs[10 * i + j] = weights[i] / sum * weights[j] / (sum - weights[i]);
  return categories(pairs);
}

}  // namespace

TEST_CASE("random integers follow their distribution") {
  std::vector<DType> all = kReals;
  all.insert(all.end(), kIntegers.begin(), kIntegers.end());
  for (const std::int64_t to : {2, 10, 100}) integer_row(all, 0, to);
  integer_row({kChar, kShort, kInt, kLong, kHalf, kFloat}, -128, 128);
  integer_row({kByte}, 0, 256);
  integer_row({kHalf, kFloat, kInt}, -3000, 59978);  // Half cannot represent all of them
  integer_row({kBFloat16}, 0, (1 << 20) + 1000);
  integer_row({kShort}, -32768, 32768);
  constexpr std::int64_t kOne = 1;
  for (const std::int64_t to :
       {kOne << 20, (kOne << 28) - 1, kOne << 28, (kOne << 28) + 1, 3 * (kOne << 29)}) {
    integer_row({kInt, kLong, kFloat, kDouble}, 0, to);
    // a multiple of 256, so that all last bits have the same probability
    if (to == kOne << 20 || to == 3 * (kOne << 29))
      last_bits_row("randint", {kInt, kLong, kDouble},
                    [=](const TensorOptions& o) { return randint(to, {kDraws}, o); });
  }
  integer_row({kInt}, -(kOne << 31), kOne << 31);
  for (const std::int64_t to : {3 * (kOne << 30), (kOne << 32) - 1, kOne << 32, (kOne << 32) + 1,
                                3 * (kOne << 40), 3 * (kOne << 61)}) {
    integer_row({kLong}, 0, to);
    integer_row({kLong}, -to, -1);
    if (to % 256 == 0)
      last_bits_row("randint", {kLong}, [=](const TensorOptions& o) { return randint(to, {kDraws}, o); });
  }
  const Draw any = filled([](Tensor& x) { x.random_(); });
  follows("random_", {kBool}, integers(0, 2), any);
  for (const auto& [dtype, bits] : {std::pair(kByte, 8), std::pair(kChar, 7), std::pair(kShort, 15),
                                    std::pair(kInt, 31), std::pair(kLong, 63)})
    follows("random_", {dtype}, integers(0, std::ldexp(1.0, bits)), any);
  for (const auto& [dtype, bits] :
       {std::pair(kHalf, 11), std::pair(kBFloat16, 8), std::pair(kFloat, 24), std::pair(kDouble, 53)})
    follows("random_", {dtype}, integers(0, std::ldexp(1.0, bits) + 1), any);
  last_bits_row("random_", {kInt, kLong}, any);
  follows("random_ from the lowest", {kLong}, integers(-0x1p63, 0x1p63), filled([](Tensor& x) {
            x.random_(std::numeric_limits<std::int64_t>::lowest(), optional<std::int64_t>());
          }));
}

TEST_CASE("random permutations follow their distribution") {
  follows("randperm of 5", {kLong}, integers(0, 120), [](const TensorOptions& o) {
    std::vector<Tensor> all;
    for (int i = 0; i < kCalls; ++i) all.push_back(randperm(5, o).cpu());
    return ranks_of(stack(all));
  });
  follows("randperm of many", {kInt, kLong, kFloat, kDouble}, integers(0, kDraws),
          [](const TensorOptions& o) { return randperm(kDraws, o); });
}

TEST_CASE("multinomial categories follow their distribution") {
  multinomial_row("2 equal weights", kReals, {1, 1});
  multinomial_row("skewed weights", kReals, {0, 0.001, 3, 0, 0, 1e-7, 10, 0});
  multinomial_row("100 equal weights", kReals, Weights(100, 1));
  multinomial_row("1000 equal weights", kReals, Weights(1000, 1));
  multinomial_row("1000 weights of sum 1", kReals, Weights(1000, 0.001));
  multinomial_row("one and many", kReals, one_and_many(2000));
  multinomial_row("one and a million", kWide, one_and_many(1000001));
  multinomial_row("a million weights", kWide, Weights(1000000, 0.1));
  Weights rising(300);
  std::iota(rising.begin(), rising.end(), 0.0);
  multinomial_row("rising weights", kReals, rising);
  const auto pair_row = [](const std::vector<DType>& dtypes, const Weights& weights) {
    follows("multinomial of pairs", dtypes, pairs_of(weights), [&](const TensorOptions& o) {
      const Tensor drawn =
          multinomial(tensor(weights, o).expand({4 * kCalls, static_cast<std::int64_t>(weights.size())}), 2);
      return drawn.select(1, 0) * 10 + drawn.select(1, 1);
    });
  };
  pair_row(kReals, {1, 0, 2, 5, 0, 0.5});
  pair_row({kFloat, kDouble, kBFloat16}, {1e-30, 1e30, 0, 1, 1.5, 1e38});
  follows("multinomial of one of many, not put back", kReals, integers(0, 200),
          [](const TensorOptions& o) { return multinomial(ones({2048, 200}, o), 1); });
  follows("multinomial of all", {kFloat, kBFloat16}, integers(0, 24),
          [](const TensorOptions& o) { return ranks_of(multinomial(ones({kCalls, 4}, o), 4)); });
}

TEST_CASE("poisson and binomial numbers follow their distribution") {
  const auto drawn = [](double x, const TensorOptions& o) { return full({kDraws / 4}, x, o); };
  for (const double rate : {0.0078125, 0.5, 4.0, 9.9375, 10.0, 35.5, 2496.0})
    follows("poisson of " + std::to_string(rate), kReals, poisson(rate),
            [=](const TensorOptions& o) { return poisson(drawn(rate, o)); });
  follows("poisson of many", kWide, poisson(1e6),
          [=](const TensorOptions& o) { return poisson(drawn(1e6, o)); });
  for (const auto& [trials, p] : {std::pair(12.0, 0.3125), std::pair(100.0, 0.0078125), std::pair(40.0, 0.25),
                                  std::pair(64.0, 0.90625), std::pair(2048.0, 0.5), std::pair(1.0, 0.75)})
    follows("binomial of " + std::to_string(trials), kReals, binomial(trials, p),
            [&, n = trials, q = p](const TensorOptions& o) { return binomial(drawn(n, o), drawn(q, o)); });
  follows("binomial of many", kWide, binomial(1e6, 0x1p-4),
          [=](const TensorOptions& o) { return binomial(drawn(1e6, o), drawn(0x1p-4, o)); });
}

// Distributions of real and Bernoulli random numbers.

namespace {

/// Allows 16-bit numbers to be multiples of 2^-digits of the range, as they are in torch on the CPU.
Law coarse(Law law, DType dtype, double width) {
  law.apart = width * (dtype == kHalf ? 0x1p-11 : 0x1p-8);
  law.steps = 1;
  return law;
}

void uniform_row(const std::string& name, double from, double to, const Draw& draw) {
  follows(name, kWide, uniform(from, to), draw);
  for (const DType dtype : kNarrow) follows(name, {dtype}, coarse(uniform(from, to), dtype, to - from), draw);
}

Draw uniform_draw(double from, double to) {
  return filled([=](Tensor& x) { x.uniform_(from, to); });
}

}  // namespace

TEST_CASE("uniform numbers follow their distribution") {
  uniform_row("rand", 0, 1, [](const TensorOptions& o) { return rand({kDraws}, o); });
  uniform_row("rand_like", 0, 1, [](const TensorOptions& o) { return rand_like(empty({kDraws}, o)); });
  for (const auto& [from, to] : {std::pair(-3.0, 5.0), std::pair(1.0, 1.0625), std::pair(-256.0, -255.0)})
    uniform_row("uniform_ from " + std::to_string(from), from, to, uniform_draw(from, to));
  uniform_row("uniform_ with gaps", -1, 1,
              [](const TensorOptions& o) { return empty({kDraws, 2}, o).select(1, 1).uniform_(-1, 1); });
  const double step[] = {0x1p-23, 0x1p-52, 0x1p-10, 0x1p-7};
  for (std::size_t i = 0; i < 4; ++i)  // only one number is in the range
    follows("uniform_ in one step", {kReals[i]}, integers(1, 2), uniform_draw(1, 1 + step[i]));
  follows("uniform_ of no width", kReals, integers(3, 4), uniform_draw(3, 3));
  follows("uniform_ far out", {kFloat}, uniform(-0x1p126, 0x1p126), uniform_draw(-0x1p126, 0x1p126));
  follows("uniform_ far out", {kDouble}, uniform(-0x1p1022, 0x1p1022), uniform_draw(-0x1p1022, 0x1p1022));
}

TEST_CASE("normal and log-normal numbers follow their distribution") {
  follows("randn", kReals, normal(0, 1), [](const TensorOptions& o) { return randn({4 * kDraws}, o); });
  follows("randn_like", kReals, normal(0, 1),
          [](const TensorOptions& o) { return randn_like(empty({kDraws}, o)); });
  follows("normal_", kReals, normal(3, 0.02), filled([](Tensor& x) { x.normal_(3, 0.02); }));
  follows("normal_ with gaps", kReals, normal(-1, 4),
          [](const TensorOptions& o) { return empty({kDraws, 2}, o).select(1, 1).normal_(-1, 4); });
  follows("normal_ of few at a time", kReals, normal(0, 1), [](const TensorOptions& o) {
    std::vector<Tensor> parts;
    for (std::int64_t size = 1; size < 400; ++size) parts.push_back(empty({size}, o).normal_());
    return cat(parts);
  });
  for (const auto& [steps, dtypes] : {std::pair(0, kWide), std::pair(1, kNarrow)}) {
    Law law = normal(2, 3);
    law.steps = steps;  // the mean is added to an already rounded number
    follows("normal by tensors", dtypes, law,
            [](const TensorOptions& o) { return normal(full({kDraws}, 2, o), full({kDraws}, 3, o)); });
    follows("normal by a mean", dtypes, law,
            [](const TensorOptions& o) { return normal(full({kDraws}, 2, o), 3); });
    follows("normal by a deviation", dtypes, law,
            [](const TensorOptions& o) { return normal(2, full({kDraws}, 3, o)); });
  }
  follows("log_normal_", kReals, log_normal(1, 2), filled([](Tensor& x) { x.log_normal_(); }));
  follows("log_normal_ of a small deviation", kReals, log_normal(0, 0.5),
          filled([](Tensor& x) { x.log_normal_(0, 0.5); }));
}

TEST_CASE("exponential, cauchy and geometric numbers follow their distribution") {
  follows("exponential_", kReals, exponential(1), filled([](Tensor& x) { x.exponential_(); }));
  for (const double rate : {1e-30, 3.0, 1e30})
    follows("exponential_ of rate " + std::to_string(rate), kWide, exponential(rate),
            filled([=](Tensor& x) { x.exponential_(rate); }));
  follows("cauchy_", kReals, cauchy(0, 1), filled([](Tensor& x) { x.cauchy_(); }));
  follows("cauchy_ of a place", kReals, cauchy(5, 0.25), filled([](Tensor& x) { x.cauchy_(5, 0.25); }));
  const auto geometric_row = [](double p, const std::vector<DType>& dtypes) {
    follows("geometric_ of " + std::to_string(p), dtypes, geometric(p),
            filled([=](Tensor& x) { x.geometric_(p); }));
  };
  for (const double p : {0.02, 0.3, 0.9999}) geometric_row(p, kReals), geometric_row(p, kIntegers);
  geometric_row(1e-6, {kFloat, kDouble, kBFloat16, kInt, kLong});
  geometric_row(1e-10, {kFloat, kDouble, kBFloat16, kLong});
  geometric_row(1e-17, {kFloat, kDouble, kBFloat16});
}

TEST_CASE("bernoulli numbers follow their distribution") {
  for (const double p : {0.0, 1e-10, 0.3, 1 - 0x1p-12, 1.0}) {
    const std::string of = " of " + std::to_string(p);
    const Draw toss = filled([=](Tensor& x) { x.bernoulli_(p); });
    Law law = coin(p);
    if (p == 0 || p == 1) law.never = {1 - p};
    for (const auto& dtypes : {kReals, kIntegers, {kBool}}) follows("bernoulli_" + of, dtypes, law, toss);
    follows("bernoulli" + of, kReals, law,
            [=](const TensorOptions& o) { return bernoulli(empty({kDraws}, o), p); });
    for (const DType dtype : kReals) {  // which rounds p
      const Tensor chances = full({kDraws}, p, TensorOptions(dtype).device(kHere));
      const Law rounded = coin(chances[0].item<double>());
      follows("bernoulli by tensor" + of, {dtype}, rounded,
              [&](const TensorOptions&) { return bernoulli(chances); });
      follows("bernoulli_ by tensor" + of, {kFloat, kInt}, rounded,
              [&](const TensorOptions& o) { return empty({kDraws}, o).bernoulli_(chances); });
    }
  }
}
