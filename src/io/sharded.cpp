// ShardedReader and write_sharded: checkpoints in several safetensors files with an index.
#include <ebb/core/error.h>
#include <ebb/io/sharded.h>

#include "core/messages.h"
#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/safetensors_format.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::safetensors {
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";

// Pairs of a tensor's name and its file, in the order of the index.
using WeightMap = std::vector<std::pair<std::string, std::string>>;

namespace fs = std::filesystem;
using namespace std::string_literals;
using nlohmann::json;

// Reads "weight_map" of an index as SAX events, like safetensors_header.cpp.
class IndexReader {
 public:
  // The events of nlohmann::json::sax_parse.
  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(std::int64_t) { return value(); }
  bool number_unsigned(std::uint64_t) { return value(); }
  bool number_float(double, const std::string&) { return value(); }
  bool binary(json::binary_t&) { return value(); }
  bool string(std::string& text) {
    if (!is_entry()) return value();
    map.emplace_back(name_, std::move(text));
    return true;
  }
  bool key(std::string& text) {
    if (depth_ == 1) in_map_ = text == "weight_map";
    if (is_entry()) name_ = std::move(text);
    return true;
  }
  bool start_object(std::size_t) {
    if (depth_ == 1 && in_map_) found = true;
    return open();
  }
  bool start_array(std::size_t) { return depth_ > 0 && open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return false; }

  WeightMap map;
  bool found = false;
  std::string no_file;  // a tensor whose file is not a string

 private:
  bool is_entry() const { return in_map_ && found && depth_ == 2; }
  bool value() {
    if (is_entry()) no_file = name_;
    return !is_entry() && depth_ > 0;
  }
  bool open() {
    if (is_entry()) return value();
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool in_map_ = false;
  std::string name_;
};

// Returns "weight_map" of the index at a path. Throws if the file is not an index.
WeightMap read_index(const std::string& path) {
  const io::BytesOnDisk file(path);
  EBB_CHECK(file.size() <= 100'000'000, "safetensors: the index \"", path, "\" of ", file.size(),
            " bytes is too large.");
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  IndexReader reader;
  const bool sound = json::sax_parse(text.data(), text.data() + text.size(), &reader);
  EBB_CHECK(reader.no_file.empty(), "safetensors: the index \"", path, "\" gives no file for \"",
            reader.no_file, "\".");
  EBB_CHECK(
      sound && reader.found, "safetensors: \"", path,
      "\" is not the index of a checkpoint: it must be JSON with a \"weight_map\" from names to files.");
  return std::move(reader.map);
}

// The files of an index. Each file is opened once, even if it has several names.
class Files {
 public:
  explicit Files(fs::path index) : index_(std::move(index)) {
    std::error_code unreadable;  // ignored, because read_index() has reported it
    folder_ = fs::canonical(index_.has_parent_path() ? index_.parent_path() : ".", unreadable);
    beside_ = fs::canonical(index_, unreadable).parent_path();
  }

  const std::shared_ptr<const Reader>& at(const std::string& name) {
    std::shared_ptr<const Reader>& reader = by_name_[name];
    if (!reader) {
      const std::string path = path_of(name);
      std::shared_ptr<const Reader>& same = by_path_[path];
      if (!same) same = std::make_shared<Reader>(path);
      reader = same;
    }
    return reader;
  }

 private:
  // Returns the path of a file. The file must be in the index's folder. If the index is a link, it may also
  // be in the folder of the file to which the link refers.
  std::string path_of(const std::string& name) const {
    const auto refuse = [&] {
      ebb::detail::fail("safetensors: the index \"", index_.string(),
                        "\" names a file outside its folder: \"", name.c_str(), "\".");
    };
    if (name.empty() || name == "." || name == ".." || name.find_first_of("/\0"s) != name.npos) refuse();
    const fs::path path = index_.parent_path() / name;
    std::error_code unreadable;
    const fs::path real = fs::canonical(path, unreadable);
    if (unreadable) return path.string();  // the reader reports the reason
    if (real.parent_path() != folder_ && real.parent_path() != beside_) refuse();
    return real.string();
  }

  fs::path index_, folder_, beside_;
  std::map<std::string, std::shared_ptr<const Reader>> by_name_, by_path_;
};

}  // namespace

ShardedReader::ShardedReader(const std::string& path) {
  std::error_code unreadable;
  const fs::path index = fs::is_directory(path, unreadable) ? fs::path(path) / kIndex : fs::path(path);
  for (WeightMap map = read_index(index.string());;) {
    try {
      open(index.string(), map);
      return;
    } catch (const Error&) {
      // A save may have replaced the checkpoint in the meantime and removed the old files.
      WeightMap now = read_index(index.string());
      if (now == map) throw;
      map = std::move(now);
    }
  }
}

void ShardedReader::open(const std::string& index, const WeightMap& weight_map) {
  names_.clear();
  files_.clear();
  Files files(index);
  for (const auto& [name, file_name] : weight_map) {
    const std::shared_ptr<const Reader>& reader = files.at(file_name);
    EBB_CHECK(reader->contains(name), "safetensors: the index \"", index, "\" says that \"", file_name,
              "\" holds \"", name, "\", but it does not. Fetch or write the files again.");
    EBB_CHECK(files_.emplace(name, reader).second, "safetensors: the index \"", index, "\" names \"", name,
              "\" twice.");
    names_.push_back(name);
  }
}

const Reader& ShardedReader::file_of(const std::string& name) const {
  const auto found = files_.find(name);
  EBB_CHECK(found != files_.end(), "safetensors: the checkpoint has no tensor \"", name, "\"",
            detail::near_names(name, names_), ".");
  return *found->second;
}

namespace {

// Returns whether the name is the name of a part, "model-...-of-00003.safetensors". ebb and huggingface_hub
// use such names.
bool is_name_of_part(const std::string& name) {
  constexpr std::string_view begin = "model-", middle = "-of-", end = "00000.safetensors";
  if (!name.starts_with(begin) || name.size() < begin.size() + middle.size() + end.size() ||
      name.find('/') != name.npos)
    return false;
  const std::string_view last = std::string_view(name).substr(name.size() - end.size());
  return std::string_view(name).substr(0, name.size() - end.size()).ends_with(middle) &&
         last.find_first_not_of("0123456789") == 5 && last.substr(5) == end.substr(5);
}

std::set<std::string> parts_in(const std::string& index) {
  std::set<std::string> parts;
  for (const auto& each : read_index(index))
    if (is_name_of_part(each.second)) parts.insert(each.second);
  return parts;
}

// Returns the paths of an index's parts. Returns none if the file is not a complete index, because the save
// that wrote it was killed.
std::vector<std::string> paths_in(const fs::path& folder, const std::string& index) {
  std::vector<std::string> paths;
  try {
    for (const std::string& part : parts_in(index)) paths.push_back((folder / part).string());
  } catch (const Error&) {
    paths.clear();
  }
  return paths;
}

// Removes the parts and temporary files of a killed save, except the parts of the folder's checkpoint.
void remove_left(const fs::path& folder, const std::string& left) {
  const std::vector<std::string> kept = paths_in(folder, (folder / kIndex).string());
  for (const std::string& path : paths_in(folder, left)) {
    if (std::binary_search(kept.begin(), kept.end(), path)) continue;
    io::AtomicFile::remove_abandoned(path);
    ::unlink(path.c_str());
  }
}

// The files of this save. The destructor removes them if the save has failed.
struct Written {
  std::vector<std::string> paths;
  ~Written() {
    for (const std::string& path : paths) ::unlink(path.c_str());
  }
};

// A lock of a folder, which serializes saves to it. It has no effect on a file system without locks.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (descriptor_ < 0) return;
    ::flock(descriptor_, LOCK_UN);  // close() is not enough, because forked children share the lock
    ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

std::vector<NamedTensors> shards_of(const NamedTensors& tensors, std::uint64_t max_bytes) {
  std::vector<NamedTensors> shards(1);
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    EBB_CHECK(tensor.defined(), "write_sharded: tensor \"", name, "\" is undefined.");
    if (!shards.back().empty() && bytes + tensor.nbytes() > max_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().emplace_back(name, tensor);
    bytes += tensor.nbytes();
  }
  return shards;
}

// Returns names of parts that no other save uses. Without `marked`, first tries the names of huggingface_hub.
// Other names contain a random mark.
std::vector<std::string> names_of_parts(const fs::path& folder, std::size_t count, bool marked) {
  std::string mark;
  std::vector<std::string> names(count);
  for (bool is_new = false; !is_new;) {
    if (std::exchange(marked, true)) {
      std::random_device random;
      mark = fmt::format("{:08x}{:08x}-", random(), random());
    }
    is_new = true;
    for (std::size_t i = 0; i < count; ++i) {
      names[i] = fmt::format("model-{}{:05}-of-{:05}.safetensors", mark, i + 1, count);
      is_new &= !fs::exists(folder / names[i]);
    }
  }
  return names;
}

std::string index_of(const std::vector<NamedTensors>& shards, const std::vector<std::string>& names) {
  std::map<std::string, std::string> files;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < shards.size(); ++i)
    for (const auto& [name, tensor] : shards[i]) {
      EBB_CHECK(files.emplace(name, names[i]).second, "write_sharded: the name \"", name,
                "\" is given twice.");
      total += tensor.nbytes();
    }
  std::string text =
      fmt::format("{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n  \"weight_map\": {{", total);
  for (const char* separator = "\n"; const auto& [name, file] : files) {
    text += fmt::format("{}    {}: {}", separator, quoted(name), quoted(file));
    separator = ",\n";
  }
  return text + "\n  }\n}\n";
}

}  // namespace

std::string write_sharded(const std::string& folder, const NamedTensors& tensors, std::uint64_t max_bytes,
                          const Metadata& metadata) {
  EBB_CHECK(max_bytes > 0, "write_sharded: max_bytes must be positive.");
  const std::vector<NamedTensors> shards = shards_of(tensors, max_bytes);
  fs::create_directories(folder);
  const fs::path at(folder);
  const std::string index_path = (at / kIndex).string(), single = (at / "model.safetensors").string();
  const auto forget = [&](const std::string& left) { remove_left(at, left); };

  // The index is written first, to its temporary file. If this save is killed, the next save finds the list
  // of parts to remove in this file.
  io::AtomicFile index(index_path, forget);
  Written written;
  if (shards.size() == 1) {
    write(single, tensors, metadata);
  } else {
    const std::vector<std::string> names =
        names_of_parts(at, shards.size(), fs::exists(index_path) || !index.is_alone());
    const std::string text = index_of(shards, names);
    for (const std::string& name : names) written.paths.push_back((at / name).string());
    index.write(text.data(), text.size());
    for (std::size_t i = 0; i < shards.size(); ++i) write(written.paths[i], shards[i], metadata);
  }

  const FolderLock lock(folder);
  // A second temporary file lists the old parts until they are removed.
  io::AtomicFile replaced(index_path, forget);
  std::vector<std::string> old;
  if (fs::exists(index_path)) {
    const io::BytesOnDisk file(index_path);
    std::string text(file.size(), '\0');
    file.read(0, text.data(), text.size());
    replaced.write(text.data(), text.size());
    old = paths_in(at, index_path);
  }
  std::string written_to =
      shards.size() == 1 ? single : index_path;  // allocated here, because nothing below may fail
  if (shards.size() == 1) {
    ::unlink(index_path.c_str());
  } else {
    index.commit();
    written.paths.clear();
    ::unlink(single.c_str());
  }
  for (const std::string& path : old) ::unlink(path.c_str());
  return written_to;
}

}  // namespace ebb::safetensors
