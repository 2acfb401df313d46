// How modes and the system bear on the choice of instructions: the deterministic mode, and AMX.
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::detail {

/// The state of AMX. A process that never could use it never asks: Linux lets tiles be used only by those
/// that ask, and from then on wants room for them on every alternate stack of signals (sigaltstack).
enum class Amx : std::uint8_t { unasked, granted, on, off };
extern constinit std::atomic<Amx> amx;

/// Takes `amx` to on or off, which it then stays: off where the processor or the system has no AMX, where the
/// environment has EBB_AMX=0, and, with a warning, where `multiplies_rightly` says that it does not. What is
/// granted goes for all threads of the process.
bool settle_amx(bool (*multiplies_rightly)());

/// Whether products of bfloat16 are taken by the processor's instructions for them (AVX512-BF16, and AMX
/// where it may be used), which round in a way of their own: not in the deterministic mode.
extern constinit std::atomic<bool> bfloat16_instructions;

/// With true, processors that differ run the same kernels where they can: no more than AVX2. With false, the
/// best.
void run_same_kernels_everywhere(bool same) noexcept;

}  // namespace ebb::detail
