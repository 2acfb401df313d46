// Random tensors: generators, gradients, errors, moments. random_golden_test.cpp checks the values.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace ebb;

namespace {

using Values = std::vector<double>;

Values values(const Variable& x) {
  const Variable flat = x.detach().to(kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

std::int64_t largest_of(DType dtype) {
  return dtype == kByte ? 255 : dtype == kChar ? 127 : dtype == kInt ? INT32_MAX : INT64_MAX;
}

double mean_of(const Variable& x) {
  double sum = 0;
  for (double v : values(x)) sum += v;
  return sum / static_cast<double>(x.numel());
}

}  // namespace

TEST_CASE("generators can be seeded, copied and passed to random ops") {
  Generator a = make_generator<CPUGeneratorImpl>(7), b(7);
  CHECK(values(rand({4}, a)) == values(rand({4}, b)));
  CHECK(a.current_seed() == 7);
  const Variable next = randn({3}, a);
  Generator c = b.clone();
  CHECK(values(randn({3}, b)) == values(next));
  CHECK(values(randn({3}, c)) == values(next));
  CHECK(c.current_seed() == 7);
  c.set_state(Generator(8));
  CHECK(c.current_seed() == 8);
  // The cached second normal number is part of the state, and seeding discards it.
  b.manual_seed(7);
  Generator fresh(7);
  CHECK(values(randn({1}, b)) == values(randn({1}, fresh)));
  manual_seed(3);
  const Variable first = rand({5});
  manual_seed(3);
  CHECK(values(rand({5})) == values(first));
  const std::uint64_t seed = a.seed();
  CHECK(a.current_seed() == seed);
}

TEST_CASE("a copied generator state contains the cached second normal number") {
  Generator a(7), fresh(7), other(9);
  const Values pairs = values(randn({6}, fresh));  // three pairs
  randn({1}, a);
  const Generator copy = a.clone();
  CHECK(values(randn({2}, copy)) == Values(pairs.begin() + 1, pairs.begin() + 3));
  randn({1}, other);  // its cached number is replaced by that of a
  other.set_state(a);
  CHECK(values(randn({5}, other)) == Values(pairs.begin() + 1, pairs.end()));
  CHECK(values(randn({5}, a)) == Values(pairs.begin() + 1, pairs.end()));  // copies are independent
  a.set_state(Generator(7));
  CHECK(values(randn({6}, a)) == pairs);
  randn({1}, a);
  a.set_state(Generator(7));  // has no cached number
  CHECK(values(randn({6}, a)) == pairs);
  a.next_float_normal() = 0.5f;
  CHECK(a.clone().next_float_normal() == 0.5f);
  other.set_state(a);
  CHECK(other.next_float_normal() == 0.5f);
  a.manual_seed(7);
  CHECK_FALSE(a.next_float_normal().has_value());
}

TEST_CASE("a generator state saved as a tensor contains the cached second normal number") {
  Generator a(7);
  const Variable fresh = get_rng_state(a);
  const Values pairs = values(randn({6}, a, kDouble));
  const auto restored = [&](const Variable& state) {
    Generator other(9);
    randn({1}, other, kDouble);  // its cached number must be replaced
    set_rng_state(state, other);
    return values(randn({5}, other, kDouble));
  };
  CHECK(restored(fresh) == Values(pairs.begin(), pairs.end() - 1));
  set_rng_state(fresh, a);
  randn({1}, a, kDouble);
  const Variable halfway = get_rng_state(a);
  CHECK(restored(halfway) == Values(pairs.begin() + 1, pairs.end()));
  CHECK(restored(fresh) == Values(pairs.begin(), pairs.end() - 1));
}

TEST_CASE("every distribution fills strided and dense tensors with the same numbers") {
  using Fill = std::function<void(const Variable&)>;
  const Variable p = (arange(12, kDouble) / 11).view({3, 4});
  const std::pair<const char*, Fill> fills[] = {
      {"uniform_", [](const Variable& x) { x.uniform_(1, 2); }},
      {"normal_", [](const Variable& x) { x.normal_(1, 2); }},
      {"log_normal_", [](const Variable& x) { x.log_normal_(0, 1); }},
      {"exponential_", [](const Variable& x) { x.exponential_(2); }},
      {"cauchy_", [](const Variable& x) { x.cauchy_(1, 2); }},
      {"geometric_", [](const Variable& x) { x.geometric_(0.3); }},
      {"bernoulli_", [](const Variable& x) { x.bernoulli_(0.4); }},
      {"bernoulli_ by tensor",
       [&](const Variable& x) { x.bernoulli_(x.stride(0) < x.stride(1) ? p.view({4, 3}).t() : p); }},
      {"random_", [](const Variable& x) { x.random_(); }},
      {"random_ to", [](const Variable& x) { x.random_(100); }},
      {"random_ from", [](const Variable& x) { x.random_(-5, 100); }}};
  for (const auto& [name, fill] : fills)
    for (const ScalarType dtype : {kDouble, kFloat}) {
      INFO(name << " in " << to_string(dtype));
      manual_seed(5);
      const Variable dense = full({3, 4}, -7, dtype);
      fill(dense);
      CHECK(dense.ne(-7).any().item<bool>());
      const Variable base = full({9, 10}, -7, dtype), outside = ones({9, 10}, kBool);
      const Variable layouts[] = {full({4, 3}, -7, dtype).t(), base.slice(0, 1, 7, 2).slice(1, 2, 10, 2)};
      outside.slice(0, 1, 7, 2).slice(1, 2, 10, 2).fill_(false);
      for (const Variable& x : layouts) {
        manual_seed(5);
        fill(x);
        // As in PyTorch, some distributions fill in memory order.
        const bool by_memory = x.stride(0) < x.stride(1) && values(x) != values(dense);
        CHECK(values(by_memory ? x.t() : x) == values(dense));
      }
      CHECK(base.masked_select(outside).eq(-7).all().item<bool>());
    }
}

TEST_CASE("distributions have the right moments") {
  manual_seed(11);
  const std::int64_t n = 200000;
  CHECK(mean_of(rand({n})) == Approx(0.5).margin(0.005));
  CHECK(mean_of(randn({n})) == Approx(0).margin(0.01));
  CHECK(mean_of(randn({n}).pow(2)) == Approx(1).margin(0.02));
  CHECK(mean_of(empty({n}).exponential_(2)) == Approx(0.5).margin(0.01));
  CHECK(mean_of(empty({n}).geometric_(0.25)) == Approx(4).margin(0.05));
  CHECK(mean_of(empty({n}, kBool).bernoulli_(0.3)) == Approx(0.3).margin(0.005));
  CHECK(mean_of(empty({n}, kFloat64).log_normal_(0, 0.5)) == Approx(std::exp(0.125)).margin(0.02));
  CHECK(mean_of(randint(0, 11, {n})) == Approx(5).margin(0.05));
  CHECK(mean_of(multinomial(tensor({1.0, 0.0, 3.0}), n, true)) == Approx(1.5).margin(0.02));
}

TEST_CASE("no distribution draws a value outside of its support") {
  manual_seed(2);
  for (const DType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    INFO(dtype);
    const Variable x = empty({20000}, dtype);
    const auto reach = [&](double low, double high) {
      CHECK(x.isfinite().all().item<bool>());
      CHECK(x.min().item<double>() >= low);
      CHECK(x.max().item<double>() < high);
    };
    x.uniform_(0.1, 0.3);
    reach(full({}, 0.1, dtype).item<double>(), full({}, 0.3, dtype).item<double>());
    x.normal_(0, 60000);
    reach(-1e6, 1e6);
    x.exponential_(1e-5);
    reach(1e-300, 2e6);
    x.exponential_(1e50);
    reach(1e-60, 1e-7);
    x.log_normal_(0, 1000);
    reach(5e-324, HUGE_VAL);
    x.cauchy_(0, 1e6);
    reach(-HUGE_VAL, HUGE_VAL);
    x.geometric_(1e-9);
    reach(1, HUGE_VAL);
    nn::init::trunc_normal_(x, 0, 0.02);
    reach(-0.2, 0.2);
    nn::init::trunc_normal_(x, 0, 1, 4, std::numeric_limits<double>::infinity());
    reach(4, 12);
    CHECK(mean_of(x) == Approx(4.2256).margin(0.012));  // density(4) / (1 - cdf(4))
    nn::init::trunc_normal_(x, 0, 1, -1000, -10);
    reach(-14, -9.999);
    CHECK(mean_of(x) == Approx(-10.098).margin(0.012));
  }
  for (const DType dtype : {kByte, kChar, kInt, kLong})
    CHECK(empty({100}, dtype).geometric_(1e-40).eq(largest_of(dtype)).all().item<bool>());
}

TEST_CASE("multinomial follows its weights for small weights and many categories") {
  manual_seed(4);
  for (const DType dtype : {kHalf, kBFloat16, kFloat, kDouble})
    for (const bool replacement : {true, false}) {
      INFO(dtype << (replacement ? " with" : " without") << " replacement");
      const Variable drawn = multinomial(ones({2000, 50}, dtype), 10, replacement);
      for (std::int64_t k = 0; k < 50; ++k) CHECK(std::abs(drawn.eq(k).sum().item<double>() - 400) < 5 * 20);
    }
  Variable weights = ones({1 << 20});
  weights[0] = 1 << 24;
  CHECK(multinomial(weights, 2000, true).gt(0).to(kFloat).mean().item<double>() ==
        Approx(1.0 / 17).margin(0.03));
  // Many quotients of these weights overflow a float.
  const Variable large = full({2000, 4}, 3e38).mul_(tensor({1.0, 1.0, 0.5, 0.5}));
  CHECK(multinomial(large, 1).gt(1).to(kFloat).mean().item<double>() == Approx(1.0 / 3).margin(0.05));
}

TEST_CASE("random numbers do not depend on the number of threads") {
  const int threads = get_num_threads();
  set_num_threads(1);
  manual_seed(5);
  const Variable one = randn({100003});
  set_num_threads(4);
  manual_seed(5);
  const Variable many = randn({100003});
  set_num_threads(threads);
  CHECK(std::memcmp(one.data_ptr(), many.data_ptr(), one.nbytes()) == 0);
}

TEST_CASE("randperm and multinomial without replacement contain every number once") {
  std::vector<int> seen(1000, 0);
  for (double v : values(randperm(1000))) ++seen[static_cast<std::size_t>(v)];
  CHECK(seen == std::vector<int>(1000, 1));
  std::vector<int> drawn(50, 0);
  for (double v : values(multinomial(ones({50}), 50))) ++drawn[static_cast<std::size_t>(v)];
  CHECK(drawn == std::vector<int>(50, 1));
  CHECK(randperm(0).numel() == 0);
  CHECK(multinomial(ones({3, 4}), 2).sizes() == IntArrayRef({3, 2}));
  CHECK(values(multinomial(tensor({0.0, 1.0, 0.0}), 5, true)) == Values(5, 1.0));
}

TEST_CASE("in-place random ops and bernoulli have zero gradients") {
  const Variable x = ones({3}, dtype(kFloat64).requires_grad(true));
  const Variable y = x.clone();
  y.uniform_();
  CHECK(y.grad_fn()->name() == "UniformBackward0");
  y.sum().backward();
  CHECK(values(x.grad()) == Values(3, 0.0));

  const Variable p = full({2, 3}, 0.5, dtype(kFloat64).requires_grad(true));
  const Variable drawn = bernoulli(p);
  CHECK(drawn.grad_fn()->name() == "BernoulliBackward0");
  drawn.sum().backward();
  CHECK(values(p.grad()) == Values(6, 0.0));

  const Variable mean = zeros({3}, dtype(kFloat64).requires_grad(true));
  normal(mean, full({2, 3}, 0.1, kFloat64)).sum().backward();
  CHECK(values(mean.grad()) == Values(3, 0.0));
  CHECK_THROWS_WITH(ones({2}, requires_grad()).normal_(),
                    support::Contains("normal_: a leaf Variable that requires grad is being used"));
}

TEST_CASE("in training, dropout scales the remaining elements and their gradients") {
  const Variable x = ones({40, 50}, dtype(kFloat64).requires_grad(true));
  manual_seed(1);
  const Variable y = dropout(x, 0.25, true);
  CHECK(y.grad_fn()->name() == "MulBackward0");
  y.sum().backward();
  CHECK(values(y) == values(x.grad()));
  CHECK(mean_of(y) == Approx(1).margin(0.05));
  for (double v : values(y)) CHECK((v == 0 || v == 1 / 0.75));
  CHECK(dropout(x, 0.25, false).is_same(x));
  CHECK(dropout(x, 0, true).is_same(x));
  CHECK(values(dropout(x, 1, true)) == Values(2000, 0.0));
  CHECK_THROWS_WITH(dropout(x, 1.5, true),
                    support::Contains("dropout: dropout probability has to be between 0 and 1"));
  CHECK_THROWS_WITH(dropout(x, -0.5, false),
                    support::Contains("dropout: dropout probability has to be between 0 and 1"));

  const Variable image = feature_dropout(ones({4, 8, 5}), 0.5, true);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t c = 0; c < 8; ++c) {
      const Values channel = values(image.select(0, i).select(0, c));
      CHECK((channel == Values(5, 0.0) || channel == Values(5, 2.0)));
    }
  CHECK_THROWS_WITH(feature_dropout(ones({4}), 0.5, true),
                    support::Contains("feature_dropout: feature dropout requires at least 2"));

  const Variable z = ones({100});
  dropout_(z, 0.5, true);
  for (double v : values(z)) CHECK((v == 0 || v == 2));
  manual_seed(2);
  const Variable normed = alpha_dropout(randn({100000}), 0.3, true);
  CHECK(mean_of(normed) == Approx(0).margin(0.02));
  CHECK(mean_of(normed.pow(2)) == Approx(1).margin(0.03));
}

TEST_CASE("random ops throw for invalid parameters") {
  CHECK_THROWS_WITH(rand({2}, kInt64), support::Contains("rand: dtype Long is not supported; expected a"));
  CHECK_THROWS_WITH(randn({2}, kInt64), support::Contains("randn: dtype Long is not supported; expected a"));
  CHECK_THROWS_WITH(randint(5, 5, {2}),
                    support::Contains("randint: expects 'from' to be less than 'to', but got"));
  CHECK_THROWS_WITH(randint(300, {2}, kUInt8),
                    support::Contains("randint: the range from 0 to 299 is out of bounds for"));
  CHECK_THROWS_WITH(randint(-1, 3, {2}, kUInt8),
                    support::Contains("randint: the range from -1 to 2 is out of bounds for"));
  CHECK_THROWS_WITH(randperm(-1), support::Contains("randperm: n must be non-negative, got -1"));
  CHECK_THROWS_WITH(randperm(300, kUInt8),
                    support::Contains("randperm: the value 299 cannot be converted to Byte"));
  CHECK_THROWS_WITH(randperm(3000, kHalf),
                    support::Contains("randperm: Half cannot hold all integers below 3000"));
  CHECK_THROWS_WITH(zeros({2}, kChar).random_(-300, optional<std::int64_t>()),
                    support::Contains("random_: 'from' must be between -128 and 127 for Char, got"));
  CHECK_THROWS_WITH(zeros({2}).random_((1LL << 25) + 1, (1LL << 25) + 2),
                    support::Contains("random_: Float has no number from 33554433 to 33554433"));
  CHECK_THROWS_WITH(zeros({2}).cauchy_(0, 0), support::Contains("cauchy_: expects sigma > 0.0, but found"));
  CHECK_THROWS_WITH(nn::init::trunc_normal_(zeros({2}), 0, 0), support::Contains("trunc_normal_: expects a"));
  CHECK_THROWS_WITH(nn::init::trunc_normal_(zeros({2}), 0, 1, 2e6, 3e6),
                    support::Contains("trunc_normal_: the bounds a = 2e+06 and b = 3e+06 are more than"));
  CHECK_THROWS_WITH(zeros({2}).uniform_(2, 1),
                    support::Contains("uniform_: expects to return a [from, to) range, but found"));
  CHECK_THROWS_WITH(zeros({2}).normal_(0, -1),
                    support::Contains("normal_: expects std >= 0.0, but found std -1"));
  CHECK_THROWS_WITH(zeros({2}).bernoulli_(1.5),
                    support::Contains("bernoulli_: expects p to be in [0, 1], but got p=1.5"));
  CHECK_THROWS_WITH(bernoulli(tensor({0.5, 1.5})),
                    support::Contains("bernoulli: expects probabilities in [0, 1], got 1.5"));
  CHECK_THROWS_WITH(bernoulli(tensor({1})),
                    support::Contains("bernoulli: the probabilities must be floating, got Long"));
  CHECK_THROWS_WITH(zeros({2}).geometric_(0),
                    support::Contains("geometric_: expects p to be in (0, 1), but got p=0"));
  CHECK_THROWS_WITH(zeros({2}).log_normal_(0, 0),
                    support::Contains("log_normal_: expects std > 0.0, but found std=0"));
  CHECK_THROWS_WITH(zeros({2}).exponential_(-1),
                    support::Contains("exponential_: expects lambda > 0.0, but found lambda=-1"));
  CHECK_THROWS_WITH(normal(zeros({2}), tensor({1.0, -1.0})),
                    support::Contains("normal: expects all elements of std >= 0.0, but found a"));
  CHECK_THROWS_WITH(multinomial(ones({3}), 4),
                    support::Contains("multinomial: cannot sample n_sample > prob_dist.size(-1)"));
  CHECK_THROWS_WITH(multinomial(tensor({{1.0, 1.0, 1.0}, {0.0, 1.0, 0.0}}), 2),
                    support::Contains("multinomial: cannot sample 2 elements without replacement"));
  CHECK_THROWS_WITH(multinomial(ones({3}), 0),
                    support::Contains("multinomial: cannot sample n_sample <= 0 samples, got 0"));
  CHECK_THROWS_WITH(multinomial(tensor({1.0, -1.0}), 1, true),
                    support::Contains("multinomial: the probability tensor contains inf, nan or"));
  CHECK_THROWS_WITH(multinomial(zeros({3}), 1),
                    support::Contains("multinomial: the sum of the probabilities of a row must"));
  CHECK_THROWS_WITH(multinomial(ones({2, 2, 2}), 1),
                    support::Contains("multinomial: prob_dist must be 1 or 2 dim, got shape [2"));
  CHECK_THROWS_WITH(multinomial(tensor({1}), 1),
                    support::Contains("multinomial: only supports floating-point dtypes for"));
}
