// How the deterministic mode bears on the choice of instructions.
#pragma once

#include <atomic>

namespace ebb::detail {

/// Whether products of bfloat16 are taken by the processor's instructions for them (AVX512-BF16, and AMX
/// where core/amx.h allows it), which round in a way of their own: not in the deterministic mode.
extern constinit std::atomic<bool> bfloat16_instructions;

/// With true, processors that differ run the same kernels where they can: no more than AVX2. With false, the
/// best.
void run_same_kernels_everywhere(bool same) noexcept;

}  // namespace ebb::detail
