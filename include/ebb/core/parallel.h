// get_num_threads and parallel_for: the threads of CPU kernels, and loops that share them.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>
#include <type_traits>

namespace ebb {

/// Returns the number of threads of an op. The default is EBB_NUM_THREADS, OMP_NUM_THREADS, or the number of
/// CPUs that the process may use.
EBB_API int get_num_threads();
/// Sets the number of threads of an op. Throws if `threads` < 1. Fewer threads run if the system refuses to
/// create them, or if there are fewer CPUs (but at least two). Results do not depend on the number of
/// threads.
EBB_API void set_num_threads(int threads);

namespace detail {
using Piece = void (*)(void* body, std::int64_t begin, std::int64_t end);
EBB_API void parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, Piece piece, void* body);
}  // namespace detail

/// Calls body(begin, end) on disjoint chunks that cover [begin, end), on up to get_num_threads() threads.
/// Each chunk is longer than grain / 2. A range of at most `grain`, or a range inside another parallel_for,
/// runs as one chunk on this thread. The chunks depend on the number of threads. If the result of `body`
/// depends on the chunking, it must use chunks of a fixed length itself. An exception in a chunk is rethrown
/// here. Other threads have the modes of a new thread: they record graphs even if this thread is inside a
/// NoGradGuard. (torch: at::parallel_for)
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
