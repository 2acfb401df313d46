// The kernels that a slot can choose from on the CPU.
#pragma once

#include <ebb/core/isa.h>

#include <array>

namespace ebb {

namespace detail {

/// A kernel as it is compiled for one of the levels above the first: a function of that level's files, which
/// are linked into one object that shares nothing else with the library (cmake/EbbDispatch.cmake). A kernel
/// that a level lacks is an error of the linker.
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

/// A kernel of the CPU for each level: what a slot is made of.
#if EBB_CPU_LEVEL  // in a level's own files all are its own, which may serve the levels above as well
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

/// The CPU has no kernel that may decline.
template <class... Args, bool (*kernel)(Args...)>
constexpr std::array<bool (*)(Args...), detail::kCpuLevels> levels_of<kernel>{};

/// A function of the CPU's as it is compiled for the level that this processor runs.
template <auto kernel>
auto at_cpu_level() {
  return levels_of<kernel>[detail::cpu_level.load(std::memory_order_relaxed)];
}

}  // namespace ebb
