// Thread pool of the CPU kernels.
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
/// Chunks per thread. If a thread starts late or is slowed down by other programs, the other threads run some
/// of its chunks.
constexpr int kPiecesPerThread = 4;

/// Returns the number of CPUs that this thread may run on and that the cgroup's CPU quota allows. `root` is a
/// prefix of the files' paths, for tests.
int available_cpus(const std::string& root = "");
/// Returns the default number of threads of an op: EBB_NUM_THREADS or OMP_NUM_THREADS if set, otherwise
/// available_cpus().
int default_threads(const std::string& root = "");

/// Returns whether the calling thread runs a chunk of a job. Nested loops then run only on this thread.
bool inside_piece();

/// Runs one job at a time, for the first thread that calls. While a job runs, other callers run their loops
/// on their own threads. A job is divided into chunks. Each thread begins with the chunks of its own share,
/// because its cache may contain these elements from the previous job. It continues with unclaimed chunks of
/// other shares, so that a worker that wakes late does not delay the job. The caller waits until all chunks
/// have finished.
class Pool {
 public:
  /// Starts a pool for jobs that are divided for `asked` threads, and run on at most `most`, including the
  /// caller. If the system refuses some, the pool has at most half of the granted threads.
  explicit Pool(int asked, int most = kMaxThreads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int asked() const { return asked_; }
  /// The number of threads that were started, including the caller.
  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs piece(body, from, to) on `pieces` chunks of [begin, end). When all have ended, rethrows the first
  /// exception. There are at most kPiecesPerThread chunks per asked thread. Returns false, and runs
  /// nothing, while another thread's job runs.
  bool try_run(std::int64_t begin, std::int64_t end, int pieces, Piece piece, void* body);

 private:
  // A ticket contains a job's number and, in the low bits, its number of chunks. It is one word, so that a
  // slow worker never claims a chunk of a newer job.
  static constexpr int kPieceBits = 16;
  static constexpr std::uint64_t kPieces = (std::uint64_t{1} << kPieceBits) - 1;
  static_assert(kMaxThreads * kPiecesPerThread <= kPieces);
  // The slot of a chunk index: the number of the last job whose chunk with this index was claimed. All chunks
  // of a job are claimed before the next job begins.
  struct alignas(64) Taken {
    std::atomic<std::uint64_t> job{0};
  };

  /// Starts `count` threads, including the caller; returns false if the system refuses one of them.
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
  int asleep_ = 0;  // protected by mutex_
  std::atomic<bool> stop_{false};
  std::atomic<bool> busy_{false};
  std::vector<Taken> taken_;  // one per chunk
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> unfinished_{0};  // chunks of the job that have not finished
  // The job. Its fields are written only while no chunk waits or runs. Threads that have claimed a chunk read
  // them.
  std::int64_t begin_ = 0, end_ = 0, pieces_ = 0;
  Piece piece_ = nullptr;
  void* body_ = nullptr;
  std::exception_ptr error_;  // protected by mutex_ while chunks run
};

}  // namespace ebb::cpu::detail
