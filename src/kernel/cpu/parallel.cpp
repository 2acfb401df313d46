#include "kernel/cpu/parallel.h"

#include <ebb/core/error.h>
#include <ebb/core/parallel.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ebb {
namespace cpu::detail {
namespace {

thread_local bool inside = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// One job at a time, for the first thread that asks; others meanwhile work alone. Pieces are handed out by a
// counter, so a thread that wakes late costs nothing but its share.
class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      epoch_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  int size() const { return static_cast<int>(threads_.size()) + 1; }

  bool try_run(std::int64_t begin, std::int64_t end, std::int64_t pieces, Piece piece, void* body) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    piece_ = piece;
    body_ = body;
    begin_ = begin;
    end_ = end;
    pieces_ = pieces;
    error_ = nullptr;
    next_.store(0, std::memory_order_relaxed);
    left_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    {
      std::lock_guard lock(mutex_);
      epoch_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    take_pieces();
    while (left_.load(std::memory_order_acquire) != 0) relax();
    const std::exception_ptr error = std::exchange(error_, nullptr);
    busy_.store(false, std::memory_order_release);
    if (error) std::rethrow_exception(error);
    return true;
  }

 private:
  void take_pieces() {
    const bool before = std::exchange(inside, true);
    for (;;) {
      const std::int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= pieces_) break;
      const std::int64_t n = end_ - begin_, base = n / pieces_, extra = n % pieces_;
      const std::int64_t from = begin_ + i * base + std::min(i, extra);
      try {
        piece_(body_, from, from + base + (i < extra ? 1 : 0));
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
    inside = before;
  }

  void work() {
    std::uint64_t seen = 0;
    for (;;) {
      // Jobs of a training step follow each other within microseconds: look for the next a while before
      // sleeping.
      for (int spin = 0; spin < 4000 && epoch_.load(std::memory_order_acquire) == seen; ++spin) relax();
      if (epoch_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return epoch_.load(std::memory_order_acquire) != seen; });
      }
      seen = epoch_.load(std::memory_order_acquire);
      if (stop_) return;
      take_pieces();
      left_.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<bool> busy_{false};
  std::atomic<int> left_{0};
  std::atomic<std::int64_t> next_{0};
  std::int64_t begin_ = 0, end_ = 0, pieces_ = 0;
  Piece piece_ = nullptr;
  void* body_ = nullptr;
  std::exception_ptr error_;
  std::atomic<bool> stop_{false};
};

int default_threads() {
  for (const char* name : {"EBB_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* value = std::getenv(name))
      if (const int n = std::atoi(value); n > 0) return std::min(n, 1024);
  return std::max(1u, std::thread::hardware_concurrency());
}

std::mutex pool_mutex;
std::atomic<int> threads{0};

int thread_count() {
  int n = threads.load(std::memory_order_relaxed);
  if (n == 0) {
    n = default_threads();
    threads.store(n, std::memory_order_relaxed);
  }
  return n;
}

// Shared with running jobs, so that set_num_threads never pulls the pool from under one.
std::shared_ptr<Pool> pool() {
  static std::shared_ptr<Pool>& current = *new std::shared_ptr<Pool>;  // its threads end with the process
  std::lock_guard lock(pool_mutex);
  if (!current || current->size() != thread_count()) current = std::make_shared<Pool>(thread_count() - 1);
  return current;
}

}  // namespace

void parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, Piece piece, void* body) {
  const std::int64_t n = thread_count();
  const std::int64_t pieces = std::min(n, (end - begin + grain - 1) / std::max<std::int64_t>(grain, 1));
  if (inside || pieces < 2 || !pool()->try_run(begin, end, pieces, piece, body)) piece(body, begin, end);
}

}  // namespace cpu::detail

int get_num_threads() { return cpu::detail::thread_count(); }

void set_num_threads(int threads) {
  EBB_CHECK(threads > 0, "set_num_threads: expected a positive number of threads, got ", threads, ".");
  cpu::detail::threads.store(threads, std::memory_order_relaxed);
}

}  // namespace ebb
