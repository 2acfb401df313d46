// How the deterministic mode bears on the choice of instructions.
#pragma once

namespace ebb::detail {

/// With true, processors that differ run the same kernels where they can: no more than AVX2. With false, the
/// best.
void run_same_kernels_everywhere(bool same) noexcept;

}  // namespace ebb::detail
