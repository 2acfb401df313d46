// torch::mps: Apple's GPUs, which ebb does not support.
#pragma once

#include <ebb/core/error.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace ebb::mps {

inline bool is_available() { return false; }
/// Does nothing, because there is no generator.
inline void manual_seed(std::uint64_t /*seed*/) {}
/// Throws, because there is no device.
inline void synchronize() {
  EBB_CHECK(false, "mps::synchronize: ebb has no MPS devices. Check mps::is_available() first.");
}

}  // namespace ebb::mps
