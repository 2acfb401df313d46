// cpu_isa(): the instruction set of the CPU kernels.
#pragma once

#include <ebb/core/api.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace ebb {

/// Returns the instruction set of the CPU kernels (torch.backends.cpu.get_cpu_capability). It is "sse2",
/// "avx2" (x86-64-v3, with FMA) or "avx512" (x86-64-v4) on x86-64, "neon" on aarch64, and "generic" on other
/// processors. A library built for any x86-64 processor (EBB_NATIVE=OFF) contains the kernels of all three
/// sets. It uses the best set that the processor supports, or the set that the environment variable EBB_ISA
/// names. With use_deterministic_algorithms(true) it uses "avx2" at most.
EBB_API std::string_view cpu_isa() noexcept;

namespace detail {

/// The maximum number of instruction sets that one library compiles a kernel for.
constexpr int kCpuLevels = 3;
/// The index of the instruction set whose CPU kernels are called. Set when the library is loaded.
extern EBB_API constinit std::atomic<std::uint8_t> cpu_level;

}  // namespace detail
}  // namespace ebb
