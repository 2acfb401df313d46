// The instruction-set levels of CPU kernels from which a slot chooses.
#pragma once

#include <ebb/core/isa.h>

#include <array>

namespace ebb {

namespace detail {

/// A kernel compiled for one of the levels above the first: a function in the files of that level. The files
/// of a level are linked into one object, which exports no other symbols to the library
/// (cmake/EbbDispatch.cmake). If a level does not define a kernel, linking fails.
template <auto kernel, int level>
struct AtLevel;
template <class... Args, void (*kernel)(Args...), int level>
struct AtLevel<kernel, level> {
  static void run(Args... args);
};

#if EBB_CPU_LEVEL
template <class... Args, void (*kernel)(Args...), int level>
void AtLevel<kernel, level>::run(Args... args) {
  kernel(static_cast<Args>(args)...);
}
#endif

}  // namespace detail

/// The CPU kernels of all levels, in the form in which a slot stores them.
#if EBB_CPU_LEVEL  // in the files of one level: its own kernels, and those of EBB_CPU_TOP_LEVEL at the end
#ifndef EBB_CPU_TOP_LEVEL
#define EBB_CPU_TOP_LEVEL EBB_CPU_LEVEL
#endif
template <auto kernel>
constexpr std::array<decltype(kernel), detail::kCpuLevels> levels_of = {
    &detail::AtLevel<kernel, EBB_CPU_LEVEL>::run, &detail::AtLevel<kernel, EBB_CPU_LEVEL>::run,
    &detail::AtLevel<kernel, EBB_CPU_TOP_LEVEL>::run};
#elif EBB_CPU_DISPATCH
template <auto kernel>
constexpr std::array<decltype(kernel), detail::kCpuLevels> levels_of = {
    kernel, &detail::AtLevel<kernel, 1>::run, &detail::AtLevel<kernel, 2>::run};
#else
template <auto kernel>
constexpr std::array<decltype(kernel), detail::kCpuLevels> levels_of = {kernel, kernel, kernel};
#endif

/// Library kernels may decline a call. The CPU has no library, so its version declines every call.
template <class... Args, bool (*kernel)(Args...)>
constexpr std::array<bool (*)(Args...), detail::kCpuLevels> levels_of<kernel>{};

/// Returns the version of a CPU function that was compiled for this processor's level.
template <auto kernel>
auto at_cpu_level() {
  return levels_of<kernel>[detail::cpu_level.load(std::memory_order_relaxed)];
}

}  // namespace ebb
