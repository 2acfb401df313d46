// contents_of: the names, dtypes and shapes of the tensors in a file of any format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ebb::cli {

/// A tensor of a file. For a tensor of a PyTorch file whose dtype ebb does not have, only name and dtype are
/// known: `sizes` is nullopt.
struct TensorInfo {
  std::string name;
  std::string dtype;  // "float32"
  std::optional<std::vector<std::int64_t>> sizes;
  std::uint64_t elements = 0, bytes = 0;
};

struct Contents {
  std::string format;               // "safetensors", "sharded safetensors", "pytorch", "npz" or "npy"
  std::vector<TensorInfo> tensors;  // in the order of the file
  std::map<std::string, std::string> metadata;  // only for safetensors files
};

/// Reads a file, or the folder of a sharded checkpoint, without the elements of the tensors. Throws
/// ebb::Error for a file of an unknown format.
Contents contents_of(const std::string& path);

}  // namespace ebb::cli
