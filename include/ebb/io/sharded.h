// Checkpoints in several safetensors files, with an index (Hugging Face's model.safetensors.index.json).
#pragma once

#include <ebb/io/safetensors.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ebb::safetensors {

/// Reads tensors from the files that an index lists. The constructor opens each file and checks its header.
///
/// Throws the errors of Reader. Also throws if there is no index, for invalid JSON or JSON without
/// "weight_map", for a file outside the index's folder, and for a tensor that is missing in its file.
class EBB_API ShardedReader {
 public:
  /// `path` is the index, or the folder that contains it (model.safetensors.index.json). All files are opened
  /// here, so a save that replaces the checkpoint later does not change the data that is read.
  explicit ShardedReader(const std::string& path);

  /// Returns the names, in the order of the index.
  const std::vector<std::string>& keys() const { return names_; }
  bool contains(const std::string& name) const { return files_.contains(name); }
  /// Returns the file that contains a tensor. If there is none, throws and lists the most similar names.
  const Reader& file_of(const std::string& name) const;
  Variable get_tensor(const std::string& name) const { return file_of(name).get_tensor(name); }

 private:
  void open(const std::string& index, const std::vector<std::pair<std::string, std::string>>& weight_map);

  std::vector<std::string> names_;
  std::map<std::string, std::shared_ptr<const Reader>> files_;
};

/// Writes tensors, in order, into files of at most `max_bytes` of data each (a larger tensor has its own
/// file). The files are named as huggingface_hub names them, model-00001-of-00003.safetensors. Then writes
/// model.safetensors.index.json, the index of these files. If one file is enough, writes model.safetensors
/// without an index. Creates the folder if it does not exist. Returns the path for load().
///
/// The folder's old checkpoint, in one file or several, is replaced atomically. The old checkpoint stays
/// complete until the new one is complete, even if the save fails or is killed. Afterwards its files are
/// removed. To keep both apart, the names of the new files contain an id of the save
/// (model-5f0e...-00001-of-00003.safetensors); the index lists these names. If a save is killed, the next
/// save removes its files.
///
/// Errors: an undefined tensor, a name that is given twice or is not UTF-8, and errors of the file system.
EBB_API std::string write_sharded(const std::string& folder, const NamedTensors& tensors,
                                  std::uint64_t max_bytes = 5'000'000'000,
                                  const Metadata& metadata = {{"format", "pt"}});

}  // namespace ebb::safetensors
