// Intel's AMX, whose tiles multiply matrices of bfloat16: whether this process may use it, and whether it
// works.
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::detail {

/// What is known of AMX. A process that never could use it never asks: Linux lets tiles be used only by those
/// that ask, and from then on wants room for them on every alternate stack of signals (sigaltstack).
enum class Amx : std::uint8_t { unasked, granted, on, off };
extern constinit std::atomic<Amx> amx;

/// Takes `amx` to on or off, which it then stays: off where the processor or the system has no AMX, where the
/// environment has EBB_AMX=0, and, with a warning, where `multiplies_rightly` says that it does not. What is
/// granted goes for all threads of the process.
bool settle_amx(bool (*multiplies_rightly)());

}  // namespace ebb::detail
