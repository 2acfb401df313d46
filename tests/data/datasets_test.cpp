// Datasets: damaged IDX files, MNIST folders, transforms per channel, batch requests.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>
#include <fstream>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

namespace {

const std::filesystem::path kFolder = support::own_folder();

std::string write_file(const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(kFolder);
  const auto path = kFolder / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

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

TEST_CASE("Normalize accepts one mean and deviation per channel") {
  transforms::Normalize<> normalize({1.0, 2.0}, {0.5, 0.25});
  const Variable x = ones({2, 2, 2}), y = normalize(x * 3);
  CHECK(equal(y, stack({ones({2, 2}) * 4, ones({2, 2}) * 4})));
  CHECK(equal(normalize(ones({2, 3, 5}))[1], ones({3, 5}) * -4));
}

TEST_CASE("a mapped dataset forwards a batch request without a copy") {
  auto doubled = Copies().map(transforms::BatchLambda<std::vector<int>, std::vector<int>>(
      [](std::vector<int> batch) { return batch; }));
  CHECK(doubled.get_batch(Request()) == std::vector<int>{0});
}
