// Samplers by weight and for several processes, splits and concatenation of datasets, pipelines of lambdas.
#include <ebb/data.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/random.h>

#include "support/catch.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

namespace {

using Indices = std::vector<std::size_t>;

struct Numbers : datasets::Dataset<Numbers, int> {
  explicit Numbers(int n, int from = 0) : n(n), from(from) {}
  int get(std::size_t i) override { return from + static_cast<int>(i); }
  optional<std::size_t> size() const override { return n; }
  int n, from;
};

template <class Sampler>
Indices rest_of(Sampler& sampler, std::size_t batch_size = 3) {
  Indices out;
  while (const auto batch = sampler.next(batch_size)) {
    CHECK(batch->size() <= batch_size);
    out.insert(out.end(), batch->begin(), batch->end());
  }
  return out;
}

template <class T>
std::vector<T> sorted(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

template <class Chain>
auto all_of(const Chain& chain) {
  std::vector<typename Chain::ValueType> out;
  for (auto& each : chain) out.push_back(each);
  return out;
}

// Checks that a loaded sampler returns the same indices as the saved one.
template <class Sampler>
void continues(Sampler sampler, Sampler other) {
  sampler.next(2);
  serialize::OutputArchive out;
  sampler.save(out);
  std::stringstream file;
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  other.load(in);
  CHECK(rest_of(other) == rest_of(sampler));
}

}  // namespace

TEST_CASE("distributed samplers give each process a part of the samples") {
  using samplers::DistributedRandomSampler, samplers::DistributedSequentialSampler;
  const auto share = [](std::size_t rank, bool twice) {
    DistributedSequentialSampler sampler(10, 3, rank, twice);
    return rest_of(sampler);
  };
  CHECK(share(0, true) == Indices{0, 1, 2, 3});
  CHECK(share(2, true) == Indices{8, 9, 0, 1});
  CHECK(share(0, false) == Indices{0, 1, 2});
  CHECK(share(2, false) == Indices{6, 7, 8});
  for (const bool twice : {false, true}) {
    Indices all;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      DistributedRandomSampler sampler(10, 3, rank, twice);
      const Indices first = rest_of(sampler);
      CHECK(first.size() == (twice ? 4 : 3));
      all.insert(all.end(), first.begin(), first.end());
      sampler.reset();
      CHECK(rest_of(sampler) == first);
      sampler.set_epoch(1);
      sampler.reset();
      CHECK(rest_of(sampler) != first);
    }
    Indices expected(twice ? 12 : 9);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i % 10;
    CHECK(sorted(all) == sorted(expected));
  }
  // The order of epoch 0 is that of std::mt19937(0), as in libtorch.
  Indices order(10);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(0);
  std::shuffle(order.begin(), order.end(), random);
  DistributedRandomSampler alone(10);
  CHECK(rest_of(alone) == order);
  DistributedRandomSampler later(10, 2, 1);
  later.set_epoch(5);
  later.reset();
  continues(later, DistributedRandomSampler(10, 2, 1));
  continues(DistributedSequentialSampler(10, 2, 1), DistributedSequentialSampler(10, 2, 1));
  CHECK_THROWS_WITH(DistributedSequentialSampler(4, 2, 2), Contains("rank"));
  DistributedSequentialSampler resized(4);
  resized.reset(2);
  CHECK(rest_of(resized) == Indices{0, 1});
}

TEST_CASE(
    "SubsetRandomSampler draws each of its indices once and WeightedRandomSampler draws with its weights") {
  manual_seed(1);
  samplers::SubsetRandomSampler some({3, 5, 8, 13});
  CHECK(sorted(rest_of(some)) == Indices{3, 5, 8, 13});
  some.reset();
  CHECK(sorted(rest_of(some)) == Indices{3, 5, 8, 13});
  CHECK_THROWS_WITH(some.reset(3), Contains("4 indices"));
  some.reset();
  continues(some, samplers::SubsetRandomSampler({1}));

  samplers::WeightedRandomSampler weighted({0, 1, 3}, 4000);
  const Indices drawn = rest_of(weighted, 1000);
  CHECK(drawn.size() == 4000);
  CHECK(std::count(drawn.begin(), drawn.end(), 0) == 0);
  CHECK(std::count(drawn.begin(), drawn.end(), 2) == Approx(3000).margin(150));
  samplers::WeightedRandomSampler once({1, 1, 0, 1}, 3, false);
  CHECK(sorted(rest_of(once)) == Indices{0, 1, 3});
  CHECK_THROWS_WITH(samplers::WeightedRandomSampler({1, -1}, 1), Contains("not negative, got -1"));
  CHECK_THROWS_WITH(samplers::WeightedRandomSampler({0, 0}, 1), Contains("above zero"));
}

TEST_CASE("a batch sampler uses its own batch size") {
  for (const bool drop_last : {false, true}) {
    samplers::BatchSampler batches(samplers::SequentialSampler(5), 2, drop_last);
    auto loader = make_data_loader(Numbers(5), batches, DataLoaderOptions(100));
    std::vector<std::vector<int>> seen;
    for (auto& batch : *loader) seen.push_back(batch);
    CHECK(seen.size() == (drop_last ? 2 : 3));
    CHECK(seen[1] == std::vector<int>{2, 3});
  }
}

TEST_CASE("random_split gives the indices of torch 2.15") {
  manual_seed(5);
  const auto thirds = random_split(Numbers(10), {0.25, 0.5, 0.25});
  CHECK(thirds[0].indices() == Indices{1, 4, 9});
  CHECK(thirds[1].indices() == Indices{6, 3, 5, 0, 2});
  CHECK(thirds[2].indices() == Indices{8, 7});
  manual_seed(5);
  auto two = random_split(Numbers(10), {3, 7});
  CHECK(two[0].indices() == Indices{1, 4, 9});
  CHECK(two[1].size() == 7);
  CHECK(two[0].get(2) == static_cast<int>(two[0].indices()[2]));
  CHECK_THROWS_WITH(random_split(Numbers(10), {3, 8}), Contains("does not equal"));
  CHECK_THROWS_WITH(random_split(Numbers(10), {-3, 13}), Contains("not negative"));
  CHECK_THROWS_WITH(random_split(Numbers(4), {1.5, 2.5}), Contains("whole number"));
  CHECK_THROWS_WITH(datasets::Subset(Numbers(3), {3}),
                    Contains("index 3 is out of range for a dataset of 3 samples"));
}

TEST_CASE("random_split accepts fractions whose sum is 1 up to rounding and omits no sample") {
  const std::vector<std::vector<double>> splits = {
      {0.7, 0.2, 0.1}, {0.1, 0.2, 0.7}, {0.1, 0.1, 0.1, 0.7}, {0.3, 0.3, 0.4}};
  for (const std::vector<double>& fractions : splits)
    for (const int samples : {1, 10, 13}) {
      INFO(fractions.size() << " parts of " << samples);
      std::vector<bool> seen(static_cast<std::size_t>(samples));
      std::size_t part = 0, taken = 0;
      for (auto& each : random_split(Numbers(samples), fractions)) {
        const double share = fractions[part++] * samples;
        CHECK(static_cast<double>(*each.size()) >= std::floor(share));
        CHECK(static_cast<double>(*each.size()) <= std::floor(share) + 1);
        for (const auto i : each.indices()) seen[static_cast<std::size_t>(i)] = true;
        taken += *each.size();
      }
      CHECK(taken == static_cast<std::size_t>(samples));
      CHECK(std::count(seen.begin(), seen.end(), true) == samples);
    }
  CHECK_THROWS_WITH(random_split(Numbers(10), {0.7, 0.2, 0.2}), Contains("does not equal"));
}

TEST_CASE("ConcatDataset concatenates datasets") {
  datasets::ConcatDataset both(std::vector<Numbers>{Numbers(3), Numbers(0), Numbers(2, 100)});
  CHECK(both.size() == 5);
  CHECK(both.cumulative_sizes() == Indices{3, 3, 5});
  CHECK(both.get_batch({0, 2, 3, 4}) == std::vector<int>{0, 2, 100, 101});
  CHECK_THROWS_WITH(both.get(5), Contains("index 5 is out of range for datasets of 5 samples in total"));
  CHECK_THROWS_WITH(datasets::ConcatDataset(std::vector<Numbers>{}), Contains("empty"));
}

TEST_CASE("samples that consist of several tensors are stacked or collated by a function") {
  const Tensor x = arange(12, kFloat).reshape({4, 3}), y = arange(4, kLong);
  const datasets::TensorListDataset rows({x, y});
  auto stacked = rows;
  auto loader = make_data_loader<samplers::SequentialSampler>(
      stacked.map(transforms::Stack<std::vector<Tensor>>()), DataLoaderOptions(4));
  const std::vector<Tensor> batch = *loader->begin();
  CHECK(equal(batch[0], x));
  CHECK(equal(batch[1], y));
  auto summed = rows;
  auto sums = make_data_loader<samplers::SequentialSampler>(
      summed.map(transforms::Collate<std::int64_t, std::vector<std::vector<Tensor>>>(
          [](std::vector<std::vector<Tensor>> samples) {
            std::int64_t sum = 0;
            for (auto& sample : samples) sum += sample[1].item<std::int64_t>();
            return sum;
          })),
      DataLoaderOptions(3));
  std::vector<std::int64_t> seen;
  for (auto& sum : *sums) seen.push_back(sum);
  CHECK(seen == std::vector<std::int64_t>{3, 3});
  CHECK_THROWS_WITH(datasets::TensorListDataset({x, arange(3)}), Contains("the same number of rows"));
  CHECK_THROWS_WITH(transforms::Stack<std::vector<Tensor>>().apply_batch({{x}, {x, y}}),
                    Contains("All need the same number"));
}

TEST_CASE("a pipeline of lambdas can be iterated repeatedly") {
  const auto even = Numbers(20).map([](int i) { return i * 10; }).filter([](int i) { return i % 20 == 0; });
  const std::vector<int> expected{0, 20, 40, 60, 80, 100, 120, 140, 160, 180};
  CHECK(all_of(even) == expected);
  CHECK(all_of(even) == expected);
  CHECK(all_of(even.prefetch(3)) == expected);
  CHECK(all_of(even.take(2)) == std::vector<int>{0, 20});
  CHECK(all_of(Numbers(5).filter([](int) { return true; }).map([](int i) { return i / 2.0; })) ==
        std::vector<double>{0, 0.5, 1, 1.5, 2});
  const auto batches = all_of(even.batch(4));
  CHECK(batches.size() == 3);
  CHECK(batches[2] == std::vector<int>{160, 180});
  CHECK(all_of(even.batch(4, /*drop_last=*/true)).size() == 2);
  CHECK(all_of(Numbers(0).prefetch(1)).empty());
  CHECK_THROWS_WITH(even.shuffle(0), Contains("at least 1"));
  CHECK_THROWS_WITH(even.batch(0), Contains("at least 1"));
  CHECK_THROWS_WITH(even.prefetch(0), Contains("at least 1"));
}

TEST_CASE("a pipeline shuffles within its buffer, in an order that the seed determines") {
  manual_seed(9);
  const auto wild = Numbers(100).shuffle(100), near = Numbers(100).shuffle(10);
  const std::vector<int> first = all_of(wild), second = all_of(wild);
  CHECK(first != second);
  CHECK(sorted(first) == all_of(from(Numbers(100))));
  manual_seed(9);
  CHECK(all_of(wild) == first);
  const std::vector<int> close = all_of(near);
  CHECK(sorted(close) == sorted(first));
  for (std::size_t i = 0; i < close.size(); ++i) CHECK(close[i] < static_cast<int>(i) + 10);
}

TEST_CASE("an exception in prefetch is rethrown at the position of its sample, and loops can be left early") {
  auto made = std::make_shared<std::atomic<int>>(0);
  const auto chain = Numbers(1000)
                         .map([made](int i) {
                           ++*made;
                           if (i == 3) throw std::runtime_error("three");
                           return i;
                         })
                         .prefetch(2);
  std::vector<int> seen;
  try {
    for (const int i : chain) seen.push_back(i);
    FAIL("no error");
  } catch (const std::runtime_error& e) {
    CHECK(std::string(e.what()) == "three");
  }
  CHECK(seen == std::vector<int>{0, 1, 2});
  *made = 0;
  for (const int i : Numbers(1000).map([made](int i) { return ++*made, i; }).prefetch(2))
    if (i == 5) break;
  CHECK(*made < 12);
}
