// Fat binaries: what nvcc embeds into an object file for the device.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "cuda/ptx/interpreter/interpreter.h"

namespace ebb::ptx {

/// The PTX of one object file. A text is parsed when one of its entries is first asked for, so that the start
/// of a process costs nothing.
class FatBinary {
 public:
  /// `wrapper` is what the object file registers. Throws std::runtime_error where it has no readable PTX.
  explicit FatBinary(const void* wrapper);

  /// The entry of that name, or null. Throws std::runtime_error where a text is not PTX.
  Entry* find(std::string_view name);

 private:
  std::mutex mutex_;
  std::vector<std::string_view> texts_;  // in the memory of the plugin
  std::vector<std::shared_ptr<Module>> modules_;
};

}  // namespace ebb::ptx
