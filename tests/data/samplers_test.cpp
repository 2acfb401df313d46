// Samplers: another number of samples, and saved positions.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <algorithm>
#include <sstream>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

namespace {

template <class Sampler>
std::vector<std::size_t> rest_of(Sampler& sampler, std::size_t batch_size = 4) {
  std::vector<std::size_t> out;
  while (const auto batch = sampler.next(batch_size)) out.insert(out.end(), batch->begin(), batch->end());
  return out;
}

std::vector<std::size_t> sorted(std::vector<std::size_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<std::size_t> up_to(std::size_t n) {
  std::vector<std::size_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = i;
  return out;
}

// Transfers a state through the bytes of a file.
template <class From, class To>
void transfer(const From& from, To& to) {
  serialize::OutputArchive out;
  from.save(out);
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  to.load(in);
}

serialize::InputArchive archive_of(const std::vector<std::pair<std::string, Variable>>& tensors) {
  serialize::OutputArchive out;
  for (const auto& [name, tensor] : tensors) out.write(name, tensor);
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  return in;
}

}  // namespace

TEST_CASE("reset of a sampler sets a new number of samples") {
  samplers::RandomSampler random(6);
  random.next(4);
  for (const std::size_t n : {9, 2, 0, 5}) {
    random.reset(n);
    CHECK(random.index() == 0);
    CHECK(sorted(rest_of(random)) == up_to(n));
    CHECK_FALSE(random.next(1));
    random.reset();
    CHECK(sorted(rest_of(random)) == up_to(n));
  }
  samplers::SequentialSampler line(6);
  line.next(4);
  for (const std::size_t n : {9, 2, 0, 5}) {
    line.reset(n);
    CHECK(line.index() == 0);
    CHECK(rest_of(line) == up_to(n));
    line.reset();
    CHECK(rest_of(line) == up_to(n));
  }
}

TEST_CASE("a sampler that loads the saved position of another sampler continues there") {
  for (const std::size_t taken : {0, 3, 10}) {
    samplers::RandomSampler first(10), second(4);
    if (taken > 0) first.next(taken);
    transfer(first, second);
    CHECK(second.index() == taken);
    CHECK(rest_of(second, 3) == rest_of(first, 3));
    second.reset();
    CHECK(sorted(rest_of(second)) == up_to(10));

    samplers::SequentialSampler line(10), other(10);
    if (taken > 0) line.next(taken);
    transfer(line, other);
    CHECK(other.index() == taken);
    CHECK(rest_of(other) == rest_of(line));
  }
  // The same after an incomplete last batch.
  samplers::RandomSampler whole(5), again(5);
  CHECK(rest_of(whole).size() == 5);
  CHECK(whole.index() == 5);
  transfer(whole, again);
  CHECK_FALSE(again.next(1));
  samplers::RandomSampler sampler(5);
  sampler.next(2);
  serialize::OutputArchive out;
  sampler.save(out);
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  CHECK(in.keys() == std::vector<std::string>{"index", "indices"});  // the keys of libtorch
}

TEST_CASE("SubsetRandomSampler and WeightedRandomSampler continue at any saved position of another sampler") {
  for (const std::size_t taken : {0, 1, 3, 4}) {
    INFO(taken << " taken");
    samplers::SubsetRandomSampler first({0, 7, 2, 5}), second({1, 1});
    samplers::WeightedRandomSampler drawn({1, 2, 0, 3}, 4), other({0, 1}, 2);
    if (taken > 0) first.next(taken), drawn.next(taken);
    second.next(1), other.next(2);
    transfer(first, second);
    transfer(drawn, other);
    CHECK(rest_of(second, 2) == rest_of(first, 2));
    CHECK(rest_of(other, 3) == rest_of(drawn, 3));
  }
}

TEST_CASE("a batch sampler continues at a saved position with its own batch size") {
  for (const std::size_t batches : {0, 1, 2}) {
    samplers::BatchSampler from(samplers::RandomSampler(5), 2, false),
        to(samplers::RandomSampler(5), 3, false);
    for (std::size_t i = 0; i < batches; ++i) from.next(1);
    transfer(from, to);
    const std::vector<std::size_t> rest = rest_of(from);
    CHECK(rest.size() == 5 - 2 * batches);
    const std::vector<std::size_t> first = *to.next(1);
    CHECK(first == std::vector<std::size_t>(rest.begin(), rest.begin() + (batches == 2 ? 1 : 3)));
  }
}

TEST_CASE("loading an invalid position into a sampler throws and changes nothing") {
  const auto index = [](std::int64_t i) { return scalar_tensor(i, TensorOptions(kLong)); };
  samplers::RandomSampler random(3);
  const auto refused = [&](const std::vector<std::pair<std::string, Variable>>& tensors, const char* why) {
    auto archive = archive_of(tensors);
    CHECK_THROWS_WITH(random.load(archive), Contains(why));
  };
  refused({}, "indices");
  refused({{"indices", tensor({2, 0, 1})}}, "\"index\"");
  refused({{"indices", tensor({2, 0, 1})}, {"index", index(4)}}, "position 4");
  refused({{"indices", tensor({2, 0, 1})}, {"index", index(-1)}}, "position -1");
  refused({{"indices", tensor({2, 0, 1})}, {"index", tensor({1, 2})}}, "one integer");
  refused({{"indices", tensor({2, 0, 1})}, {"index", tensor(1.5)}}, "one integer");
  refused({{"indices", tensor({2, -1, 1})}, {"index", index(0)}}, "-1");
  refused({{"indices", tensor({2.0, 0.0})}, {"index", index(0)}}, "list of integers");
  refused({{"indices", zeros({2, 2}, kLong)}, {"index", index(0)}}, "list of integers");
  CHECK(random.index() == 0);
  CHECK(sorted(rest_of(random)) == up_to(3));
  samplers::SequentialSampler line(3);
  auto archive = archive_of({{"index", index(4)}});
  CHECK_THROWS_WITH(line.load(archive), Contains("3 samples"));
  CHECK(rest_of(line) == up_to(3));
  samplers::SequentialSampler unsized(0);
  unsized.load(archive);
  CHECK(unsized.index() == 4);
  CHECK_FALSE(unsized.next(1));
}

TEST_CASE("a user's sampler without save throws an error that says so") {
  struct Forgetful : samplers::Sampler<> {
    void reset(optional<std::size_t>) override {}
    optional<std::vector<std::size_t>> next(std::size_t) override { return nullopt; }
  } sampler;
  serialize::OutputArchive out;
  serialize::InputArchive in;
  CHECK_THROWS_MATCHES(sampler.save(out), NotImplementedError,
                       support::Saying("Sampler: this sampler has no save(). Override save() and"));
  CHECK_THROWS_MATCHES(sampler.load(in), NotImplementedError,
                       support::Saying("Sampler: this sampler has no load(). Override save() and"));
}
