// Files of all formats that hold a module's state.
#include "serialize/state_file.h"

#include <ebb/core/error.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>
#include <ebb/ops/copy.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "io/bytes.h"
#include "io/pytorch_format.h"
#include "io/safetensors_format.h"

namespace ebb::detail {
namespace {

using Info = nn::StateSource::Info;
using safetensors::Reader;

// A tensor of a safetensors file, which is read straight to where it goes.
Info info_of(const Reader& file, const std::string& key) {
  const std::string dtype = file.dtype(key);
  if (!file.is_supported(key)) return {{}, DType::Undefined, safetensors::unsupported_text(dtype)};
  Info info{DimVector(IntArrayRef(file.sizes(key))), safetensors::format_named(dtype)->dtype, {}};
  if (info.dtype != kBool) return info;
  // Of booleans the bytes may be wrong, too, which must be known before anything is written.
  try {
    file.get_tensor(key);
  } catch (const Error& e) {
    info.obstacle = ": " + std::string(e.what());
  }
  return info;
}

class SafetensorsState final : public nn::StateSource {
 public:
  explicit SafetensorsState(Reader file) : file_(std::move(file)) {}

  std::vector<std::string> keys() const override { return file_.keys(); }
  optional<Info> info(const std::string& name_asked) const override {
    const std::string& key = stored(name_asked);
    if (!file_.contains(key)) return nullopt;
    return info_of(file_, key);
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    return file_.get_tensor(stored(key)).to(old.device());
  }
  void copy_to(const std::string& key, Variable& target) const override {
    file_.read_into(stored(key), target);
  }

 private:
  // The name under which the file has a tensor of several names.
  const std::string& stored(const std::string& key) const {
    if (file_.contains(key)) return key;
    const auto other = file_.metadata().find(key);
    return other != file_.metadata().end() && file_.contains(other->second) ? other->second : key;
  }

  Reader file_;
};

class ShardedState final : public nn::StateSource {
 public:
  explicit ShardedState(const std::string& path) : files_(path) {}

  std::vector<std::string> keys() const override { return files_.keys(); }
  optional<Info> info(const std::string& key) const override {
    if (!files_.contains(key)) return nullopt;
    return info_of(files_.file_of(key), key);
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    return files_.get_tensor(key).to(old.device());
  }
  void copy_to(const std::string& key, Variable& target) const override {
    files_.file_of(key).read_into(key, target);
  }

 private:
  safetensors::ShardedReader files_;
};

// Tensors in memory, as formats give them whose tensors are views of shared storages.
class TensorsState final : public nn::StateSource {
 public:
  explicit TensorsState(std::vector<std::pair<std::string, Variable>> tensors,
                        std::map<std::string, std::string> unsupported = {})
      : tensors_(std::move(tensors)), unsupported_(std::move(unsupported)) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].first, i);
  }

  std::vector<std::string> keys() const override {
    std::vector<std::string> names;
    for (const auto& item : tensors_) names.push_back(item.first);
    for (const auto& item : unsupported_) names.push_back(item.first);
    return names;
  }
  optional<Info> info(const std::string& key) const override {
    if (const auto found = index_.find(key); found != index_.end()) {
      const Variable& tensor = tensors_[found->second].second;
      return Info{DimVector(tensor.sizes()), tensor.scalar_type(), {}};
    }
    if (const auto found = unsupported_.find(key); found != unsupported_.end())
      return Info{{}, DType::Undefined, " is of dtype " + found->second + ", which ebb does not have"};
    return nullopt;
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    const Variable& found = tensors_[index_.at(key)].second;
    return found.to(old.device(), found.scalar_type(), false, /*copy=*/true)
        .contiguous();  // of its own: the file's may be shared
  }
  void copy_to(const std::string& key, Variable& target) const override {
    target.copy_(tensors_[index_.at(key)].second);
  }

 private:
  std::vector<std::pair<std::string, Variable>> tensors_;
  std::map<std::string, std::string> unsupported_;
  std::unordered_map<std::string, std::size_t> index_;
};

class RenamedState final : public nn::StateSource {
 public:
  RenamedState(std::unique_ptr<nn::StateSource> state, const LoadOptions& options)
      : state_(std::move(state)) {
    for (const std::string& key : state_->keys()) {
      listed_.insert(key);
      if (std::any_of(options.ignore().begin(), options.ignore().end(),
                      [&](const std::string& start) { return key.starts_with(start); }))
        continue;
      std::string name = key;
      for (const auto& [from, to] : options.prefixes()) {
        if (!name.starts_with(from)) continue;
        name = to + name.substr(from.size());
        break;
      }
      const auto [known, fresh] = original_.emplace(name, key);
      EBB_CHECK(fresh, "load: the prefixes give \"", key, "\" and \"", known->second,
                "\" of the file one name, \"", name, "\".");
      names_.push_back(std::move(name));
    }
  }

  std::vector<std::string> keys() const override { return names_; }
  optional<Info> info(const std::string& key) const override {
    const auto found = original_.find(key);
    if (found != original_.end()) return state_->info(found->second);
    // A tensor of several names may be known by one that the file does not list; what it lists is ignored or
    // has another name.
    return listed_.contains(key) ? nullopt : state_->info(key);
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    return state_->tensor(original(key), old);
  }
  void copy_to(const std::string& key, Variable& target) const override {
    state_->copy_to(original(key), target);
  }

 private:
  const std::string& original(const std::string& key) const {
    const auto found = original_.find(key);
    return found == original_.end() ? key : found->second;
  }

  std::unique_ptr<nn::StateSource> state_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::string> original_;
  std::unordered_set<std::string> listed_;
};

bool is_pytorch(std::string_view start) { return start.starts_with("PK") || start == pytorch::kLegacyMagic; }

std::string start_of(const io::Bytes& bytes) {
  std::string start(std::min<std::uint64_t>(bytes.size(), pytorch::kLegacyMagic.size()), '\0');
  bytes.read(0, start.data(), start.size());
  return start;
}

template <class Source>
std::unique_ptr<nn::StateSource> pickled_or_numpy(Source&& bytes_or_path) {
  if (npy::is_npz(bytes_or_path)) return std::make_unique<TensorsState>(npy::read_npz(bytes_or_path));
  std::map<std::string, std::string> unsupported;
  auto tensors = pytorch::read_state_dict(bytes_or_path, &unsupported);
  return std::make_unique<TensorsState>(std::move(tensors), std::move(unsupported));
}

}  // namespace

std::unique_ptr<nn::StateSource> open_state(const std::string& path) {
  if (std::filesystem::is_directory(path)) return std::make_unique<ShardedState>(path);
  const std::string start = start_of(io::BytesOnDisk(path));
  if (start.starts_with('{')) return std::make_unique<ShardedState>(path);
  if (is_pytorch(start)) return pickled_or_numpy(path);
  return std::make_unique<SafetensorsState>(Reader(path));
}

std::unique_ptr<nn::StateSource> open_state(std::istream& stream) {
  std::string bytes = io::rest_of(stream);
  const bool pytorch = is_pytorch(start_of(io::BytesInMemory(std::string_view(bytes))));
  std::istringstream again(std::move(bytes));
  if (pytorch) return pickled_or_numpy(again);
  return std::make_unique<SafetensorsState>(Reader(again));
}

std::unique_ptr<nn::StateSource> renamed(std::unique_ptr<nn::StateSource> state, const LoadOptions& options) {
  if (options.prefixes().empty() && options.ignore().empty()) return state;
  return std::make_unique<RenamedState>(std::move(state), options);
}

}  // namespace ebb::detail
