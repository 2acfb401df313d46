// Which of the processor's instructions the CPU's kernels use.
#pragma once

#include <ebb/core/api.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace ebb {

/// The instruction set of the CPU's kernels: "sse2", "avx2" (x86-64-v3, with FMA) or "avx512" (x86-64-v4);
/// "neon" on aarch64, "generic" elsewhere. A library that was built to run anywhere on x86-64
/// (EBB_NATIVE=OFF) has all three, and takes the best that the processor runs or the one that the
/// environment variable EBB_ISA names. With use_deterministic_algorithms(true) that is "avx2" at most
/// (torch.backends.cpu.get_cpu_capability).
EBB_API std::string_view cpu_isa() noexcept;

namespace detail {

/// How many sets of instructions a kernel can be compiled for in one library.
constexpr int kCpuLevels = 3;
/// Which of its kernels for the CPU every slot runs; set as the library is loaded.
extern EBB_API constinit std::atomic<std::uint8_t> cpu_level;

}  // namespace detail
}  // namespace ebb
