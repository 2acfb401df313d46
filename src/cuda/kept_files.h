// Files that programs keep for their next runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace ebb::cuda {

/// Where programs of this user keep such files: EBB_CACHE_DIR, else ebb/ in XDG_CACHE_HOME, else in ~/.cache.
/// Empty where there is none, or EBB_CACHE_DIR is set and empty: nothing is kept then.
std::filesystem::path cache_folder();
/// Where compiled kernels are kept: EBB_KERNEL_CACHE (empty or 0: nowhere), else kernels/ in cache_folder().
std::filesystem::path kernel_folder();

/// One file a key, named by a digest of it (SHA-256, as of the contents). A file that is damaged, of another
/// format or of another key counts as none; what cannot be written is not kept. Several threads and programs
/// may use one folder at once: a file appears whole or not at all. A folder is made for this user alone; one
/// that is somebody else's, or that others may write to, is not used, which is warned of once.
class KeptFiles {
 public:
  /// An empty folder: keeps nothing. `kind` names the files' format and ends their names. `most`: files in
  /// the folder, beyond which no new keys are kept.
  KeptFiles(std::filesystem::path folder, std::string kind, std::size_t most = 4096);

  std::optional<std::string> load(const std::string& key) const;
  void save(const std::string& key, const std::string& value);
  void remove(const std::string& key) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  std::string head_of(const std::string& key, const std::string& body) const;

  std::filesystem::path folder_;
  std::string kind_;
  std::size_t most_;
  std::mutex mutex_;
  std::optional<std::size_t> files_;  // in the folder; counted when the first is written
};

}  // namespace ebb::cuda
