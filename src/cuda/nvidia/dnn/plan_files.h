// Files of plans, so that the next run of a program need not compile them again.
#pragma once

#include "cuda/cache_files.h"
#include "cuda/nvidia/dnn/problem.h"

#include <optional>
#include <string>
#include <utility>

namespace ebb::cuda::dnn {

/// Files of cuDNN's serialised plans, one per problem. `stamp` names the configuration for which they are
/// valid.
class PlanFiles {
 public:
  /// Arguments as of CacheFiles.
  PlanFiles(std::filesystem::path folder, std::string stamp, std::size_t most = 4096)
      : files_(std::move(folder), "plan", most), stamp_(std::move(stamp)) {}

  std::optional<std::string> load(const Problem& problem) const { return files_.load(key_of(problem)); }
  void save(const Problem& problem, const std::string& plan) { files_.save(key_of(problem), plan); }
  void remove(const Problem& problem) const { files_.remove(key_of(problem)); }

 private:
  // The device's index is valid only in this process; the stamp identifies the device.
  std::string key_of(const Problem& problem) const {
    Problem anywhere = problem;
    anywhere.device = 0;
    return stamp_ + '\n' + std::string(reinterpret_cast<const char*>(&anywhere), sizeof(anywhere));
  }

  CacheFiles files_;
  std::string stamp_;
};

}  // namespace ebb::cuda::dnn
