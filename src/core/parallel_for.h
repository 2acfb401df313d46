// parallel_for for the CPU kernels, and the smallest amount of work that is worth a thread.
#pragma once

#include <ebb/core/parallel.h>

namespace ebb::cpu {

using ebb::parallel_for;

/// The least number of cheap elements for which waking a thread is worthwhile.
constexpr std::int64_t kGrain = 32768;

namespace detail {
using ebb::detail::parallel_run;
using ebb::detail::Piece;
}  // namespace detail

}  // namespace ebb::cpu
