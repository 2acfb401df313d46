// DataLoader: errors and equality of iterators, epochs that are left early, and timeouts.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <thread>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

namespace {

// A dataset of integers. Workers count their reads and the number of concurrent readers.
struct Numbers : datasets::Dataset<Numbers, std::size_t> {
  explicit Numbers(std::size_t n) : n(n) {}
  std::size_t get(std::size_t i) override {
    const auto busy_now = std::shared_ptr<void>((++*busy, nullptr), [b = busy](void*) { --*b; });
    ++*read;
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    return i;
  }
  optional<std::size_t> size() const override { return n; }
  std::size_t n;
  std::chrono::milliseconds pause{0};
  std::shared_ptr<std::atomic<int>> read = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> busy = std::make_shared<std::atomic<int>>(0);
};

// Records the number of reading workers at each reset.
struct Watching : samplers::SequentialSampler {
  explicit Watching(const Numbers& numbers) : SequentialSampler(numbers.n), busy(numbers.busy) {}
  void reset(optional<std::size_t> size) override {
    *busy_at_reset = busy->load();
    SequentialSampler::reset(size);
  }
  std::shared_ptr<std::atomic<int>> busy;
  std::shared_ptr<int> busy_at_reset = std::make_shared<int>(0);
};

// Five samples, computed by a function.
struct Calls : datasets::Dataset<Calls, std::size_t> {
  explicit Calls(std::function<std::size_t(std::size_t)> f) : f(std::move(f)) {}
  std::size_t get(std::size_t i) override { return f(i); }
  optional<std::size_t> size() const override { return 5; }
  std::function<std::size_t(std::size_t)> f;
};

struct Rows : datasets::Dataset<Rows> {
  Example<> get(std::size_t i) override { return {full({2}, static_cast<double>(i)), tensor(7)}; }
  optional<std::size_t> size() const override { return 3; }
};

auto in_order(const Numbers& numbers, std::size_t batch, std::size_t workers = 0) {
  return make_data_loader<samplers::SequentialSampler>(numbers, DataLoaderOptions(batch).workers(workers));
}

template <class Loader>
std::vector<std::size_t> all_of(Loader& loader) {
  std::vector<std::size_t> seen;
  for (auto& batch : loader) seen.insert(seen.end(), batch.begin(), batch.end());
  return seen;
}

}  // namespace

TEST_CASE("an end iterator of a DataLoader throws if it is dereferenced or incremented") {
  for (const std::size_t workers : {0, 2}) {
    auto loader = in_order(Numbers(3), 2, workers);
    auto end = loader->end();
    CHECK_THROWS_WITH(++end, Contains("Incrementing the DataLoader's past-the-end iterator is not allowed"));
    CHECK_THROWS_WITH(*end, Contains("Dereferencing the DataLoader's past-the-end iterator is not allowed"));
    CHECK_THROWS_WITH(end->size(), Contains("Dereferencing the DataLoader's past-the-end iterator is"));
    auto it = loader->begin();
    CHECK((*it)[0] == 0);
    CHECK(it->size() == 2);
    ++it;
    CHECK((*it)[0] == 2);
    CHECK(++it == end);
    CHECK_THROWS_WITH(++it, Contains("Attempted to increment iterator past the end"));
    CHECK_THROWS_WITH(*it, Contains("Attempted to dereference iterator that was past the end"));
    CHECK_THROWS_WITH(it->size(), Contains("Attempted to dereference iterator that was past the end"));
    CHECK(all_of(*loader) == std::vector<std::size_t>{0, 1, 2});  // the loader still works
  }
}

TEST_CASE("iterators of a DataLoader are equal if one is a copy of the other or both are at the end") {
  auto loader = in_order(Numbers(2), 1), other = in_order(Numbers(2), 1);
  auto end = loader->end();
  CHECK(end == loader->end());
  auto it = loader->begin(), copy = it, another = other->begin();
  CHECK(it == it);
  CHECK(it == copy);
  CHECK(it != another);
  CHECK(it != end);
  CHECK(end != it);
  ++copy;  // increments both
  CHECK((*it)[0] == 1);
  CHECK(it == copy);
  ++it;
  CHECK(copy == end);
  CHECK(end == it);
  CHECK(it != another);
}

TEST_CASE("a DataLoader reads the first batch when it is dereferenced") {
  const Numbers numbers(4);
  auto loader = in_order(numbers, 2);
  auto it = loader->begin();
  CHECK(*numbers.read == 0);
  CHECK(it != loader->end());
  CHECK(*numbers.read == 2);
  CHECK((*it)[1] == 1);
  CHECK(*numbers.read == 2);
}

TEST_CASE("a second iterator throws while workers prefetch for the first") {
  auto loader = in_order(Numbers(20), 2, 2);
  {
    auto it = loader->begin();
    CHECK_THROWS_WITH(loader->begin(), Contains("Attempted to get a new DataLoader iterator while another "
                                                "iterator is not yet exhausted"));
    ++it;
    CHECK_THROWS_WITH(loader->begin(), Contains("Attempted to get a new DataLoader iterator while another"));
    CHECK((*it)[0] == 2);  // unchanged
    while (++it != loader->end()) {
    }
    CHECK((*loader->begin())[0] == 0);  // after it is exhausted
  }
  CHECK(all_of(*loader).size() == 20);
  // Without workers there is no prefetching: the sampler restarts, as in libtorch.
  auto plain = in_order(Numbers(6), 2);
  auto first = plain->begin();
  ++first;
  auto second = plain->begin();
  CHECK((*second)[0] == 0);
  CHECK(first != second);
}

TEST_CASE("an epoch that is left early does not affect the next epoch") {
  for (const std::size_t workers : {0, 1, 3}) {
    for (const bool ordered : {true, false}) {
      INFO(workers << " workers, ordered " << ordered);
      const Numbers numbers(40);
      auto loader = make_data_loader<samplers::SequentialSampler>(
          numbers, DataLoaderOptions(3).workers(workers).enforce_ordering(ordered));
      for (int epoch = 0; epoch < 3; ++epoch) {
        int batches = 0;
        for (auto& batch : *loader) {
          CHECK(batch.size() == 3);
          if (++batches == 2) break;
        }
        CHECK(batches == 2);
      }
      // The next epoch is complete and contains no prefetched batch of the previous one.
      const std::vector<std::size_t> seen = all_of(*loader);
      CHECK(seen.size() == 40);
      CHECK(std::set<std::size_t>(seen.begin(), seen.end()).size() == 40);
      if (ordered) CHECK(std::is_sorted(seen.begin(), seen.end()));
    }
  }
}

TEST_CASE("a DataLoader that is destroyed within an epoch waits for its workers") {
  for (int round = 0; round < 20; ++round) {
    const Numbers numbers(1000);
    {
      auto loader = in_order(numbers, 5, 3);
      const auto it = loader->begin();
      CHECK(it->size() == 5);
    }
    CHECK(*numbers.busy == 0);
    const int read = *numbers.read;
    CHECK(read < 1000);
    std::this_thread::yield();
    CHECK(*numbers.read == read);
    // After join(), the loader restarts its workers.
    auto loader = in_order(numbers, 100, 2);
    {
      const auto it = loader->begin();
    }
    loader->join();
    CHECK(*numbers.busy == 0);
    CHECK(all_of(*loader).size() == 1000);
  }
}

TEST_CASE("batches that no worker has begun are not read after the DataLoader is destroyed") {
  Numbers numbers(1000);
  numbers.pause = std::chrono::milliseconds(1);
  {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        numbers, DataLoaderOptions(1).workers(1).max_jobs(1000));
    const auto it = loader->begin();
    CHECK((*it)[0] == 0);
  }
  CHECK(*numbers.read < 1000);
}

TEST_CASE("an epoch starts after all workers have finished the previous one") {
  Numbers numbers(100);
  numbers.pause = std::chrono::milliseconds(20);
  const Watching sampler(numbers);
  auto loader = make_data_loader(numbers, sampler, DataLoaderOptions(1).workers(2).max_jobs(100));
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto it = loader->begin();
    CHECK(*sampler.busy_at_reset == 0);
    CHECK((*it)[0] == 0);
    for (int i = 0; i < 1000 && *numbers.busy == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("a DataLoader reads only the indices of its sampler") {
  auto some = make_data_loader(Numbers(10), samplers::SequentialSampler(4), DataLoaderOptions(3));
  CHECK(all_of(*some) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(all_of(*some).size() == 4);
}

TEST_CASE("a DataLoader with a timeout returns batches in time and throws otherwise") {
  std::promise<void> promise;
  const std::shared_future<void> released = promise.get_future().share();
  const auto stuck = [released](std::size_t i) {
    if (i == 3) released.wait();
    return i;
  };
  auto loader = make_data_loader<samplers::SequentialSampler>(
      Calls(stuck), DataLoaderOptions(3).workers(1).max_jobs(1).timeout(std::chrono::minutes(10)));
  auto impatient = make_data_loader(Calls(stuck), samplers::SequentialSampler(5),
                                    DataLoaderOptions(5).workers(1).timeout(std::chrono::milliseconds(1)));
  // destroyed before the loaders, which wait for their workers
  std::promise<void> release(std::move(promise));
  auto it = loader->begin();
  CHECK(*it == std::vector<std::size_t>{0, 1, 2});
  const auto begun = impatient->begin();
  CHECK_THROWS_MATCHES(
      *begun, Error,
      support::Saying("DataLoader: no batch came within 1 ms. Raise timeout(), or use more workers."));
  release.set_value();
  ++it;
  CHECK(*it == std::vector<std::size_t>{3, 4});
}

TEST_CASE("WorkerException stores an exception that is not a std::exception") {
  const auto throwing = [](std::size_t i) -> std::size_t { throw static_cast<int>(40 + i); };
  auto loader =
      make_data_loader<samplers::SequentialSampler>(Calls(throwing), DataLoaderOptions(1).workers(1));
  const auto it = loader->begin();
  try {
    const auto& batch = *it;
    FAIL("no error, but a batch of " << batch.size());
  } catch (const WorkerException& e) {
    CHECK(
        std::string(e.what()) ==
        "Caught exception in DataLoader worker thread. Original message: not a std::exception\n  reading the "
        "examples [0] of (anonymous namespace)::Calls");
    int thrown = 0;
    try {
      std::rethrow_exception(e.original_exception);
    } catch (int value) {
      thrown = value;
    }
    CHECK(thrown == 40);
  }
}

TEST_CASE("a DataLoader with pin_memory returns equal batches in page-locked memory if CUDA is available") {
  auto loader = make_data_loader<samplers::SequentialSampler>(Rows(), DataLoaderOptions(2).pin_memory(true));
  int row = 0;
  for (const std::vector<Example<>>& batch : *loader)
    for (const Example<>& each : batch) {
      CHECK(equal(each.data, full({2}, static_cast<double>(row++))));
      CHECK(equal(each.target, tensor(7)));
      CHECK(each.data.is_pinned() == cuda::is_available());
    }
  CHECK(row == 3);
  CHECK(data::pinned(std::string("a")) == "a");
  CHECK_FALSE(data::pinned(Variable()).defined());
}
