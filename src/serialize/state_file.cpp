// open_state: opens files of all formats as states of modules, and parts of such files.
#include "serialize/state_file.h"

#include <ebb/core/error.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>
#include <ebb/ops/creation.h>

#include "core/messages.h"
#include "io/any_file.h"
#include "io/bytes.h"
#include "io/pytorch_values.h"
#include "io/safetensors_format.h"
#include "io/shared_tensors.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

namespace ebb::detail {
namespace {

using Info = nn::StateSource::Info;
using safetensors::Reader;

// Returns the info of a tensor of a safetensors file, without its values. These are read later, directly into
// the destination.
Info info_of(const Reader& file, const std::string& key) {
  const std::string dtype = file.dtype(key);
  if (!file.is_supported(key)) return {{}, DType::Undefined, safetensors::unsupported_text(dtype)};
  Info info{DimVector(IntArrayRef(file.sizes(key))), safetensors::format_named(dtype)->dtype, {}};
  if (info.dtype != kBool) return info;
  // A Bool tensor may contain invalid bytes. It is read here, so that the error occurs before the module is
  // changed.
  try {
    file.get_tensor(key);
  } catch (const Error& e) {
    info.obstacle = ": " + std::string(e.what());
  }
  return info;
}

class SafetensorsState final : public nn::StateSource {
 public:
  /// For a tensor with several names, keys() contains all names if `all_names` is true, and otherwise only
  /// the name in the file.
  explicit SafetensorsState(Reader file, bool all_names = false)
      : file_(std::move(file)), all_names_(all_names) {}

  std::vector<std::string> keys() const override {
    std::vector<std::string> names = file_.keys();
    if (all_names_)
      for (const auto& [name, first] : file_.metadata())
        if (file_.contains(first) && !file_.contains(name)) names.push_back(name);
    return names;
  }
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
  // Returns the name under which the file contains a tensor that has several names.
  const std::string& stored(const std::string& key) const {
    if (file_.contains(key)) return key;
    const auto other = file_.metadata().find(key);
    return other != file_.metadata().end() && file_.contains(other->second) ? other->second : key;
  }

  Reader file_;
  bool all_names_;
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

// Tensors in memory, from formats whose tensors are views of shared storages.
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
        .contiguous();  // a copy, because the file's tensors may share memory
  }
  void copy_to(const std::string& key, Variable& target) const override {
    target.copy_(tensors_[index_.at(key)].second);
  }

 private:
  std::vector<std::pair<std::string, Variable>> tensors_;
  std::map<std::string, std::string> unsupported_;
  std::unordered_map<std::string, std::size_t> index_;
};

// A state, or a part of it, with other names.
class RenamedState final : public nn::StateSource {
 public:
  /// Returns the new name of a tensor, or nullopt to skip the tensor.
  using Rename = std::function<optional<std::string>(const std::string&)>;

  /// `before` is prepended to a key that no tensor of `state->keys()` was renamed to. Such a key may be an
  /// additional name of a shared tensor, which keys() does not contain.
  RenamedState(std::unique_ptr<nn::StateSource> state, const Rename& rename, std::string before = {})
      : state_(std::move(state)), before_(std::move(before)) {
    for (const std::string& key : state_->keys()) {
      listed_.insert(key);
      optional<std::string> name = rename(key);
      if (!name) continue;
      const auto [known, fresh] = original_.emplace(*name, key);
      EBB_CHECK(fresh, "load: with these prefixes, \"", key, "\" and \"", known->second,
                "\" of the file have the same name \"", *name, "\".");
      names_.push_back(std::move(*name));
    }
  }

  std::vector<std::string> keys() const override { return names_; }
  optional<Info> info(const std::string& key) const override {
    // A key that is not in original_ may be an additional name of a shared tensor, which keys() does not
    // contain. If keys() contains it, the tensor was skipped or renamed, so the key does not exist here.
    if (!original_.contains(key) && listed_.contains(before_ + key)) return nullopt;
    return state_->info(original(key));
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    return state_->tensor(original(key), old);
  }
  void copy_to(const std::string& key, Variable& target) const override {
    state_->copy_to(original(key), target);
  }

 private:
  std::string original(const std::string& key) const {
    const auto found = original_.find(key);
    return found == original_.end() ? before_ + key : found->second;
  }

  std::unique_ptr<nn::StateSource> state_;
  std::string before_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::string> original_;
  std::unordered_set<std::string> listed_;
};

// Returns the tensors whose names begin with the key and a dot. The names in the result do not have this
// prefix.
std::unique_ptr<nn::StateSource> part_of(std::unique_ptr<nn::StateSource> state, const std::string& key) {
  if (key.empty()) return state;
  const std::string before = key + ".";
  const std::vector<std::string> names = state->keys();
  if (std::none_of(names.begin(), names.end(), [&](const auto& name) { return name.starts_with(before); }))
    fail_of_part(key, names);
  const auto rename = [&](const std::string& name) {
    return name.starts_with(before) ? optional<std::string>(name.substr(before.size())) : nullopt;
  };
  return std::make_unique<RenamedState>(std::move(state), rename, before);
}

// Returns the tensors of a part. The key may be the key of a nested dict, or a prefix of names in a flat
// state.
std::unique_ptr<nn::StateSource> tensors_of(const pytorch::Value& file, const std::string& key) {
  std::map<std::string, std::string> unsupported;
  const auto state = [&](const pytorch::Value& value) {
    auto tensors = pytorch::state_dict(value, &unsupported);
    return std::make_unique<TensorsState>(std::move(tensors), std::move(unsupported));
  };
  if (key.empty()) return state(file);
  const pytorch::Dict& entries = file.as_dict();
  const auto begins = [&](const auto& entry) { return pytorch::text_of(entry.first).starts_with(key + "."); };
  if (file.contains(key)) return state(file.at(key));
  if (std::any_of(entries.begin(), entries.end(), begins)) return part_of(state(file), key);
  std::vector<std::string> names;
  for (const auto& item : pytorch::archived(file, unsupported)) names.push_back(item.first);
  fail_of_part(key, names);
}

// Opens a file of a known format. `from` is a path, or a stream at the file's beginning.
template <class Source>
std::unique_ptr<nn::StateSource> open_as(io::Format format, Source& from, const std::string& key) {
  if (format == io::Format::Torch) return tensors_of(pytorch::read(from), key);
  if (format == io::Format::Npz) return part_of(std::make_unique<TensorsState>(npy::read_npz(from)), key);
  // A part may contain a shared tensor whose name in the file belongs to another part, so all names are
  // needed.
  return part_of(std::make_unique<SafetensorsState>(Reader(from), /*all_names=*/!key.empty()), key);
}

}  // namespace

std::unique_ptr<nn::StateSource> open_state(const std::string& path, const std::string& key) {
  std::error_code unreadable;  // ignored, because opening it as a file reports the reason
  if (std::filesystem::is_directory(path, unreadable))
    return part_of(std::make_unique<ShardedState>(path), key);
  const io::Format format = io::format_of(std::make_shared<io::BytesOnDisk>(path));
  if (format == io::Format::Json) return part_of(std::make_unique<ShardedState>(path), key);
  return open_as(format, path, key);
}

std::unique_ptr<nn::StateSource> open_state(std::istream& stream, const std::string& key) {
  std::string bytes = io::any_rest_of(stream);
  const io::Format format = io::format_of(std::make_shared<io::BytesInMemory>(std::string_view(bytes)));
  std::istringstream again(std::move(bytes));
  return open_as(format, again, key);
}

std::unique_ptr<nn::StateSource> renamed(std::unique_ptr<nn::StateSource> state, const LoadOptions& options) {
  if (options.prefixes().empty() && options.ignore().empty()) return state;
  const auto rename = [&](const std::string& name) -> optional<std::string> {
    for (const std::string& start : options.ignore())
      if (name.starts_with(start)) return nullopt;
    for (const auto& [from, to] : options.prefixes())
      if (name.starts_with(from)) return to + name.substr(from.size());
    return name;
  };
  return std::make_unique<RenamedState>(std::move(state), rename);
}

namespace {

constexpr const char* kOptions = "param_groups";
constexpr const char* kOptimizers[] = {"optimizer", "optimizer_state_dict", "optim"};

}  // namespace

void fail_of_part(const std::string& key, const std::vector<std::string>& names) {
  std::set<std::string> parts;
  for (const std::string& name : names)
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
      parts.insert(name.substr(0, dot));
  fail("load: no name in the file begins with \"", key, ".\"", near_names(key, {parts.begin(), parts.end()}),
       ".");
}

serialize::InputArchive optimizer_in(const safetensors::File& file, const std::string& key) {
  serialize::InputArchive archive(safetensors::every_name(file.tensors, file.metadata)), part;
  std::string before;
  if (!key.empty()) {
    if (!archive.try_read(key, part)) {
      std::vector<std::string> names;
      for (const auto& item : file.tensors) names.push_back(item.first);
      fail_of_part(key, names);
    }
    before = key + ".";
  } else if (serialize::InputArchive options; !archive.try_read(kOptions, options)) {
    for (const char* const name : kOptimizers)
      if (before.empty() && archive.try_read(name, part) && part.try_read(kOptions, options))
        before = std::string(name) + ".";
  }
  for (const auto& [name, dtype] : file.unsupported)
    EBB_CHECK(!name.starts_with(before), "load: \"", name, "\" of the optimizer is of dtype ", dtype,
              ", which ebb does not have.");
  return before.empty() ? archive : part;
}

std::string advice_on_wrapped(const std::vector<std::string>& names, const std::vector<std::string>& own) {
  // The prefixes of DataParallel and DistributedDataParallel, of torch.compile, and of Lightning.
  for (const char* const prefix : {"module.", "_orig_mod.", "model."}) {
    const auto begins = [&](const std::string& name) { return name.starts_with(prefix); };
    if (!names.empty() && std::all_of(names.begin(), names.end(), begins) &&
        std::none_of(own.begin(), own.end(), begins))
      return text("\nAll names in the file begin with \"", prefix,
                  "\", which is the prefix of a module within another: pass LoadOptions().prefixes({{\"",
                  prefix, "\", \"\"}}).");
  }
  return {};
}

}  // namespace ebb::detail
