// CPU loops over the lines of an array. A line is a one-dimensional slice along one dimension
// (kernel/lines.h).
#pragma once

#include "core/parallel_for.h"
#include "kernel/lines.h"

#include <algorithm>
#include <cstdint>

namespace ebb::cpu {

/// Calls body(i) for every line. `cost` is the cost of one element, as a multiple of the cost of an addition.
template <class Body>
void for_each_line(const Lines& lines, std::int64_t cost, Body&& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, lines.n * cost));
  parallel_for(0, lines.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Calls body(start, width) for blocks of up to kWidth adjacent lines.
template <std::int64_t kWidth, class Body>
void for_each_block(const Lines& lines, std::int64_t cost, Body&& body) {
  const std::int64_t tiles = (lines.inner + kWidth - 1) / kWidth;
  const std::int64_t work = std::max<std::int64_t>(1, lines.n * cost * std::min(lines.inner, kWidth));
  parallel_for(0, lines.outer * tiles, std::max<std::int64_t>(1, kGrain / work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t job = begin; job < end; ++job) {
                   const std::int64_t from = job % tiles * kWidth;
                   body(job / tiles * lines.n * lines.inner + from, std::min(kWidth, lines.inner - from));
                 }
               });
}

}  // namespace ebb::cpu
