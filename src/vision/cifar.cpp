// CIFAR-10 and CIFAR-100: readers of the "binary version" files, and the datasets.
#include <ebb/ebb.h>
#include <ebb/vision/datasets.h>

#include "vision/codecs.h"

#include <cstring>
#include <filesystem>

namespace ebb::vision::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPixels = 3 * 32 * 32;
const std::vector<std::string> kTrain10 = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                           "data_batch_4.bin", "data_batch_5.bin"};
const std::vector<std::string> kTest10 = {"test_batch.bin"}, kTrain100 = {"train.bin"},
                               kTest100 = {"test.bin"};

// Returns the path of a file in the folder, or in the folder to which the archive unpacks. Returns an empty
// string if there is no such file.
std::string find(const std::string& root, const char* unpacked, const std::string& name) {
  std::error_code unreadable;
  for (const fs::path& folder : {fs::path(root), fs::path(root) / unpacked})
    if (fs::exists(folder / name, unreadable)) return (folder / name).string();
  return {};
}

bool all_present(const std::string& root, const char* unpacked, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (find(root, unpacked, name).empty()) return false;
  return true;
}

// Reads and concatenates all files.
CIFARRecords read_all(const char* what, const std::string& root, const char* unpacked,
                      const std::vector<std::string>& names, const std::vector<std::int64_t>& classes) {
  std::vector<Variable> images, labels;
  for (const std::string& name : names) {
    const std::string path = find(root, unpacked, name);
    EBB_CHECK(!path.empty(), what, ": \"", root, "\" holds neither ", name, " nor ", unpacked, "/", name,
              ". Give the folder of the unpacked binary version, ", unpacked, ".");
    CIFARRecords records = read_cifar(path, classes);
    images.push_back(std::move(records.images));
    labels.push_back(std::move(records.labels));
  }
  return {cat(images), cat(labels)};
}

data::Example<> example(const Variable& images, const Variable& targets, std::size_t index) {
  const auto i = static_cast<std::int64_t>(index);
  return {images[i].to(kFloat).div_(255), targets[i]};
}

}  // namespace

CIFARRecords read_cifar(const std::string& path, const std::vector<std::int64_t>& classes) {
  const auto labels = static_cast<std::int64_t>(classes.size());
  const std::int64_t record = labels + kPixels;
  const std::string bytes = read_file("read_cifar", path, [&](std::uint64_t size) {
    EBB_CHECK(size > 0 && size % static_cast<std::uint64_t>(record) == 0, "read_cifar: \"", path, "\" has ",
              size, " bytes, which is not a multiple of the record size ", record,
              ". Is it the binary version? Fetch it again.");
  });
  const Variable records = empty({static_cast<std::int64_t>(bytes.size()) / record, record}, kByte);
  std::memcpy(records.data_ptr(), bytes.data(), bytes.size());
  const Variable all_labels = records.narrow(1, 0, labels).to(kLong);
  EBB_CHECK(all_labels.lt(tensor(classes)).all().item<bool>(), "read_cifar: \"", path,
            "\" contains an invalid label. Is it a file of CIFAR-10 or of CIFAR-100? Fetch it again.");
  return {records.narrow(1, labels, kPixels).reshape({-1, 3, 32, 32}), all_labels};
}

CIFAR10::CIFAR10(const std::string& root, Mode mode) : mode_(mode) {
  CIFARRecords records =
      read_all("CIFAR10", root, "cifar-10-batches-bin", is_train() ? kTrain10 : kTest10, {10});
  images_ = std::move(records.images);
  targets_ = records.labels.select(1, 0).contiguous();
}

data::Example<> CIFAR10::get(std::size_t index) { return example(images_, targets_, index); }
optional<std::size_t> CIFAR10::size() const { return static_cast<std::size_t>(images_.size(0)); }

const std::vector<std::string>& CIFAR10::classes() {
  static const std::vector<std::string> names = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                 "dog",      "frog",       "horse", "ship", "truck"};
  return names;
}

bool CIFAR10::present(const std::string& root) {
  return all_present(root, "cifar-10-batches-bin", kTrain10) &&
         all_present(root, "cifar-10-batches-bin", kTest10);
}

CIFAR100::CIFAR100(const std::string& root, Mode mode) : mode_(mode) {
  CIFARRecords records =
      read_all("CIFAR100", root, "cifar-100-binary", is_train() ? kTrain100 : kTest100, {20, 100});
  images_ = std::move(records.images);
  coarse_targets_ = records.labels.select(1, 0).contiguous();
  targets_ = records.labels.select(1, 1).contiguous();
}

data::Example<> CIFAR100::get(std::size_t index) { return example(images_, targets_, index); }
optional<std::size_t> CIFAR100::size() const { return static_cast<std::size_t>(images_.size(0)); }

bool CIFAR100::present(const std::string& root) {
  return all_present(root, "cifar-100-binary", kTrain100) && all_present(root, "cifar-100-binary", kTest100);
}

}  // namespace ebb::vision::datasets
