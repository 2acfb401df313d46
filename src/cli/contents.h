// The tensors that a file of any format holds, without their elements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ebb::cli {

/// A tensor of a file. Of one whose dtype ebb does not have, a file of PyTorch tells no more than the dtype.
struct TensorInfo {
  std::string name;
  std::string dtype;  // "float32"
  std::optional<std::vector<std::int64_t>> sizes;
  std::uint64_t elements = 0, bytes = 0;
};

struct Contents {
  std::string format;               // "safetensors", "sharded safetensors", "pytorch", "npz" or "npy"
  std::vector<TensorInfo> tensors;  // in the order of the file
  std::map<std::string, std::string> metadata;  // of safetensors
};

/// Reads a file, or the folder of a sharded checkpoint, without the elements of the tensors. Throws
/// ebb::Error for a file that no reader takes.
Contents contents_of(const std::string& path);

}  // namespace ebb::cli
