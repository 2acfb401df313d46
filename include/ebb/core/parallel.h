// How many threads CPU kernels use, and loops shared among them.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>
#include <type_traits>

namespace ebb {

/// Threads an op may use: at the start EBB_NUM_THREADS or OMP_NUM_THREADS, else the CPUs left to the process.
EBB_API int get_num_threads();
/// Throws for numbers below 1. Fewer run where the system refuses threads; results do not depend on it.
EBB_API void set_num_threads(int threads);

namespace detail {
using Piece = void (*)(void* body, std::int64_t begin, std::int64_t end);
EBB_API void parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, Piece piece, void* body);
}  // namespace detail

/// Calls body(begin, end) on disjoint pieces that cover [begin, end), on up to get_num_threads() threads,
/// each piece longer than half of `grain`; up to `grain`, or inside another parallel_for, on this thread
/// alone. The pieces depend on the number of threads: a result that depends on how it is cut up needs pieces
/// of its own, of fixed length. An exception in a piece is rethrown here. Other threads have the modes of a
/// new thread: they record graphs even inside a NoGradGuard of this one. (torch: at::parallel_for)
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

}  // namespace ebb
