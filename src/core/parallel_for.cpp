// Loops shared among threads, and how many there are.
#include "core/parallel_for.h"

#include <ebb/core/error.h>
#include <ebb/core/parallel.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "core/fork.h"
#include "core/thread_pool.h"

namespace ebb {
namespace cpu::detail {
namespace {

std::atomic<int> threads{0};

int thread_count() {
  int n = threads.load(std::memory_order_relaxed);
  if (n == 0) {
    const int all = default_threads();
    if (threads.compare_exchange_strong(n, all, std::memory_order_relaxed)) n = all;
  }
  return n;
}

// The pool of this process.
struct Current {
  ebb::detail::HeldAtFork mutex;
  std::shared_ptr<Pool> pool;  // shared with running jobs, so that another never pulls it from under one
  int forks = 0;               // before the pool was made
};

std::shared_ptr<Pool> pool() {
  static Current& c = *new Current;  // never destroyed: the threads end with the process
  std::shared_ptr<Pool> old;         // ends after the lock
  const std::lock_guard lock(c.mutex);
  // A forked child has none of its parent's threads. It leaves their pool, in whatever state.
  if (const int now = ebb::detail::forks(); c.forks != now) {
    new std::shared_ptr<Pool>(std::move(c.pool));
    c.forks = now;
  }
  const int asked = thread_count();
  if (!c.pool || c.pool->asked() != asked) old = std::exchange(c.pool, std::make_shared<Pool>(asked));
  return c.pool;
}

}  // namespace
}  // namespace cpu::detail

void detail::parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, Piece piece, void* body) {
  using namespace cpu::detail;
  const auto pieces_for = [&](std::int64_t workers) {
    return workers == 1 ? 1
                        : std::min(workers * kPiecesPerThread,
                                   (end - begin + grain - 1) / std::max<std::int64_t>(grain, 1));
  };
  if (!inside_piece() && pieces_for(thread_count()) > 1) {
    const std::shared_ptr<Pool> workers = pool();
    const std::int64_t pieces = pieces_for(workers->size());
    if (pieces > 1 && workers->try_run(begin, end, static_cast<int>(pieces), piece, body)) return;
  }
  piece(body, begin, end);
}

int get_num_threads() { return cpu::detail::thread_count(); }

void set_num_threads(int threads) {
  EBB_CHECK(threads > 0, "set_num_threads: expected a positive number of threads, got ", threads, ".");
  cpu::detail::threads.store(threads, std::memory_order_relaxed);
}

}  // namespace ebb
