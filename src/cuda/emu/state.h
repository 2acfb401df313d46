// What the files of the emulated runtime share.
#pragma once

#include "cuda/emu/api.h"

namespace ebb::emu {

/// Remembers the error for cudaGetLastError and returns it.
cudaError_t set_error(cudaError_t error);
/// Memory of each emulated device.
std::size_t device_memory_bytes();

}  // namespace ebb::emu
