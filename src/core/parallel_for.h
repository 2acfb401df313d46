// Work shared among threads.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

/// Calls body(begin, end) on disjoint pieces that cover [begin, end), on up to get_num_threads() threads,
/// each piece at least `grain` long; below that, or inside another parallel_for, on this thread alone. The
/// pieces depend on the number of threads: a kernel whose result depends on how it is cut up cuts by itself,
/// in fixed pieces, and loops over those. An exception in a piece is rethrown here.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Body&& body);

/// Elements of cheap work that pay for waking a thread.
constexpr std::int64_t kGrain = 32768;

namespace detail {
using Piece = void (*)(void* body, std::int64_t begin, std::int64_t end);
void parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, Piece piece, void* body);
}  // namespace detail

template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Body&& body) {
  if (begin >= end) return;
  if (end - begin <= grain) return body(begin, end);
  detail::parallel_run(
      begin, end, grain,
      [](void* b, std::int64_t from, std::int64_t to) {
        (*static_cast<std::remove_reference_t<Body>*>(b))(from, to);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace ebb::cpu
