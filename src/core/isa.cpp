// Selects the instruction set of the CPU kernels when the library is loaded. Also requests the permission for
// AMX, and turns the deterministic mode on and off.
#include "core/isa.h"

#include <ebb/core/deterministic.h>
#include <ebb/core/environment.h>
#include <ebb/core/isa.h>
#include <ebb/core/warning.h>

#include "core/fork.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ebb {
namespace {

// Returns the value of EBB_AMX; empty if it is not set.
std::string_view requested_amx() {
  const char* const wanted = detail::environment("EBB_AMX");
  return wanted ? wanted : "";
}

#if defined(__x86_64__) && defined(__linux__)

bool processor_has_amx() {
  constexpr unsigned kBFloat16 = 1U << 22, kTiles = 1U << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kBFloat16) && (d & kTiles);
}

// Requests the permission to use AMX, and returns whether it was granted. Only a Linux kernel that saves the
// tile registers grants it.
bool system_grants_amx() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

#else

bool processor_has_amx() { return false; }
bool system_grants_amx() { return false; }

#endif

}  // namespace

constinit std::atomic<detail::Amx> detail::amx{Amx::unasked};

bool detail::decide_amx(bool (*multiplies_correctly)()) {
  static OpenInChild& settling = *new OpenInChild;
  bool right = true;
  {
    const std::lock_guard lock(settling);
    if (amx.load() == Amx::unasked)
      amx.store(requested_amx() != "0" && processor_has_amx() && system_grants_amx() ? Amx::granted
                                                                                     : Amx::off);
    if (amx.load() == Amx::granted) {
      right = multiplies_correctly();
      amx.store(right ? Amx::on : Amx::off);
    }
  }
  const std::string_view wanted = requested_amx();
  if (!wanted.empty() && wanted != "0" && wanted != "1")
    warn("EBB_AMX=", wanted, " is neither 0 nor 1: AMX is used if it is available.");
  if (!right)
    warn(
        "AMX multiplied a matrix of bfloat16 wrongly on this processor and is therefore not used. "
        "Products use AVX512-BF16 instead. Set EBB_AMX=0 to avoid this warning.");
  return amx.load() == Amx::on;
}

}  // namespace ebb

#if EBB_CPU_DISPATCH
#include <cpuid.h>
#endif

namespace ebb {
namespace {

#if EBB_CPU_DISPATCH

constexpr std::array<std::string_view, detail::kCpuLevels> kNames = {"sse2", "avx2", "avx512"};

// Counts the levels that this CPU supports. A level needs all features that -march=x86-64-v3 or -v4 lets a
// compiler use, and an operating system that saves the registers.
int count_levels() {
  __builtin_cpu_init();
  unsigned a = 0, b = 0, c = 0, d = 0, extended = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &extended, &d)) return 1;
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && (c & bit_F16C) &&
                  (c & bit_MOVBE) && (extended & bit_LZCNT);
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return !v3 ? 1 : !v4 ? 2 : 3;
}

#else

constexpr std::array<std::string_view, 1> kNames = {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
    "avx512"
#elif defined(__AVX2__) && defined(__FMA__)
    "avx2"
#elif defined(__SSE2__)
    "sse2"
#elif defined(__ARM_NEON)
    "neon"
#else
    "generic"
#endif
};

int count_levels() { return 1; }

#endif

// The level of the deterministic mode: AVX2, which all CPUs with fast kernels support.
constexpr int kEverywhere = 1;

int best_level = 0;
bool has_bfloat16 = false;

std::string listed(int count) {
  std::string names(kNames[0]);
  for (int i = 1; i < count; ++i) names.append(", ").append(kNames[static_cast<std::size_t>(i)]);
  return names;
}

// Runs before the constructors of programs and of the rest of the library, because those may run ops.
[[gnu::constructor(101)]] void choose_level() {
  const int levels = count_levels();
  best_level = levels - 1;
  if (const char* const asked = detail::environment("EBB_ISA"); asked && *asked) {
    const auto end = kNames.begin() + levels, found = std::find(kNames.begin(), end, asked);
    if (found != end)
      best_level = static_cast<int>(found - kNames.begin());
    else
      warn("EBB_ISA=", asked, " is not available: this library has kernels for ",
           listed(static_cast<int>(kNames.size())), ", and this processor runs ", listed(levels),
           " of them. Using ", kNames[static_cast<std::size_t>(best_level)], ".");
  }
#if defined(__x86_64__)
  __builtin_cpu_init();
  has_bfloat16 = __builtin_cpu_supports("avx512bf16");
#endif
  detail::run_same_kernels_everywhere(false);
}

}  // namespace

constinit std::atomic<std::uint8_t> detail::cpu_level{0};
constinit std::atomic<bool> detail::bfloat16_instructions{false};

void detail::run_same_kernels_everywhere(bool same) noexcept {
  const int level = same ? std::min(best_level, kEverywhere) : best_level;
  cpu_level.store(static_cast<std::uint8_t>(level), std::memory_order_relaxed);
  bfloat16_instructions.store(has_bfloat16 && !same, std::memory_order_relaxed);
}

std::string_view cpu_isa() noexcept { return kNames[detail::cpu_level.load(std::memory_order_relaxed)]; }

namespace {

constinit std::atomic<bool> deterministic_only{false};

}  // namespace

void use_deterministic_algorithms(bool deterministic) {
  deterministic_only.store(deterministic, std::memory_order_relaxed);
  detail::run_same_kernels_everywhere(deterministic);
}
bool are_deterministic_algorithms_enabled() { return deterministic_only.load(std::memory_order_relaxed); }

}  // namespace ebb
