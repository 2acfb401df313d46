// Distributions of real and Bernoulli random numbers.
#include "random_distributions/law.h"

#include <cmath>

using namespace distributions;

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
