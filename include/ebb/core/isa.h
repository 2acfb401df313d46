// cpu_isa(): the instruction set of the CPU kernels.
#pragma once

#include <ebb/core/api.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace ebb {

/// Returns the instruction set of the CPU kernels: "sse2", "avx2" (x86-64-v3, with FMA) or "avx512"
/// (x86-64-v4) on x86-64, "neon" on aarch64, "generic" elsewhere (torch.backends.cpu.get_cpu_capability). A
/// library built to run on any x86-64 (EBB_NATIVE=OFF) contains all three. It uses the best one that the
/// processor supports, or the one that the environment variable EBB_ISA names. With
/// use_deterministic_algorithms(true) it uses "avx2" at most.
EBB_API std::string_view cpu_isa() noexcept;

namespace detail {

/// The maximum number of instruction sets that one library compiles a kernel for.
constexpr int kCpuLevels = 3;
/// The instruction set whose CPU kernels every slot runs, as an index. Set when the library is loaded.
extern EBB_API constinit std::atomic<std::uint8_t> cpu_level;

}  // namespace detail
}  // namespace ebb
