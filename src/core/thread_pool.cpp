// Thread pool, parallel_run and the settings of threads. A worker claims a chunk by storing the job's number
// in the chunk's slot.
#include "core/thread_pool.h"

#include <ebb/core/error.h>
#include <ebb/core/parallel.h>

#include "core/fork.h"
#include "core/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <system_error>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ebb::cpu::detail {
namespace {

thread_local bool inside = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Polls a condition for a while before the thread sleeps. Returns whether the condition became true. Polling
// is faster than sleeping here, because the jobs of a training step follow each other within microseconds,
// and the chunks of a job end at nearly the same time.
template <class Condition>
bool poll(int times, Condition&& condition) {
  for (int i = 0; i < times; ++i) {
    if (condition()) return true;
    relax();
  }
  return condition();
}
// Some microseconds. A worker that polls for longer takes time from other programs, and from threads of this
// one that have work.
constexpr int kPollsForWork = 250;
constexpr int kPollsForEnd = 1000;

}  // namespace

bool inside_piece() { return inside; }

Pool::Pool(int asked, int most)
    : asked_(asked), taken_(static_cast<std::size_t>(std::clamp(asked, 1, kMaxThreads) * kPiecesPerThread)) {
  auto count = static_cast<std::size_t>(std::clamp(asked, 1, most));
  while (!start(count)) {
    // The system allows no more threads. The pool uses only half of those that it granted, because the stacks
    // of all of them could leave no memory for ops.
    count = threads_.size() / 2 + 1;
    stop();
  }
}

Pool::~Pool() { stop(); }

bool Pool::start(std::size_t count) {
  stop_.store(false, std::memory_order_relaxed);
  try {
    threads_.reserve(count - 1);  // a pool of one thread allocates nothing
    for (std::size_t i = 1; i < count; ++i) threads_.emplace_back([this, i] { work(i); });
    return true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}

void Pool::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

bool Pool::try_run(std::int64_t begin, std::int64_t end, int pieces, Piece piece, void* body) {
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  begin_ = begin;
  end_ = end;
  pieces_ = pieces;
  piece_ = piece;
  body_ = body;
  unfinished_.store(pieces, std::memory_order_relaxed);
  const std::uint64_t job = (ticket_.load(std::memory_order_relaxed) >> kPieceBits) + 1;
  const std::uint64_t ticket = job << kPieceBits | static_cast<std::uint64_t>(pieces);
  ticket_.store(ticket, std::memory_order_release);
  wake(std::min(pieces, size()) - 1);
  take_pieces(ticket, 0);
  const auto ended = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (!poll(kPollsForEnd, ended))
    for (int left; (left = unfinished_.load(std::memory_order_acquire)) != 0;) unfinished_.wait(left);
  const std::exception_ptr error = std::exchange(error_, nullptr);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
  return true;
}

void Pool::wake(int workers) {
  int asleep;
  {
    // A worker either sees the new ticket before it sleeps, or is counted in asleep_. In the second case, the
    // code below wakes it.
    std::lock_guard lock(mutex_);
    asleep = asleep_;
  }
  if (asleep > 0 && workers >= asleep) return wake_.notify_all();
  for (int i = 0; i < std::min(workers, asleep); ++i) wake_.notify_one();
}

void Pool::take_pieces(std::uint64_t ticket, std::size_t thread) {
  const bool before = std::exchange(inside, true);
  const std::uint64_t job = ticket >> kPieceBits;
  const auto pieces = static_cast<std::size_t>(ticket & kPieces);
  const std::size_t first = thread * pieces / static_cast<std::size_t>(size());
  for (std::size_t k = 0; k < pieces; ++k) {
    const std::size_t i = (first + k) % pieces;
    std::uint64_t last = taken_[i].job.load(std::memory_order_acquire);
    if (last >= job || !taken_[i].job.compare_exchange_strong(last, job)) continue;
    // The job can neither end nor be replaced before this chunk has finished.
    run_piece(static_cast<std::int64_t>(i));
    if (unfinished_.fetch_sub(1) == 1 && thread != 0) unfinished_.notify_one();
  }
  inside = before;
}

void Pool::run_piece(std::int64_t i) {
  const std::int64_t n = end_ - begin_, base = n / pieces_, extra = n % pieces_;
  const std::int64_t from = begin_ + i * base + std::min(i, extra);
  try {
    piece_(body_, from, from + base + (i < extra ? 1 : 0));
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void Pool::work(std::size_t thread) {
  std::uint64_t seen = 0;
  const auto called = [&] {
    return ticket_.load(std::memory_order_acquire) != seen || stop_.load(std::memory_order_relaxed);
  };
  for (;;) {
    if (!poll(kPollsForWork, called)) {
      std::unique_lock lock(mutex_);
      ++asleep_;
      wake_.wait(lock, called);
      --asleep_;
    }
    if (stop_.load(std::memory_order_relaxed)) return;
    seen = ticket_.load(std::memory_order_acquire);
    take_pieces(seen, thread);
  }
}

}  // namespace ebb::cpu::detail

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
  std::shared_ptr<Pool> pool;  // running jobs share it, so that a new pool does not destroy it while they run
  int forks = 0;               // the number of forks before the pool was created
};

std::shared_ptr<Pool> pool() {
  static Current& c = *new Current;  // never destroyed: the threads end with the process
  std::shared_ptr<Pool> old;         // destroyed after the mutex is unlocked
  const std::lock_guard lock(c.mutex);
  // A forked child has none of its parent's threads, and their pool may be in any state. The child leaks this
  // pool and makes a new one.
  if (const int now = ebb::detail::forks(); c.forks != now) {
    new std::shared_ptr<Pool>(std::move(c.pool));
    c.forks = now;
  }
  // More threads than CPUs would only take turns. A second thread runs even on one CPU, because the chunks of
  // a job may wait for each other.
  static const int most = std::max(available_cpus(), 2);
  const int asked = thread_count();
  if (!c.pool || c.pool->asked() != asked) old = std::exchange(c.pool, std::make_shared<Pool>(asked, most));
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
    const std::int64_t pieces =
        workers->size() == 1 ? 1 : pieces_for(std::min(workers->asked(), kMaxThreads));
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
