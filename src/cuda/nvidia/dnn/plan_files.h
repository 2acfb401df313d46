// Plans as files, so that the next run of a program need not compile them again.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "cuda/nvidia/dnn/problem.h"

namespace ebb::cuda::dnn {

/// Where programs of this user keep such files: EBB_CACHE_DIR, else ebb/ in XDG_CACHE_HOME, else in ~/.cache.
/// Empty where there is none, or EBB_CACHE_DIR is set and empty: nothing is kept then.
std::filesystem::path cache_folder();

/// One file a problem, named by a digest of the problem and of `stamp`, which says whom its plan is good for.
/// A file that is damaged, of another format or of another problem counts as none; what cannot be written is
/// not kept. Several threads and programs may use one folder at once: a file appears whole or not at all.
class PlanFiles {
 public:
  /// An empty folder: keeps nothing. `most`: files in the folder, beyond which no new problems are kept.
  PlanFiles(std::filesystem::path folder, std::string stamp, std::size_t most = 4096);

  std::optional<std::string> load(const Problem& problem) const;
  void save(const Problem& problem, const std::string& plan);
  void remove(const Problem& problem);

 private:
  std::string key_of(const Problem& problem) const;
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string stamp_;
  std::size_t most_;
  std::mutex mutex_;
  std::optional<std::size_t> files_;  // in the folder; counted when the first is written
};

}  // namespace ebb::cuda::dnn
