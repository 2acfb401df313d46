// Thread pool, and the loops and settings that use it. A worker claims a piece by storing the number of its
// job.
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

// Jobs of a training step follow each other within microseconds, and pieces of one job end together: looking
// a while is faster than sleeping.
template <class Condition>
bool soon(int looks, Condition&& condition) {
  for (int i = 0; i < looks; ++i) {
    if (condition()) return true;
    relax();
  }
  return condition();
}
constexpr int kLooksForWork = 4000;
constexpr int kLooksForEnd = 1000;

}  // namespace

bool inside_piece() { return inside; }

Pool::Pool(int threads)
    : asked_(threads),
      taken_(static_cast<std::size_t>(std::clamp(threads, 1, kMaxThreads) * kPiecesPerThread)) {
  std::size_t count = taken_.size() / kPiecesPerThread;
  while (!start(count)) {
    // No more threads for this process. Their stacks may have taken all its memory, of which ops need some.
    count = threads_.size() / 2 + 1;
    stop();
  }
}

Pool::~Pool() { stop(); }

bool Pool::start(std::size_t count) {
  stop_.store(false, std::memory_order_relaxed);
  try {
    threads_.reserve(count - 1);  // the caller alone needs no memory
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
  if (!soon(kLooksForEnd, ended))
    for (int left; (left = unfinished_.load(std::memory_order_acquire)) != 0;) unfinished_.wait(left);
  const std::exception_ptr error = std::exchange(error_, nullptr);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
  return true;
}

void Pool::wake(int workers) {
  int asleep;
  {
    // A worker that goes to sleep has seen the ticket, or is counted here.
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
    // The job cannot end, nor change, before this piece has.
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
    if (!soon(kLooksForWork, called)) {
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
