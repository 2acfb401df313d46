// The public parallel_for as kernels of the CPU call it, and how much work pays for a thread.
#pragma once

#include <ebb/core/parallel.h>

namespace ebb::cpu {

using ebb::parallel_for;

/// Elements of cheap work that pay for waking a thread.
constexpr std::int64_t kGrain = 32768;

namespace detail {
using ebb::detail::parallel_run;
using ebb::detail::Piece;
}  // namespace detail

}  // namespace ebb::cpu
