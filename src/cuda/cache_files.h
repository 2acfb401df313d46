// Files that cache compiled kernels and plans between runs of a program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace ebb::cuda {

/// Returns the cache folder of this user: EBB_CACHE_DIR if set, otherwise ebb/ in XDG_CACHE_HOME, otherwise
/// ebb/ in ~/.cache. Returns an empty path, which disables the cache, if no such folder is known or
/// EBB_CACHE_DIR is an empty string.
std::filesystem::path cache_folder();
/// Returns the folder of compiled kernels: EBB_KERNEL_CACHE if set, otherwise kernels/ in cache_folder().
/// Returns an empty path, which disables the cache, if EBB_KERNEL_CACHE is empty or 0.
std::filesystem::path kernel_folder();

/// Stores one file per key, named by the SHA-256 digest of the key. Damaged files and files of another format
/// or key are ignored. Values that cannot be written are not cached. Several threads and programs may use a
/// folder concurrently, because files are written atomically. A new folder is accessible only to this user. A
/// folder that belongs to another user, or that others can write to, is not used, and a warning is given
/// once.
class CacheFiles {
 public:
  /// `kind` names the format and is the suffix of the files. If the folder contains `most` files, no new keys
  /// are stored. An empty path disables the cache.
  CacheFiles(std::filesystem::path folder, std::string kind, std::size_t most = 4096);

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
  std::optional<std::size_t> files_;  // the number of files in the folder; counted at the first write
};

}  // namespace ebb::cuda
