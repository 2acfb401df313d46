// The threads that CPU kernels share.
#pragma once

#include "core/parallel_for.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ebb::cpu::detail {

constexpr int kMaxThreads = 1024;
/// Pieces of a job for each thread: one that is late, or slowed down by others of the machine, leaves some of
/// its own to the rest.
constexpr int kPiecesPerThread = 4;

/// How many threads an op uses unless told: EBB_NUM_THREADS or OMP_NUM_THREADS if set, else as many as the
/// CPUs that this thread may run on and that the quota of the process's control group pays for.
/// `root` is put before the paths that say so, for tests.
int default_threads(const std::string& root = "");

/// True on a thread that runs a piece of a job: what it calls does not share its work again.
bool inside_piece();

/// One job at a time, for the first thread that asks; others meanwhile work alone. A job is cut in pieces.
/// Each thread begins with those of its own share, whose elements its cache has from the job before, and goes
/// on with those that nobody has taken: a worker that wakes late costs nothing but its share. The caller
/// waits for pieces that somebody has begun.
class Pool {
 public:
  /// For `threads` threads, the caller's among them; where the system refuses some, at most
  /// half of those that it grants.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int asked() const { return asked_; }
  /// The threads that there are.
  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs piece(body, from, to) on `pieces` (at most kPiecesPerThread for each thread asked for) pieces of
  /// [begin, end), and rethrows the first exception once all have ended. False, and nothing done, while
  /// another thread's job runs.
  bool try_run(std::int64_t begin, std::int64_t end, int pieces, Piece piece, void* body);

 private:
  // A job's number, and below it how many pieces it has: one word, so that a worker that took too long to
  // look never takes a piece of a job that it has not seen.
  static constexpr int kPieceBits = 16;
  static constexpr std::uint64_t kPieces = (std::uint64_t{1} << kPieceBits) - 1;
  static_assert(kMaxThreads * kPiecesPerThread <= kPieces);
  // The last job that somebody took the piece for. All pieces of a job are taken before the next one begins.
  struct alignas(64) Taken {
    std::atomic<std::uint64_t> job{0};
  };

  /// So many threads, the caller's among them; false where the system refuses one of them.
  bool start(std::size_t count);
  void stop();
  void wake(int workers);
  void take_pieces(std::uint64_t ticket, std::size_t thread);
  void run_piece(std::int64_t i);
  void work(std::size_t thread);

  const int asked_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int asleep_ = 0;  // under mutex_
  std::atomic<bool> stop_{false};
  std::atomic<bool> busy_{false};
  std::vector<Taken> taken_;  // a piece each
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> unfinished_{0};  // pieces of the job, taken or not
  // The job; written while no piece waits or runs, read by those who have taken a piece.
  std::int64_t begin_ = 0, end_ = 0, pieces_ = 0;
  Piece piece_ = nullptr;
  void* body_ = nullptr;
  std::exception_ptr error_;  // under mutex_ while pieces run
};

}  // namespace ebb::cpu::detail
