// ImageFolder, CIFAR10 and CIFAR100.
#include <ebb/vision.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <algorithm>
#include <filesystem>

using namespace ebb;
using namespace ebb::vision::datasets;
using support::Contains;

namespace {

// Writes an image of one color that identifies it.
void write_image(const FakeRoot& root, const std::string& file, int value, std::int64_t height = 4) {
  const Variable image = full({3, height, 5}, value, kByte);
  const Variable bytes = file.ends_with("png") || file.ends_with("PNG") ? vision::encode_png(image)
                                                                        : vision::encode_jpeg(image, 100);
  root.write(file, {static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
}

// n records: labels, then an image of 3072 bytes that begins with the index of the record.
std::string records(int n, const std::vector<int>& classes, int first) {
  std::string bytes;
  for (int i = 0; i < n; ++i) {
    for (const int count : classes) bytes += static_cast<char>((first + i) % count);
    std::string image(3072, static_cast<char>(i));
    image[0] = static_cast<char>(first + i);
    image[1024] = '\xff';  // the first green value
    bytes += image;
  }
  return bytes;
}

}  // namespace

TEST_CASE("ImageFolder sorts classes and finds images at any depth with suffixes of any case") {
  const FakeRoot root;
  write_image(root, "/dog/b.JPG", 40);
  write_image(root, "/dog/a.png", 30);
  write_image(root, "/cat/deep/er/c.jpeg", 20);
  write_image(root, "/cat/z.PNG", 25);
  root.write("/dog/notes.txt", "not an image");
  root.write("/readme.png", "in no class");
  ImageFolder folder(root.path());
  CHECK(folder.classes() == std::vector<std::string>{"cat", "dog"});
  CHECK(folder.class_to_idx().at("dog") == 1);
  REQUIRE(*folder.size() == 4);
  const std::vector<int> values = {20, 25, 30, 40};
  for (std::size_t i = 0; i < 4; ++i) {
    const data::Example<> example = folder.get(i);
    CHECK(example.data.sizes() == IntArrayRef({3, 4, 5}));
    CHECK(example.data.dtype() == kByte);
    CHECK(std::abs(example.data[0][0][0].item<int>() - values[i]) <= 1);
    CHECK(example.target.dtype() == kLong);
    CHECK(example.target.dim() == 0);
    CHECK(example.target.item<std::int64_t>() == (i < 2 ? 0 : 1));
    CHECK(folder.samples()[i].second == (i < 2 ? 0 : 1));
  }
  CHECK_THROWS_WITH(folder.get(4), Contains("index 4 is out of range for a folder of 4 images"));
  CHECK(ImageFolder(root.path(), {}, vision::ImageReadMode::gray).get(0).data.size(0) == 1);
}

TEST_CASE("DataLoader workers read an ImageFolder") {
  const FakeRoot root;
  for (int i = 0; i < 12; ++i)
    write_image(root, (i % 2 == 0 ? "/even/" : "/odd/") + std::to_string(i) + ".png", 10 * i, 3 + i % 4);
  namespace T = vision::transforms;
  ImageFolder folder(root.path(), T::Compose(T::Resize({4, 4}), T::ToDtype(kFloat)));
  auto loader = data::make_data_loader(folder.map(data::transforms::Stack<>()),
                                       data::DataLoaderOptions(3).workers(2).enforce_ordering(true));
  std::vector<int> seen;
  for (const auto& batch : *loader) {
    CHECK(batch.data.sizes() == IntArrayRef({3, 3, 4, 4}));
    for (std::int64_t i = 0; i < 3; ++i) {
      const int number = static_cast<int>(batch.data[i].mean().item<float>() / 10 + 0.5F);
      CHECK(batch.target[i].item<std::int64_t>() == number % 2);
      seen.push_back(number);
    }
  }
  std::sort(seen.begin(), seen.end());
  CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("ImageFolder throws for empty folders, and its errors name damaged images") {
  const FakeRoot root;
  CHECK_THROWS_WITH(ImageFolder(root.path() + "/none"), Contains("/none"));
  CHECK_THROWS_WITH(ImageFolder(root.path()), Contains("one for each class"));
  root.write("/cat/notes.txt", "");
  CHECK_THROWS_WITH(ImageFolder(root.path()), Contains("/cat") && Contains("holds no images"));
  root.write("/cat/broken.png", "\x89PNG\r\n\x1a\n");
  ImageFolder folder(root.path());
  CHECK_THROWS_WITH(folder.get(0), Contains("broken.png"));
}

TEST_CASE("ImageFolder lists each image once if links form cycles or duplicate paths") {
  namespace fs = std::filesystem;
  const FakeRoot root;
  write_image(root, "/cat/a.png", 10);
  write_image(root, "/cat/deep/b.png", 20);
  write_image(root, "/dog/c.png", 30);
  const fs::path at = root.path();
  for (const char* name : {"self", "again"}) fs::create_directory_symlink(".", at / "cat" / name);
  fs::create_directory_symlink("../..", at / "cat" / "deep" / "up");
  fs::create_directory_symlink(".", at / "loop");
  fs::create_symlink("circle.png", at / "dog" / "circle.png");
  fs::create_symlink("/dev/zero", at / "dog" / "endless.png");
  ImageFolder folder(root.path());
  CHECK(folder.classes() == std::vector<std::string>{"cat", "dog"});
  REQUIRE(*folder.size() == 3);
  CHECK(folder.samples()[0].first == root.path() + "/cat/a.png");
  CHECK(folder.samples()[1].first == root.path() + "/cat/deep/b.png");
  // Two links in each of forty folders give 2^40 paths.
  fs::path inner = at / "dog";
  for (int i = 0; i < 40; ++i) {
    const fs::path below = at / "dog" / ("level" + std::to_string(i));
    fs::create_directory(below);
    fs::create_directory_symlink(below, inner / "one");
    fs::create_directory_symlink(below, inner / "two");
    inner = below;
  }
  CHECK(*ImageFolder(root.path()).size() == 3);
  // A class may be a link to a folder elsewhere.
  const FakeRoot other;
  write_image(other, "/x.png", 40);
  fs::create_directory_symlink(other.path(), at / "elsewhere");
  CHECK(*ImageFolder(root.path()).size() == 4);
}

TEST_CASE("ImageFolder reads folders 100 deep with few open files and throws for deeper ones") {
  namespace fs = std::filesystem;
  const FakeRoot root;
  write_image(root, "/cat/a.png", 10);
  fs::path inner = root.path() + "/cat";
  for (int i = 0; i < 100; ++i) fs::create_directory(inner /= "d");
  write_image(root, inner.string().substr(root.path().size()) + "/b.png", 20);
  CHECK(support::status_of_child([&] {
          const rlimit few{32, 32};
          return setrlimit(RLIMIT_NOFILE, &few) == 0 && *ImageFolder(root.path()).size() == 2;
        }) == 0);
  fs::create_directory(inner /= "d");
  CHECK_THROWS_WITH(ImageFolder(root.path()), Contains("more than 100 folders deep"));
}

TEST_CASE("CIFAR10 reads its batches in file order") {
  const FakeRoot root;
  for (int i = 1; i <= 5; ++i)
    root.write("/cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin", records(2, {10}, 2 * i));
  CHECK_FALSE(CIFAR10::present(root.path()));
  CHECK_THROWS_WITH(CIFAR10(root.path(), CIFAR10::Mode::kTest), Contains("test_batch.bin"));
  root.write("/cifar-10-batches-bin/test_batch.bin", records(3, {10}, 7));
  CHECK(CIFAR10::present(root.path()));
  CIFAR10 train(root.path()), test(root.path() + "/cifar-10-batches-bin", CIFAR10::Mode::kTest);
  CHECK(train.is_train());
  CHECK(*train.size() == 10);
  CHECK(*test.size() == 3);
  CHECK(train.images().sizes() == IntArrayRef({10, 3, 32, 32}));
  CHECK(equal(train.images().select(1, 0).select(1, 0).select(1, 0), arange(2, 12).to(kByte)));
  CHECK(equal(train.targets(), arange(2, 12).remainder(10)));
  const data::Example<> last = test.get(2);
  CHECK(last.target.item<std::int64_t>() == 9);
  CHECK(last.data.dtype() == kFloat);
  CHECK(last.data[1][0][0].item<float>() == 1);
  CHECK(last.data[2][31][31].item<float>() == Approx(2.0 / 255));
  CHECK(CIFAR10::classes()[9] == "truck");
}

TEST_CASE("CIFAR100 reads fine and coarse labels") {
  const FakeRoot root;
  root.write("/train.bin", records(90, {20, 100}, 10));
  root.write("/test.bin", records(1, {20, 100}, 99));
  CHECK(CIFAR100::present(root.path()));
  CIFAR100 train(root.path());
  CHECK(*train.size() == 90);
  CHECK(equal(train.targets(), arange(10, 100)));
  CHECK(equal(train.coarse_targets(), arange(10, 100).remainder(20)));
  CHECK(CIFAR100(root.path(), CIFAR100::Mode::kTest).get(0).target.item<std::int64_t>() == 99);
}

TEST_CASE("read_cifar refuses files of another format") {
  const FakeRoot root;
  const std::string path = root.path() + "/x.bin";
  CHECK_THROWS_WITH(read_cifar(path, {10}), Contains(path));
  root.write("/x.bin", "");
  CHECK_THROWS_WITH(read_cifar(path, {10}), Contains("0 bytes"));
  root.write("/x.bin", records(2, {10}, 0) + "!");
  CHECK_THROWS_WITH(read_cifar(path, {10}), Contains("not a multiple of the record size 3073"));
  root.write("/x.bin", records(1, {11}, 10));
  CHECK_THROWS_WITH(read_cifar(path, {10}), Contains("contains an invalid label"));
}
