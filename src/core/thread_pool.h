// The threads that CPU kernels share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/parallel_for.h"

namespace ebb::cpu::detail {

constexpr int kMaxThreads = 1024;

/// How many threads an op uses unless told: EBB_NUM_THREADS or OMP_NUM_THREADS if set, else as many as the
/// CPUs that this thread may run on and that the quota of the process's control group pays for.
/// `root` is put before the paths that say so, for tests.
int default_threads(const std::string& root = "");

/// True on a thread that runs a piece of a job: what it calls does not share its work again.
bool inside_piece();

/// One job at a time, for the first thread that asks; others meanwhile work alone. A job is cut in pieces
/// that the caller and the workers take as they come, so that a worker that wakes late costs nothing but its
/// share: the caller does what nobody has taken, and waits for pieces that somebody has begun.
class Pool {
 public:
  /// For `threads` threads, the caller's among them; fewer, down to that one, where the system refuses more.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int asked() const { return asked_; }
  /// The threads that there are.
  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs piece(body, from, to) on `pieces` (at most kMaxThreads) pieces of [begin, end), and rethrows the
  /// first exception once all have ended. False, and nothing done, while another thread's job runs.
  bool try_run(std::int64_t begin, std::int64_t end, int pieces, Piece piece, void* body);

 private:
  // A job's number, and below it how many of its pieces nobody has taken yet. One word, so that a worker that
  // took too long to look cannot take a piece of a job whose parameters it has not seen.
  static constexpr int kLeftBits = 16;
  static constexpr std::uint64_t kLeft = (std::uint64_t{1} << kLeftBits) - 1;
  static_assert(kMaxThreads <= kLeft);

  bool work_waits() const { return (ticket_.load(std::memory_order_acquire) & kLeft) != 0; }
  void wake(int workers);
  void take_pieces(bool caller);
  void run_piece(std::int64_t i);
  void work();

  const int asked_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int asleep_ = 0;  // under mutex_
  std::atomic<bool> stop_{false};
  std::atomic<bool> busy_{false};
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> unfinished_{0};  // pieces of the job, taken or not
  // The job; written while no piece waits or runs, read by those who have taken a piece.
  std::int64_t begin_ = 0, end_ = 0, pieces_ = 0;
  Piece piece_ = nullptr;
  void* body_ = nullptr;
  std::exception_ptr error_;  // under mutex_ while pieces run
};

}  // namespace ebb::cpu::detail
