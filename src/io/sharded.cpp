// Checkpoints in several files.
#include <ebb/core/error.h>
#include <ebb/io/sharded.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "core/near_names.h"
#include "io/atomic_file.h"
#include "io/bytes.h"

namespace ebb::safetensors {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr const char* kIndex = "model.safetensors.index.json";

json parsed(const std::string& path) {
  const io::BytesOnDisk file(path);
  EBB_CHECK(file.size() <= 100'000'000, "safetensors: the index \"", path, "\" of ", file.size(),
            " bytes is larger than any should be.");
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  json index = json::parse(text, nullptr, /*allow_exceptions=*/false);
  EBB_CHECK(index.is_object() && index.contains("weight_map") && index["weight_map"].is_object(),
            "safetensors: \"", path,
            "\" is no index of a checkpoint: it must be JSON with a \"weight_map\" from names to files.");
  return index;
}

}  // namespace

ShardedReader::ShardedReader(const std::string& path) {
  const fs::path index = fs::is_directory(path) ? fs::path(path) / kIndex : fs::path(path);
  std::map<std::string, std::shared_ptr<const Reader>> readers;
  const json contents = parsed(index.string());
  for (const auto& [name, file] : contents["weight_map"].items()) {
    EBB_CHECK(file.is_string(), "safetensors: the index \"", index.string(), "\" gives no file for \"", name,
              "\".");
    const std::string file_name = file.get<std::string>();
    EBB_CHECK(!file_name.empty() && fs::path(file_name).filename() == file_name, "safetensors: the index \"",
              index.string(), "\" names a file outside its folder: \"", file_name, "\".");
    std::shared_ptr<const Reader>& reader = readers[file_name];
    if (!reader) reader = std::make_shared<Reader>((index.parent_path() / file_name).string());
    EBB_CHECK(reader->contains(name), "safetensors: the index \"", index.string(), "\" says that \"",
              file_name, "\" holds \"", name, "\"; it does not. Fetch or write the files again.");
    names_.push_back(name);
    files_.emplace(name, reader);
  }
}

const Reader& ShardedReader::file_of(const std::string& name) const {
  const auto found = files_.find(name);
  EBB_CHECK(found != files_.end(), "safetensors: the checkpoint has no tensor \"", name, "\"",
            detail::near_names(name, names_), ".");
  return *found->second;
}

std::string write_sharded(const std::string& folder, const NamedTensors& tensors, std::uint64_t max_bytes,
                          const Metadata& metadata) {
  EBB_CHECK(max_bytes > 0, "write_sharded: max_bytes must be positive.");
  std::vector<NamedTensors> shards(1);
  std::uint64_t bytes = 0, total = 0;
  for (const auto& [name, tensor] : tensors) {
    EBB_CHECK(tensor.defined(), "write_sharded: tensor \"", name, "\" is undefined.");
    if (!shards.back().empty() && bytes + tensor.nbytes() > max_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().emplace_back(name, tensor);
    bytes += tensor.nbytes();
    total += tensor.nbytes();
  }
  fs::create_directories(folder);
  const fs::path at(folder);
  if (shards.size() == 1) {
    write((at / "model.safetensors").string(), tensors, metadata);
    return (at / "model.safetensors").string();
  }
  json map = json::object();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write((at / name).string(), shards[i], metadata);
    for (const auto& item : shards[i]) map[item.first] = name;
  }
  const std::string text = json{{"metadata", {{"total_size", total}}}, {"weight_map", map}}.dump(2) + "\n";
  io::AtomicFile index((at / kIndex).string());
  index.write(text.data(), text.size());
  index.commit();
  return (at / kIndex).string();
}

}  // namespace ebb::safetensors
