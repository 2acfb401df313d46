// The index of a checkpoint in several files.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ebb::safetensors {

constexpr const char* kIndex = "model.safetensors.index.json";

/// The file of each tensor, in the order of the index.
using WeightMap = std::vector<std::pair<std::string, std::string>>;

/// "weight_map" of the index at a path. Throws where it is none.
WeightMap read_index(const std::string& path);

}  // namespace ebb::safetensors
