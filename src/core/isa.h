// The state of AMX, and the effect of the deterministic mode on the choice of instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::detail {

/// The state of AMX. A process may use tiles only if it has requested AMX. The request is delayed until the
/// first use of tiles, because after the request Linux needs more space on each alternate signal stack
/// (sigaltstack).
enum class Amx : std::uint8_t { unasked, granted, on, off };
extern constinit std::atomic<Amx> amx;

/// Changes `amx` to its final state, on or off. The state is off if the processor or the system has no AMX,
/// or if EBB_AMX=0 is set. It is also off, with a warning, if `multiplies_correctly` returns false. The
/// permission holds for all threads of the process.
bool decide_amx(bool (*multiplies_correctly)());

/// True if bfloat16 products use the processor's instructions for them (AVX512-BF16, and AMX if it is on).
/// These instructions round differently, so the deterministic mode does not use them.
extern constinit std::atomic<bool> bfloat16_instructions;

/// If `same` is true, all processors that have AVX2 run the same kernels, those for AVX2. If `same` is false,
/// each processor runs the fastest kernels that it supports.
void run_same_kernels_everywhere(bool same) noexcept;

}  // namespace ebb::detail
