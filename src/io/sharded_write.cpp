// Writing checkpoints in several files: the index changes from one whole checkpoint to the next.
#include <ebb/core/error.h>
#include <ebb/io/sharded.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/safetensors_format.h"
#include "io/sharded_index.h"

namespace ebb::safetensors {
namespace {

namespace fs = std::filesystem;

// "model-...-of-00003.safetensors", as parts are called here and by huggingface_hub.
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

// The paths of an index's parts. What is no index has none: a killed save had not written it to its end.
std::vector<std::string> paths_in(const fs::path& folder, const std::string& index) {
  std::vector<std::string> paths;
  try {
    for (const std::string& part : parts_in(index)) paths.push_back((folder / part).string());
  } catch (const Error&) {
    paths.clear();
  }
  return paths;
}

// Removes the parts that a killed save left, and what it was writing, but for those of the folder's
// checkpoint.
void remove_left(const fs::path& folder, const std::string& left) {
  const std::vector<std::string> kept = paths_in(folder, (folder / kIndex).string());
  for (const std::string& path : paths_in(folder, left)) {
    if (std::binary_search(kept.begin(), kept.end(), path)) continue;
    io::AtomicFile::remove_abandoned(path);
    ::unlink(path.c_str());
  }
}

// The files of a save that failed go again.
struct Written {
  std::vector<std::string> paths;
  ~Written() {
    for (const std::string& path : paths) ::unlink(path.c_str());
  }
};

// Saves to one folder change its checkpoint one after the other, where its file system has locks.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (descriptor_ < 0) return;
    ::flock(descriptor_, LOCK_UN);  // which forked children hold, too
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

// Names that no other save uses: huggingface_hub's in a folder without a checkpoint, else those with a mark.
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

  // The index is written first, under the name that it has until the end: a save that is killed leaves a list
  // of its parts to the next one.
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
  // Likewise a list of the parts that are not needed any more, from before the change until they are gone.
  io::AtomicFile replaced(index_path, forget);
  std::vector<std::string> old;
  if (fs::exists(index_path)) {
    const io::BytesOnDisk file(index_path);
    std::string text(file.size(), '\0');
    file.read(0, text.data(), text.size());
    replaced.write(text.data(), text.size());
    old = paths_in(at, index_path);
  }
  std::string written_to = shards.size() == 1 ? single : index_path;  // from the change on nothing fails
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
