// Batches of a dataset, read ahead by worker threads.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/core/error.h>
#include <ebb/data/datasets.h>
#include <ebb/data/iterator.h>
#include <ebb/data/samplers.h>

#include <condition_variable>  // brings durations; <chrono>, with its calendars, costs twice as much
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ebb::data {

/// How batches are made; setters chain: `DataLoaderOptions(64).workers(2).drop_last(true)`.
class DataLoaderOptions {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(std::size_t batch_size) : batch_size_(batch_size) {}
  /// Batches read ahead; twice the workers unless set.
  DataLoaderOptions& max_jobs(optional<std::size_t> n) { return max_jobs_ = n, *this; }
  std::size_t max_jobs() const { return max_jobs_.value_or(2 * workers_); }

  EBB_ARG(std::size_t, batch_size) = 1;  ///< samples in a batch
  EBB_ARG(std::size_t, workers) = 0;     ///< threads that read; 0 reads in the calling thread
  /// How long to wait for a batch before an error; for ever unless set.
  EBB_ARG(optional<std::chrono::milliseconds>, timeout);
  /// Whether batches come in the sampler's order, so that workers do not change the result.
  EBB_ARG(bool, enforce_ordering) = true;
  EBB_ARG(bool, drop_last) = false;  ///< leaves an incomplete last batch out

 private:
  optional<std::size_t> max_jobs_;
};

/// The options of a loader, with every default filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& o)
      : batch_size(o.batch_size()),
        workers(o.workers()),
        max_jobs(o.max_jobs()),
        timeout(o.timeout()),
        enforce_ordering(o.enforce_ordering()),
        drop_last(o.drop_last()) {}
  std::size_t batch_size, workers, max_jobs;
  optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

/// Iterates over the batches of one epoch; each begin() resets the sampler and starts a new one. The sampler
/// runs in the calling thread, so the order is that of the seed whatever the number of workers. Workers have
/// copies of the dataset. An exception in a worker is thrown by the iterator. A loop that is left early
/// leaves nothing behind: the next begin() starts afresh.
template <class DatasetType, class SamplerType>
class StatelessDataLoader {
 public:
  using BatchType = typename DatasetType::BatchType;
  using BatchRequestType = typename SamplerType::BatchRequestType;

  StatelessDataLoader(DatasetType dataset, SamplerType sampler, DataLoaderOptions options)
      : dataset_(std::move(dataset)), sampler_(std::move(sampler)), options_(options) {
    EBB_CHECK(options_.batch_size() > 0, "DataLoader: batch_size must be at least 1, got 0.");
  }
  ~StatelessDataLoader() { join(); }
  StatelessDataLoader(const StatelessDataLoader&) = delete;
  StatelessDataLoader& operator=(const StatelessDataLoader&) = delete;

  /// Starts an epoch. Throws while workers read ahead for an iterator of the last one that is still around.
  Iterator<BatchType> begin() {
    EBB_CHECK(
        jobs_.empty() || walk_.expired(),
        "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted. Take it "
        "to the end, or let it go first.");
    drain();
    sampler_.reset(nullopt);
    while (threads_.size() < options_.workers())
      threads_.emplace_back([this, copy = dataset_]() mutable { work(copy); });
    if (options_.workers() > 0) fill();
    Iterator<BatchType> first([this] { return next(); });
    walk_ = first.watch();
    return first;
  }
  Iterator<BatchType> end() { return {}; }
  FullDataLoaderOptions options() const { return FullDataLoaderOptions(options_); }

  /// Ends the workers; a later begin() starts them again.
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

 private:
  struct Job {
    BatchRequestType request;
    optional<BatchType> batch;
    std::exception_ptr error;
    bool taken = false, done = false;
  };

  optional<BatchRequestType> next_request() {
    optional<BatchRequestType> request = sampler_.next(options_.batch_size());
    if (request && options_.drop_last() && request->size() < options_.batch_size()) return nullopt;
    return request;
  }

  optional<BatchType> next() {
    if (options_.workers() == 0) {
      optional<BatchRequestType> request = next_request();
      if (!request) return nullopt;
      return dataset_.get_batch(*request);
    }
    fill();
    std::unique_lock lock(mutex_);
    if (jobs_.empty()) return nullopt;
    typename std::deque<std::shared_ptr<Job>>::iterator ready;
    const auto is_ready = [&] {
      ready = jobs_.begin();
      if (!options_.enforce_ordering())
        while (ready != jobs_.end() && !(*ready)->done) ++ready;
      return ready != jobs_.end() && (*ready)->done;
    };
    if (!options_.timeout())
      changed_.wait(lock, is_ready);
    else
      EBB_CHECK(changed_.wait_for(lock, *options_.timeout(), is_ready), "DataLoader: no batch came within ",
                static_cast<std::int64_t>(options_.timeout()->count()),
                " ms. Raise timeout(), or use more workers.");
    const std::shared_ptr<Job> job = *ready;
    jobs_.erase(ready);
    lock.unlock();
    if (job->error) std::rethrow_exception(job->error);
    fill();
    return std::move(job->batch);
  }

  // Keeps max_jobs requests under way.
  void fill() {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (jobs_.size() >= std::max<std::size_t>(options_.max_jobs(), 1)) return;
      }
      optional<BatchRequestType> request = next_request();
      if (!request) return;
      auto job = std::make_shared<Job>();
      job->request = std::move(*request);
      {
        std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
      }
      changed_.notify_all();
    }
  }

  // Forgets what was read ahead, once nobody works on it.
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
        job->batch = dataset.get_batch(job->request);
      } catch (...) {
        job->error = std::current_exception();
      }
      lock.lock();
      job->done = true;
      changed_.notify_all();
    }
  }

  DatasetType dataset_;
  SamplerType sampler_;
  DataLoaderOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::weak_ptr<const void> walk_;  // the iterators of the last epoch
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

/// A loader over `dataset` in the order of `sampler`.
template <class DatasetType, class SamplerType>
requires requires(SamplerType& s) { s.next(std::size_t{1}); }
std::unique_ptr<StatelessDataLoader<DatasetType, SamplerType>> make_data_loader(
    DatasetType dataset, SamplerType sampler, DataLoaderOptions options = {}) {
  return std::make_unique<StatelessDataLoader<DatasetType, SamplerType>>(std::move(dataset),
                                                                         std::move(sampler), options);
}

/// A loader in random order, or in that of the sampler type given:
/// `make_data_loader<SequentialSampler>(dataset, 64)`.
template <class SamplerType = samplers::RandomSampler, class DatasetType>
std::unique_ptr<StatelessDataLoader<DatasetType, SamplerType>> make_data_loader(
    DatasetType dataset, DataLoaderOptions options = {}) {
  const optional<std::size_t> size = dataset.size();
  EBB_CHECK(size.has_value(), "make_data_loader: the dataset does not know its size; give a sampler.");
  return make_data_loader(std::move(dataset), SamplerType(*size), options);
}

}  // namespace ebb::data
