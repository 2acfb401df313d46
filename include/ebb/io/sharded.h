// Checkpoints in several safetensors files, by their index (Hugging Face's model.safetensors.index.json).
#pragma once

#include <ebb/io/safetensors.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ebb::safetensors {

/// Reads tensors from the files that an index names. Each is opened, and its header checked, at once.
///
/// Errors, beside Reader's: no index, JSON that does not parse or lacks "weight_map", a file outside the
/// index's folder, a tensor that the named file does not have.
class EBB_API ShardedReader {
 public:
  /// The index, or the folder in which it lies (model.safetensors.index.json). All files are opened here: a
  /// save that replaces the checkpoint meanwhile or later changes nothing in what is read.
  explicit ShardedReader(const std::string& path);

  /// The names, in the order of the index.
  const std::vector<std::string>& keys() const { return names_; }
  bool contains(const std::string& name) const { return files_.contains(name); }
  /// The file that holds a tensor. Throws with the nearest names if there is none.
  const Reader& file_of(const std::string& name) const;
  Variable get_tensor(const std::string& name) const { return file_of(name).get_tensor(name); }

 private:
  void open(const std::string& index, const std::vector<std::pair<std::string, std::string>>& weight_map);

  std::vector<std::string> names_;
  std::map<std::string, std::shared_ptr<const Reader>> files_;
};

/// Writes tensors, in order, into files of at most `max_bytes` of data each (a larger tensor has one of its
/// own), named as huggingface_hub does, model-00001-of-00003.safetensors, and then
/// model.safetensors.index.json, which makes them a checkpoint. Where one file is enough it is
/// model.safetensors alone. The folder is made if it is not there; returns what load() takes.
///
/// The checkpoint that the folder holds, in one file or in several, stands whole until the new one does,
/// whenever the save fails or is killed; then its files go. That is why new files have a mark of the save in
/// their names (model-5f0e...-00001-of-00003.safetensors): the index says which they are. A save that was
/// killed leaves files that the next one removes.
///
/// Errors: an undefined tensor, a name that is given twice or is not UTF-8, what the system says of a file.
EBB_API std::string write_sharded(const std::string& folder, const NamedTensors& tensors,
                                  std::uint64_t max_bytes = 5'000'000'000,
                                  const Metadata& metadata = {{"format", "pt"}});

}  // namespace ebb::safetensors
