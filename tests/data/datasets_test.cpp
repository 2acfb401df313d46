// Datasets: IDX files and MNIST folders, transforms, batch requests, and the DataLoader that reads them.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>
#include <fstream>
#include <set>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

// IDX files and the datasets that read them.

namespace {

const std::filesystem::path kFolder = support::own_folder();

std::string write_file(const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(kFolder);
  const auto path = kFolder / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

struct Squares : datasets::Dataset<Squares> {
  explicit Squares(std::int64_t n) : n_(n) {}
  Example<> get(std::size_t i) override {
    if (fail_at && static_cast<std::int64_t>(i) == *fail_at) throw std::runtime_error("sample lost");
    const auto v = static_cast<double>(i);
    return {tensor(v, kF64), tensor(v * v, kF64)};
  }
  optional<std::size_t> size() const override { return static_cast<std::size_t>(n_); }
  std::int64_t n_;
  optional<std::int64_t> fail_at;
};

const std::string kDigits = source_dir() + "/python_free_examples/data/digits";

}  // namespace

TEST_CASE("read_idx returns the dtype and values of the file and throws for damaged files") {
  using namespace std::string_literals;
  const Variable shorts = read_idx(write_file("s", "\0\0\x0b\x01\0\0\0\x02\x01\x02\xff\xfe"s));
  REQUIRE(shorts.dtype() == kShort);
  REQUIRE(shorts[0].item<int>() == 258);
  REQUIRE(shorts[1].item<int>() == -2);
  REQUIRE_THROWS_WITH(read_idx(write_file("t", "\0\0\x08\x01\0\0\0\x05\x01"s)), Contains("truncated"));
  REQUIRE_THROWS_WITH(read_idx(write_file("l", "\0\0\x08\x01\0\0\0\x01\x01\x02"s)), Contains("longer"));
  REQUIRE_THROWS_WITH(read_idx(write_file("m", "PNG, not IDX")), Contains("not an IDX file"));
  REQUIRE_THROWS_WITH(read_idx(write_file("d", "\0\0\x07\x01\0\0\0\x01\x01"s)), Contains("dtype 7"));
  REQUIRE_THROWS_WITH(
      read_idx(write_file("h", "\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s)),
      Contains("elements") || Contains("more bytes than the file can hold"));
  // A file of 20 bytes that claims 32 GiB of doubles throws before it allocates memory.
  REQUIRE_THROWS_WITH(read_idx(write_file("g", "\0\0\x0e\x02\0\1\0\0\0\1\0\0"s + "12345678")),
                      Contains("more bytes than the file can hold"));
  REQUIRE_THROWS_WITH(read_idx("no/such/file"), Contains("no/such/file"));
}

TEST_CASE("the digits dataset of the repository can be loaded") {
  const datasets::MNIST train(kDigits), test(kDigits, datasets::MNIST::Mode::kTest);
  REQUIRE(*train.size() + *test.size() == 1797);
  REQUIRE(train.images().sizes().slice(1) == IntArrayRef({1, 8, 8}));
  REQUIRE(train.images().max().item<float>() == 1);
  REQUIRE(train.targets().min().item<std::int64_t>() == 0);
  REQUIRE(train.targets().max().item<std::int64_t>() == 9);
  REQUIRE_THROWS_WITH(datasets::MNIST("no/such/folder"), Contains("no/such/folder"));
}

TEST_CASE("a DataLoader returns every sample once in the order of the seed for any number of workers") {
  std::vector<std::vector<double>> runs;
  for (std::size_t workers : {0, 1, 3}) {
    manual_seed(7);
    auto loader =
        make_data_loader(Squares(23).map(transforms::Stack<>()), DataLoaderOptions(4).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<double> order;
      for (auto& batch : *loader) {
        REQUIRE(equal(batch.data * batch.data, batch.target));
        for (std::int64_t i = 0; i < batch.data.size(0); ++i) order.push_back(batch.data[i].item<double>());
      }
      REQUIRE(std::set<double>(order.begin(), order.end()).size() == 23);
      runs.push_back(order);
    }
  }
  REQUIRE(runs[0] != runs[1]);  // each epoch has another order
  REQUIRE(runs[2] == runs[0]);
  REQUIRE(runs[5] == runs[1]);
}

TEST_CASE("a DataLoader accepts samplers, drop_last and enforce_ordering") {
  auto loader = make_data_loader<samplers::SequentialSampler>(Squares(10).map(transforms::Stack<>()),
                                                              DataLoaderOptions(4).drop_last(true));
  int batches = 0;
  for (auto& batch : *loader) {
    REQUIRE(batch.data[0].item<double>() == 4 * batches);
    ++batches;
  }
  REQUIRE(batches == 2);
  auto loose = make_data_loader(Squares(50), DataLoaderOptions(5).workers(3).enforce_ordering(false));
  std::set<double> seen;
  for (auto& batch : *loose)
    for (auto& example : batch) seen.insert(example.data.item<double>());
  REQUIRE(seen.size() == 50);
}

TEST_CASE("a DataLoader rethrows an exception of a worker, and a loop over it can be left early") {
  Squares broken(20);
  broken.fail_at = 11;
  for (std::size_t workers : {0, 2}) {
    auto loader =
        make_data_loader<samplers::SequentialSampler>(broken, DataLoaderOptions(4).workers(workers));
    int batches = 0;
    REQUIRE_THROWS_WITH(
        [&] {
          for (auto& batch : *loader) batches += batch.size() == 4;
        }(),
        support::Contains("sample lost"));
    REQUIRE(batches == 2);
    for (auto& batch : *loader) {
      REQUIRE(batch.size() == 4);
      break;
    }
  }
}

TEST_CASE("Normalize and TensorLambda transform the samples of a dataset") {
  auto images = datasets::MNIST(kDigits).map(transforms::Normalize<>(0.5, 0.25)).map(transforms::Stack<>());
  const Example<> batch = images.get_batch({0, 1, 2});
  REQUIRE(batch.data.sizes() == IntArrayRef({3, 1, 8, 8}));
  REQUIRE(batch.data.min().item<float>() == -2);
  auto rows = datasets::TensorDataset(arange(6, kF32).view({3, 2}))
                  .map(transforms::TensorLambda<void>([](Variable x) { return x * 2; }))
                  .map(transforms::Stack<TensorExample>());
  const TensorExample doubled = rows.get_batch({2, 0});
  REQUIRE(equal(doubled.data, tensor({8.0f, 10.0f, 0.0f, 2.0f}).view({2, 2})));
}

// Datasets: damaged IDX files, MNIST folders, transforms per channel, batch requests.

namespace {

// Writes images of one byte each, and labels; all values are `value`.
void write_split(const std::string& prefix, char images, char labels, char value) {
  using namespace std::string_literals;
  write_file(prefix + "-images-idx3-ubyte", "\0\0\x08\x03\0\0\0"s + images + "\0\0\0\1\0\0\0\1"s +
                                                std::string(static_cast<std::size_t>(images), value));
  write_file(prefix + "-labels-idx1-ubyte",
             "\0\0\x08\x01\0\0\0"s + labels + std::string(static_cast<std::size_t>(labels), value));
}

// A request that counts its copies.
struct Request {
  Request() = default;
  Request(const Request& other) : copies(other.copies + 1) {}
  Request(Request&&) = default;
  Request& operator=(const Request&) = default;
  Request& operator=(Request&&) = default;
  int copies = 0;
};

struct Copies : datasets::BatchDataset<Copies, std::vector<int>, Request> {
  std::vector<int> get_batch(Request request) override { return {request.copies}; }
  optional<std::size_t> size() const override { return nullopt; }
};

}  // namespace

TEST_CASE("an IDX file with a wrong magic number or length throws") {
  using namespace std::string_literals;
  for (const auto& start : {"\0\1"s, "\1\0"s})
    CHECK_THROWS_WITH(read_idx(write_file("start", start + "\x08\x01\0\0\0\1\7"s)),
                      Contains("does not begin with two zero bytes"));
  CHECK_THROWS_WITH(read_idx(write_file("short", "\0\0\x08\x01\0\0\1\0\7"s)),
                    Contains("more bytes than the file can hold"));
}

TEST_CASE("MNIST is present if all four files exist with or without compression") {
  const support::Folder folder;
  const std::string names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz",
                               "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte"};
  for (const std::string& name : names) {
    INFO("before " << name);
    CHECK_FALSE(datasets::MNIST::present(folder.path().string()));
    support::write_file(folder.path() / name, "x");
  }
  CHECK(datasets::MNIST::present(folder.path().string()));
  CHECK_FALSE(datasets::MNIST::present(folder / "none"));
}

TEST_CASE("MNIST reads the files of its mode and checks the number of labels") {
  write_split("train", 3, 3, 5);
  write_split("t10k", 2, 2, 6);
  const std::string root = kFolder.string();
  const datasets::MNIST train(root), test(root, datasets::MNIST::Mode::kTest);
  CHECK(*train.size() == 3);
  CHECK(train.is_train());
  CHECK(train.targets()[2].item<int>() == 5);
  CHECK(*test.size() == 2);
  CHECK_FALSE(test.is_train());
  CHECK(test.targets()[1].item<int>() == 6);
  for (const char labels : {'\2', '\4'}) {
    write_split("train", 3, labels, 5);
    CHECK_THROWS_WITH(datasets::MNIST(root), Contains("3 images but " + std::to_string(labels) + " labels"));
  }
}

TEST_CASE("Normalize accepts one mean and one standard deviation per channel") {
  transforms::Normalize<> normalize({1.0, 2.0}, {0.5, 0.25});
  const Variable x = ones({2, 2, 2}), y = normalize(x * 3);
  CHECK(equal(y, stack({ones({2, 2}) * 4, ones({2, 2}) * 4})));
  CHECK(equal(normalize(ones({2, 3, 5}))[1], ones({3, 5}) * -4));
}

TEST_CASE("a mapped dataset does not copy the batch request") {
  auto doubled = Copies().map(transforms::BatchLambda<std::vector<int>, std::vector<int>>(
      [](std::vector<int> batch) { return batch; }));
  CHECK(doubled.get_batch(Request()) == std::vector<int>{0});
}
