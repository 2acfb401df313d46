// DataLoaderBase: requests, prefetching workers, and the order of batches.
#pragma once

#include <ebb/archive.h>
#include <ebb/core/arg.h>
#include <ebb/core/error.h>
#include <ebb/data/iterator.h>
#include <ebb/data/pinned.h>
#include <ebb/data/worker_exception.h>

#include <condition_variable>  // declares durations; <chrono> also declares calendars and takes twice as long
                               // to compile
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ebb::data {

/// Options of a loader. Setters chain: `DataLoaderOptions(64).workers(2).drop_last(true)`.
class DataLoaderOptions {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(std::size_t batch_size) : batch_size_(batch_size) {}
  /// The maximum number of prefetched batches. The default is twice the number of workers.
  DataLoaderOptions& max_jobs(optional<std::size_t> n) { return max_jobs_ = n, *this; }
  std::size_t max_jobs() const { return max_jobs_.value_or(2 * workers_); }

  EBB_ARG(std::size_t, batch_size) = 1;  ///< samples in a batch
  EBB_ARG(std::size_t, workers) = 0;     ///< threads that read; 0 reads in the calling thread
  /// The time to wait for a batch before an error. The default is unlimited.
  EBB_ARG(optional<std::chrono::milliseconds>, timeout);
  /// Whether batches come in the sampler's order, so that the number of workers does not change the results.
  EBB_ARG(bool, enforce_ordering) = true;
  EBB_ARG(bool, drop_last) = false;  ///< skips an incomplete last batch
  /// Whether batches are copied to page-locked memory if there is CUDA (<ebb/data/pinned.h>), so that
  /// `batch.data.to(kCUDA, kFloat, /*non_blocking=*/true)` does not wait. If there are workers, they copy.
  EBB_ARG(bool, pin_memory) = false;

 private:
  optional<std::size_t> max_jobs_;
};

/// The options of a loader, with all defaults resolved.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& o)
      : batch_size(o.batch_size()),
        workers(o.workers()),
        max_jobs(o.max_jobs()),
        timeout(o.timeout()),
        enforce_ordering(o.enforce_ordering()),
        drop_last(o.drop_last()),
        pin_memory(o.pin_memory()) {}
  std::size_t batch_size, workers, max_jobs;
  optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last, pin_memory;
};

/// Iterates over the batches of one epoch. Each begin() starts a new epoch, also after a loop that ended
/// early. Requests are created in the calling thread. The iterator rethrows an error of a worker as a
/// WorkerException. The destructor of a derived class must call join().
template <class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  virtual ~DataLoaderBase() = default;
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  /// Starts an epoch. Throws if workers still prefetch for an existing iterator of the previous epoch.
  Iterator<Batch> begin() {
    EBB_CHECK(
        jobs_.empty() || iterators_.expired(),
        "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted. Take it "
        "to the end, or destroy it first.");
    drain();
    // Starts the threads before any random number is drawn. If the system refuses a thread, a later begin()
    // therefore still gives the same order.
    threads_.reserve(options_.workers());  // push_back cannot throw after a thread has started
    while (threads_.size() < options_.workers()) threads_.push_back(start_worker());
    exhausted_ = false;
    if (resume_at_) {
      for (std::size_t i = 0; i < *resume_at_; ++i) (void)next_request();
      delivered_ = std::exchange(resume_at_, nullopt);
    } else {
      reset();
      delivered_ = 0;
    }
    if (options_.workers() > 0) fill();
    Iterator<Batch> first([this] {
      optional<Batch> batch = next();
      if (batch)
        ++*delivered_;
      else
        delivered_.reset();
      return batch;
    });
    iterators_ = first.watch();
    return first;
  }
  Iterator<Batch> end() { return {}; }
  FullDataLoaderOptions options() const { return FullDataLoaderOptions(options_); }
  /// Returns the number of batches delivered in the current epoch. Returns nothing if it has ended, was
  /// abandoned or has not begun. After load() it is the number with which the next begin() continues.
  optional<std::size_t> delivered() const {
    if (resume_at_) return resume_at_;
    return iterators_.expired() ? nullopt : delivered_;
  }

  /// Saves the position within the epoch: the order of the epoch and the number of batches delivered (not
  /// prefetched). After load(), the next begin() continues from there without drawing a new order. If the
  /// saved epoch had ended or was abandoned, begin() starts a new one. A user-defined sampler must draw all
  /// its random numbers in reset(). Throws if the sampler cannot be saved.
  virtual void save(serialize::OutputArchive&) const {
    ebb::detail::fail(
        "DataLoader: a loader of a stateful dataset has no position of its own. Save the dataset.");
  }
  virtual void load(serialize::InputArchive&) {
    ebb::detail::fail(
        "DataLoader: a loader of a stateful dataset has no position of its own. Load the dataset.");
  }

  /// Ends the workers. A later begin() starts them again.
  void join() {
    drain();
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    stop_ = false;
  }

 protected:
  explicit DataLoaderBase(DataLoaderOptions options) : options_(options) {
    EBB_CHECK(options_.batch_size() > 0, "DataLoader: batch_size must be at least 1, got 0.");
  }

  /// Resets the source before each epoch, while no worker reads.
  virtual void reset() = 0;
  /// Returns the next request, or nothing at the end of the epoch.
  virtual optional<BatchRequest> next_request() = 0;
  /// Makes the next begin() skip `batches` batches. The sampler must be at the start of the epoch.
  void resume_at(optional<std::size_t> batches) {
    drain();
    iterators_.reset();
    resume_at_ = batches;
  }
  /// Reads in the calling thread. A result without a batch ends the epoch.
  virtual optional<Batch> read(BatchRequest request) = 0;
  /// Starts a thread that runs work().
  virtual std::thread start_worker() = 0;

  /// Takes jobs until join() and reads them with `dataset.get_batch`.
  template <class DatasetType>
  void work(DatasetType& dataset) {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::shared_ptr<Job> job;
      changed_.wait(lock, [&] {
        if (stop_) return true;
        for (auto& candidate : jobs_)
          if (!candidate->taken) {
            job = candidate;
            return true;
          }
        return false;
      });
      if (!job) return;
      job->taken = true;
      lock.unlock();
      try {
        job->batch = ready(dataset.get_batch(std::move(job->request)));
      } catch (...) {
        job->error = std::current_exception();
        describe(*job, dataset);
      }
      lock.lock();
      job->done = true;
      changed_.notify_all();
    }
  }

  DataLoaderOptions options_;

 private:
  struct Job {
    explicit Job(BatchRequest what) : request(std::move(what)) {}
    BatchRequest request;
    optional<Batch> batch;
    std::exception_ptr error;
    std::string where;  // the request that failed
    bool taken = false, done = false;
  };

  // Adds the request to the error, unless memory does not suffice to describe it.
  template <class DatasetType>
  static void describe(Job& job, const DatasetType& dataset) noexcept {
    try {
      job.where = detail::request_of(dataset, job.request);
    } catch (...) {
      job.where.clear();
    }
  }

  optional<Batch> ready(optional<Batch> batch) const {
    if (batch && options_.pin_memory()) return pinned(std::move(*batch));
    return batch;
  }

  optional<Batch> next() {
    if (options_.workers() == 0) {
      optional<BatchRequest> request = next_request();
      return request ? ready(read(std::move(*request))) : nullopt;
    }
    for (;;) {
      fill();
      const std::shared_ptr<Job> job = next_done();
      if (!job) return nullopt;
      if (job->error) throw WorkerException(job->error, job->where);
      if (job->batch) {
        fill();
        return std::move(job->batch);
      }
      exhausted_ = true;  // batches that other workers have read still follow
    }
  }

  // Waits for the next finished job. Returns null if no job is pending.
  std::shared_ptr<Job> next_done() {
    std::unique_lock lock(mutex_);
    if (jobs_.empty()) return nullptr;
    typename std::deque<std::shared_ptr<Job>>::iterator found;
    const auto is_ready = [&] {
      found = jobs_.begin();
      if (!options_.enforce_ordering())
        while (found != jobs_.end() && !(*found)->done) ++found;
      return found != jobs_.end() && (*found)->done;
    };
    if (!options_.timeout())
      changed_.wait(lock, is_ready);
    else
      EBB_CHECK(changed_.wait_for(lock, *options_.timeout(), is_ready), "DataLoader: no batch came within ",
                static_cast<std::int64_t>(options_.timeout()->count()),
                " ms. Raise timeout(), or use more workers.");
    std::shared_ptr<Job> job = std::move(*found);
    jobs_.erase(found);
    return job;
  }

  // Keeps max_jobs requests pending.
  void fill() {
    while (!exhausted_) {
      {
        std::lock_guard lock(mutex_);
        // Keeps at least one request pending, even if max_jobs is 0.
        if (!jobs_.empty() && jobs_.size() >= options_.max_jobs()) return;
      }
      optional<BatchRequest> request = next_request();
      if (!request) return;
      auto job = std::make_shared<Job>(std::move(*request));
      {
        std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
      }
      changed_.notify_all();
    }
  }

  // Waits for running jobs and drops all prefetched batches.
  void drain() {
    std::unique_lock lock(mutex_);
    for (auto& job : jobs_) job->done |= !job->taken, job->taken = true;
    changed_.wait(lock, [&] {
      for (auto& job : jobs_)
        if (!job->done) return false;
      return true;
    });
    jobs_.clear();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::weak_ptr<const void> iterators_;  // expires with the iterators of the last epoch
  std::vector<std::thread> threads_;
  optional<std::size_t> delivered_, resume_at_;
  bool stop_ = false, exhausted_ = false;
};

}  // namespace ebb::data
