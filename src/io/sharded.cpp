// Reading checkpoints in several files.
#include <ebb/core/error.h>
#include <ebb/io/sharded.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/messages.h"
#include "io/bytes.h"
#include "io/sharded_index.h"

namespace ebb::safetensors {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using nlohmann::json;

// "weight_map" of an index, read event by event as safetensors_json.cpp reads headers.
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
  std::string no_file;  // the tensor whose file is no text

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

}  // namespace

WeightMap read_index(const std::string& path) {
  const io::BytesOnDisk file(path);
  EBB_CHECK(file.size() <= 100'000'000, "safetensors: the index \"", path, "\" of ", file.size(),
            " bytes is larger than any should be.");
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  IndexReader reader;
  const bool sound = json::sax_parse(text.data(), text.data() + text.size(), &reader);
  EBB_CHECK(reader.no_file.empty(), "safetensors: the index \"", path, "\" gives no file for \"",
            reader.no_file, "\".");
  EBB_CHECK(sound && reader.found, "safetensors: \"", path,
            "\" is no index of a checkpoint: it must be JSON with a \"weight_map\" from names to files.");
  return std::move(reader.map);
}

namespace {

// The files of an index, each opened once, whatever it is called.
class Files {
 public:
  explicit Files(fs::path index) : index_(std::move(index)) {
    std::error_code unreadable;  // which its reader has said
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
  // A file lies in the folder; or, where that holds links, in the folder that the index's leads to.
  std::string path_of(const std::string& name) const {
    const auto refuse = [&] {
      ebb::detail::fail("safetensors: the index \"", index_.string(),
                        "\" names a file outside its folder: \"", name.c_str(), "\".");
    };
    if (name.empty() || name == "." || name == ".." || name.find_first_of("/\0"s) != name.npos) refuse();
    const fs::path path = index_.parent_path() / name;
    std::error_code unreadable;
    const fs::path real = fs::canonical(path, unreadable);
    if (unreadable) return path.string();  // its reader says why
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
      // A save may have replaced the checkpoint in between, and removed the files of before.
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
              "\" holds \"", name, "\"; it does not. Fetch or write the files again.");
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

}  // namespace ebb::safetensors
