// MNIST and what has its format.
#include <ebb/data/datasets.h>
#include <ebb/data/idx.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include <filesystem>

namespace ebb::data::datasets {
namespace {

std::string find(const std::string& root, const std::string& name) {
  std::error_code unreadable;
  for (const char* ending : {"", ".gz"})
    if (const auto path = std::filesystem::path(root) / (name + ending);
        std::filesystem::exists(path, unreadable))
      return path.string();
  return {};
}

std::string require(const std::string& root, const std::string& name) {
  std::string path = find(root, name);
  EBB_CHECK(!path.empty(), "MNIST: \"", root, "\" holds neither ", name, " nor ", name,
            ".gz. Give the folder with the four IDX files.");
  return path;
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  const std::string prefix = is_train() ? "train" : "t10k";
  const Variable images = read_idx(require(root, prefix + "-images-idx3-ubyte"));
  const Variable labels = read_idx(require(root, prefix + "-labels-idx1-ubyte"));
  EBB_CHECK(images.dtype() == kByte && images.dim() == 3,
            "MNIST: expected images of bytes [n, rows, columns], got ", images, " in \"", root, "\".");
  EBB_CHECK(labels.dtype() == kByte && labels.dim() == 1, "MNIST: expected labels of bytes [n], got ", labels,
            " in \"", root, "\".");
  EBB_CHECK(images.size(0) == labels.size(0), "MNIST: \"", root, "\" holds ", images.size(0), " images but ",
            labels.size(0), " labels.");
  images_ = images.unsqueeze(1).to(kFloat).div_(255);
  targets_ = labels.to(kLong);
}

Example<> MNIST::get(std::size_t index) {
  const auto i = static_cast<std::int64_t>(index);
  return {images_[i], targets_[i]};
}

optional<std::size_t> MNIST::size() const { return static_cast<std::size_t>(images_.size(0)); }

bool MNIST::present(const std::string& root) {
  for (const char* prefix : {"train", "t10k"})
    for (const char* rest : {"-images-idx3-ubyte", "-labels-idx1-ubyte"})
      if (find(root, std::string(prefix) + rest).empty()) return false;
  return true;
}

template class Dataset<MNIST>;

}  // namespace ebb::data::datasets
