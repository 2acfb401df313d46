// Files that programs keep for their next runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ebb::cuda {

/// Where compiled kernels are kept: EBB_KERNEL_CACHE (empty or 0: nowhere), else kernels/ in EBB_CACHE_DIR,
/// else ebb/kernels/ in XDG_CACHE_HOME, else in ~/.cache. Empty where there is none.
std::filesystem::path kernel_folder();

/// One file a key, named by a digest of it. A file that is damaged, of another format or of another key
/// counts as none; what cannot be written is not kept. Several threads and programs may use one folder at
/// once: a file appears whole or not at all.
class KeptFiles {
 public:
  /// An empty folder: keeps nothing.
  explicit KeptFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<std::string> load(const std::string& key) const;
  void save(const std::string& key, const std::string& value) const;
  void remove(const std::string& key) const;

 private:
  std::filesystem::path path_of(std::string_view key) const;

  std::filesystem::path folder_;
};

}  // namespace ebb::cuda
