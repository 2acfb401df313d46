// Panels of channels, for the kernels that have channels in vector lanes.
#pragma once

#include <ebb/core/dtype.h>

#include "kernel/cpu/parts.h"
#include "kernel/cpu/tile.h"

#include <cstdint>

namespace ebb::cpu::conv {

/// The number of channels of a panel.
template <class T>
constexpr std::int64_t kPanel = tiles::kPackets * tiles::kWidth<T>;

template <class T>
std::int64_t panels_of(std::int64_t channels) {
  return (channels + kPanel<T> - 1) / kPanel<T>;
}

}  // namespace ebb::cpu::conv
