// What is fuzzed: everything of ebb that reads bytes from outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Reads `bytes` and looks at all that was read. Returns whether they were accepted; a refusal is an
/// ebb::Error, and any other exception passes through.
bool read_safetensors(std::string_view bytes);
bool read_idx(std::string_view bytes);
bool read_gzipped_idx(std::string_view bytes);  ///< compresses them first, so that damage lies within

struct Target {
  const char* name;
  bool (*read)(std::string_view bytes);
  std::vector<std::string> (*seeds)();
};

// Sound inputs of every kind, to begin with.
std::vector<std::string> safetensors_seeds();
std::vector<std::string> idx_seeds();

inline const Target kTargets[] = {{"safetensors", read_safetensors, safetensors_seeds},
                                  {"idx", read_idx, idx_seeds},
                                  {"gzipped_idx", read_gzipped_idx, idx_seeds}};

std::string gzip(std::string_view bytes);

}  // namespace fuzz
