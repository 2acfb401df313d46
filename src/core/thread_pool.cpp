// The pool: pieces are taken by a counter that carries the number of their job.
#include "core/thread_pool.h"

#include <algorithm>
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

Pool::Pool(int threads) : asked_(threads) {
  const int workers = std::min(threads, kMaxThreads) - 1;
  try {
    threads_.reserve(static_cast<std::size_t>(workers));
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // No more threads for this process: those that started do the work.
  } catch (const std::bad_alloc&) {
  }
}

Pool::~Pool() {
  {
    std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
}

bool Pool::try_run(std::int64_t begin, std::int64_t end, int pieces, Piece piece, void* body) {
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  begin_ = begin;
  end_ = end;
  pieces_ = pieces;
  piece_ = piece;
  body_ = body;
  unfinished_.store(pieces, std::memory_order_relaxed);
  const std::uint64_t job = (ticket_.load(std::memory_order_relaxed) >> kLeftBits) + 1;
  ticket_.store(job << kLeftBits | static_cast<std::uint64_t>(pieces), std::memory_order_release);
  wake(pieces - 1);
  take_pieces(true);
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

void Pool::take_pieces(bool caller) {
  const bool before = std::exchange(inside, true);
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while ((ticket & kLeft) != 0) {
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acquire)) continue;
    // The job cannot end, nor change, before this piece has.
    run_piece(pieces_ - static_cast<std::int64_t>(ticket & kLeft));
    if (unfinished_.fetch_sub(1) == 1 && !caller) unfinished_.notify_one();
    ticket = ticket_.load(std::memory_order_acquire);
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

void Pool::work() {
  const auto called = [&] { return work_waits() || stop_.load(std::memory_order_relaxed); };
  for (;;) {
    if (!soon(kLooksForWork, called)) {
      std::unique_lock lock(mutex_);
      ++asleep_;
      wake_.wait(lock, called);
      --asleep_;
    }
    if (stop_.load(std::memory_order_relaxed)) return;
    take_pieces(false);
  }
}

}  // namespace ebb::cpu::detail
