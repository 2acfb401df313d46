// torch::mps: Apple's GPUs, which ebb does not know.
#pragma once

#include <ebb/core/error.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace ebb::mps {

inline bool is_available() { return false; }
/// Nothing: there is no generator.
inline void manual_seed(std::uint64_t /*seed*/) {}
inline void synchronize() {
  EBB_CHECK(false, "mps::synchronize: ebb has no MPS devices. Ask mps::is_available() first.");
}

}  // namespace ebb::mps
