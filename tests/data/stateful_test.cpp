// Stateful datasets, streams, and chunks that threads read.
#include <ebb/data.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/random.h>

#include "support/catch.h"
#include "support/scopes.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

namespace {

using Ints = std::vector<int>;

// Returns 0, 1, ..., n - 1, each once, for any number of threads.
struct Counter : datasets::StatefulDataset<Counter, Ints> {
  explicit Counter(int n) : n(n) {}
  optional<Ints> get_batch(std::size_t size) override {
    const std::lock_guard lock(*mutex);
    if (at >= n) return nullopt;
    Ints batch;
    while (batch.size() < size && at < n) batch.push_back(at++);
    return batch;
  }
  optional<std::size_t> size() const override { return nullopt; }
  void reset() override { at = 0; }
  void save(serialize::OutputArchive& archive) const override {
    archive.write("at", scalar_tensor(at, TensorOptions(kLong)));
  }
  void load(serialize::InputArchive& archive) override {
    Tensor value;
    archive.read("at", value);
    at = value.item<int>();
  }
  int n, at = 0;
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
};

struct Tens : datasets::ChunkDataReader<int> {
  Ints read_chunk(std::size_t chunk) override {
    if (static_cast<int>(chunk) == broken) throw std::runtime_error("chunk is broken");
    Ints out(static_cast<std::size_t>(length));
    std::iota(out.begin(), out.end(), static_cast<int>(chunk) * length);
    return out;
  }
  std::size_t chunk_count() override { return 4; }
  void reset() override { ++*resets; }
  int length = 10, broken = -1;
  std::shared_ptr<int> resets = std::make_shared<int>(0);
};

using InOrder = datasets::ChunkDataset<Tens, samplers::SequentialSampler, samplers::SequentialSampler>;

std::shared_ptr<InOrder> ordered(datasets::ChunkDatasetOptions options, const Tens& reader = {},
                                 std::function<void(Ints&)> policy = {}) {
  return std::make_shared<InOrder>(reader, samplers::SequentialSampler(0), samplers::SequentialSampler(0),
                                   options, std::move(policy));
}

template <class Range>
Ints all_of(Range& batches) {
  Ints seen;
  for (auto& batch : batches) seen.insert(seen.end(), batch.begin(), batch.end());
  return seen;
}

Ints up_to(int n) {
  Ints out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Ints sorted(Ints values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

TEST_CASE("a stateful dataset is read to its end with any number of workers") {
  for (const std::size_t workers : {0, 1, 3}) {
    CAPTURE(workers);
    auto loader =
        make_data_loader(datasets::make_shared_dataset<Counter>(23), DataLoaderOptions(5).workers(workers));
    for (int epoch = 0; epoch < 3; ++epoch) {
      const Ints seen = all_of(*loader);
      CHECK(sorted(seen) == up_to(23));
      if (workers < 2) CHECK(seen == up_to(23));
    }
    for (auto& batch : *loader) {
      CHECK(batch.size() == 5);
      break;
    }
    CHECK(all_of(*loader).size() == 23);
  }
}

TEST_CASE("a stateful dataset can be mapped, and its position can be saved") {
  auto doubled = Counter(6).map(transforms::BatchLambda<Ints>([](Ints batch) {
    for (int& each : batch) each *= 2;
    return batch;
  }));
  STATIC_REQUIRE(decltype(doubled)::is_stateful);
  auto loader = make_data_loader(doubled, DataLoaderOptions(4));
  CHECK(all_of(*loader) == Ints{0, 2, 4, 6, 8, 10});
  Counter counter(6), other(6);
  counter.get_batch(4);
  serialize::OutputArchive out;
  out << counter;
  std::stringstream file;
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  in >> other;
  CHECK(*other.get_batch(4) == Ints{4, 5});
  CHECK_FALSE(other.get_batch(4));
}

TEST_CASE("a stream dataset receives the batch sizes from its sampler") {
  struct Zeros : datasets::StreamDataset<Zeros, Ints> {
    Ints get_batch(std::size_t size) override { return Ints(size, 0); }
    optional<std::size_t> size() const override { return nullopt; }
  };
  for (const bool drop_last : {false, true}) {
    auto loader =
        make_data_loader(Zeros(), samplers::StreamSampler(11), DataLoaderOptions(4).drop_last(drop_last));
    std::vector<std::size_t> sizes;
    for (auto& batch : *loader) sizes.push_back(batch.size());
    CHECK(sizes == (drop_last ? std::vector<std::size_t>{4, 4} : std::vector<std::size_t>{4, 4, 3}));
  }
  samplers::StreamSampler sampler(10), other(10), small(3);
  CHECK(sampler.next(4)->size() == 4);
  serialize::OutputArchive out;
  sampler.save(out);
  std::stringstream file;
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  other.load(in);
  CHECK(static_cast<std::size_t>(*other.next(7)) == 6);
  CHECK_FALSE(other.next(1));
  CHECK_THROWS_WITH(small.load(in), Contains("which is outside of"));
  other.reset(2);
  CHECK(other.next(7)->size() == 2);
}

TEST_CASE("a chunk dataset returns batches in order or shuffled") {
  const Tens reader;
  auto dataset = ordered({1, 7}, reader);
  CHECK_THROWS_WITH(dataset->get_batch(7), Contains("needs to call reset()"));
  auto loader = make_data_loader(datasets::SharedBatchDataset<InOrder>(dataset), DataLoaderOptions(7));
  for (int epoch = 1; epoch <= 2; ++epoch) {
    CHECK(all_of(*loader) == up_to(40));
    CHECK(*reader.resets == epoch);
  }
  CHECK_THROWS_WITH(dataset->get_batch(6), Contains("does not match"));
  // A cache that is full until batches are taken, several preloaders and workers, and an epoch that is left
  // early.
  for (const std::size_t preloaders : {1, 3})
    for (const std::size_t workers : {0, 2}) {
      CAPTURE(preloaders, workers);
      auto mixed = datasets::make_shared_dataset<datasets::ChunkDataset<Tens>>(
          Tens(), samplers::RandomSampler(0), samplers::RandomSampler(0),
          datasets::ChunkDatasetOptions(preloaders, 6, 6));
      auto random = make_data_loader(mixed, DataLoaderOptions(6).workers(workers));
      for (int epoch = 0; epoch < 3; ++epoch) {
        const Ints seen = all_of(*random);
        CHECK(sorted(seen) == up_to(40));
        CHECK(seen != up_to(40));
        for (auto& batch : *random) {
          CHECK(batch.size() == 6);
          break;
        }
      }
    }
}

TEST_CASE("a chunk dataset shuffles across chunks and accepts a preprocessing function") {
  auto pairs =
      ordered(datasets::ChunkDatasetOptions(1, 20).cross_chunk_shuffle_count(2), {}, [](Ints& examples) {
        std::reverse(examples.begin(), examples.end());
        examples.pop_back();
      });
  pairs->reset();
  Ints expected = up_to(20);
  std::reverse(expected.begin(), expected.end());
  expected.pop_back();
  expected.push_back(39);
  CHECK(*pairs->get_batch() == expected);
  CHECK(pairs->get_batch()->size() == 18);
  CHECK_FALSE(pairs->get_batch());
}

TEST_CASE("a chunk that cannot be read throws at its position and later chunks are read") {
  Tens reader;
  reader.broken = 1;
  auto dataset = ordered({1, 10}, reader);
  dataset->reset();
  CHECK(dataset->get_batch()->front() == 0);
  CHECK_THROWS_WITH(dataset->get_batch(), "chunk is broken");
  CHECK(dataset->get_batch()->front() == 20);
  CHECK(dataset->get_batch()->front() == 30);
  CHECK_FALSE(dataset->get_batch());
  // In a worker of a loader, the error is a WorkerException that contains the original one.
  auto loader = make_data_loader(datasets::SharedBatchDataset<InOrder>(ordered({1, 10}, reader)),
                                 DataLoaderOptions(10).workers(1));
  auto it = loader->begin();
  CHECK(it->front() == 0);
  try {
    ++it;
    FAIL("no error");
  } catch (const WorkerException& e) {
    CHECK_THAT(e.what(), Contains("in DataLoader worker thread. Original message: chunk is broken"));
    CHECK_THROWS_MATCHES(std::rethrow_exception(e.original_exception), std::runtime_error,
                         support::Saying("chunk is broken"));
  }
}

TEST_CASE("a chunk dataset continues from the saved chunk") {
  auto first = ordered({1, 10, 10}), second = ordered({1, 10});
  second->chunk_sampler().reset(4);
  CHECK(second->chunk_sampler().next(2)->size() == 2);
  serialize::OutputArchive out;
  second->save(out);
  std::stringstream file;
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  const Generator drawn = default_generator().clone();
  first->load(in);
  CHECK(ebb::rand({1}, drawn).item<float>() == ebb::rand({1}).item<float>());
  first->reset();
  CHECK(first->get_batch()->front() == 20);
  first->reset();
  CHECK(first->get_batch()->front() == 0);
}

TEST_CASE("a chunk dataset throws for invalid options") {
  using Options = datasets::ChunkDatasetOptions;
  CHECK_THROWS_WITH(Options(0, 1), Contains("Preloader count is 0"));
  CHECK_THROWS_WITH(Options(1, 0), Contains("Batch size is 0"));
  CHECK_THROWS_WITH(Options(1, 1, 0), Contains("Cache size is 0"));
  CHECK_THROWS_WITH(Options(1, 5, 4), Contains("less than batch size"));
  CHECK_THROWS_WITH(Options(1, 5, 5, 0), Contains("greater than 0"));
}

TEST_CASE("saving a DataLoader of a stateful dataset throws and advises to save the dataset") {
  auto loader = make_data_loader(datasets::make_shared_dataset<Counter>(3), DataLoaderOptions(2));
  serialize::OutputArchive out;
  serialize::InputArchive in;
  const std::string why = "DataLoader: a loader of a stateful dataset has no position of its own. ";
  CHECK_THROWS_MATCHES(loader->save(out), Error, support::Saying(why + "Save the dataset."));
  CHECK_THROWS_MATCHES(loader->load(in), Error, support::Saying(why + "Load the dataset."));
}

TEST_CASE("a shared dataset has the size of its dataset, and a chunk dataset has no size") {
  CHECK_FALSE(datasets::SharedBatchDataset<InOrder>(ordered({1, 7})).size().has_value());
  struct Seven : Counter {
    using Counter::Counter;
    optional<std::size_t> size() const override { return 7; }
  };
  CHECK(*datasets::make_shared_dataset<Seven>(7).size() == 7);
}

TEST_CASE("data loading throws if the system cannot create a thread, and works again later") {
  const auto chunks = ordered({2, 7});
  auto loader = make_data_loader(datasets::make_shared_dataset<Counter>(23), DataLoaderOptions(5).workers(2));
  const auto numbers = datasets::TensorDataset(arange(6));
  auto list = make_data_loader(numbers, DataLoaderOptions(4).workers(2));
  const auto length = [](auto&& range) {
    std::size_t n = 0;
    for (auto at = range.begin(); at != range.end(); ++at) ++n;
    return n;
  };
  struct Row {
    std::string who;
    std::size_t gives;
    std::function<std::size_t()> count;
  };
  const Row rows[] = {{"DataLoader", 23, [&] { return all_of(*loader).size(); }},
                      {"DataLoader", 2, [&] { return length(*list); }},
                      {"Pipeline::prefetch", 6, [&] { return length(from(numbers).prefetch(2)); }},
                      {"ChunkDataset", 40, [&] {
                         std::size_t n = 0;
                         chunks->reset();
                         while (const auto batch = chunks->get_batch(7)) n += batch->size();
                         return n;
                       }}};
  for (const Row& row : rows) {
    {
      const support::NoThreads refused;
      CHECK_THROWS_WITH(row.count(), Contains(row.who + ": the system refuses a thread"));
    }
    CHECK(row.count() == row.gives);
  }
}
