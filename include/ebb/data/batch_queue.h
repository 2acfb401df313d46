// BatchQueue: passes examples from the threads that read chunks to the threads that take batches.
#pragma once

#include <ebb/core/error.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace ebb::data::detail {

/// Stores the examples of chunks in the order of a sampler, and returns them in batches. At most `cache_size`
/// examples are queued, plus the examples of one chunk per thread.
template <class Batch, class ExampleSampler>
class BatchQueue {
 public:
  BatchQueue(std::size_t batch_size, ExampleSampler& sampler, std::size_t cache_size)
      : batch_size_(batch_size), sampler_(sampler), cache_size_(cache_size) {}

  /// Returns the next batch. Waits until it is full or no more examples follow. An error of a reader is
  /// thrown in place of its chunk. If memory does not suffice to queue the error, it is thrown immediately.
  std::optional<Batch> take() {
    std::unique_lock lock(mutex_);
    readable_.wait(lock,
                   [&] { return examples_ >= batch_size_ || stopped_ || next_is_error() || without_place_; });
    if (without_place_) std::rethrow_exception(std::exchange(without_place_, nullptr));
    if (waiting_.empty()) return std::nullopt;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    examples_ -= item.batch.size();
    lock.unlock();
    writable_.notify_all();
    if (item.error) std::rethrow_exception(item.error);
    return std::move(item.batch);
  }

  void add(Batch chunk) {
    std::unique_lock lock(mutex_);
    if (!wait_for_room(lock)) return;
    sampler_.reset(chunk.size());
    std::size_t left = chunk.size();
    while (left > 0) {
      Item item;
      const bool fresh =
          waiting_.empty() || waiting_.back().error || waiting_.back().batch.size() >= batch_size_;
      Batch& last = fresh ? item.batch : waiting_.back().batch;
      const std::size_t count = left < batch_size_ - last.size() ? left : batch_size_ - last.size();
      const auto indices = sampler_.next(count);
      EBB_CHECK(indices && indices->size() == count,
                "ChunkDataset: the example sampler gave fewer indices than the chunk has examples.");
      for (const std::size_t i : *indices) {
        EBB_CHECK(i < chunk.size(), "ChunkDataset: the example sampler gave index ", std::uint64_t{i},
                  " for a chunk of ", std::uint64_t{chunk.size()}, " examples.");
        last.push_back(std::move(chunk[i]));
        examples_ += fresh ? 0 : 1;
      }
      if (fresh) {
        waiting_.push_back(std::move(item));
        examples_ += count;
      }
      left -= count;
    }
    lock.unlock();
    readable_.notify_all();
  }

  void add(std::exception_ptr error) noexcept {
    readable_.notify_all();  // the examples of a chunk that were queued before it failed
    std::unique_lock lock(mutex_);
    if (!wait_for_room(lock)) return;
    try {
      waiting_.emplace_back().error = error;
    } catch (...) {
      without_place_ = error;
    }
    lock.unlock();
    readable_.notify_all();
  }

  /// Ends the queue: no more examples are accepted.
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    readable_.notify_all();
    writable_.notify_all();
  }

 private:
  struct Item {
    Batch batch;
    std::exception_ptr error;
  };

  bool next_is_error() const { return !waiting_.empty() && waiting_.front().error; }
  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    writable_.wait(lock, [&] { return examples_ < cache_size_ || stopped_; });
    return !stopped_;
  }

  std::size_t batch_size_;
  ExampleSampler& sampler_;
  std::size_t cache_size_;
  std::mutex mutex_;
  std::condition_variable readable_, writable_;
  std::deque<Item> waiting_;
  std::exception_ptr without_place_;
  std::size_t examples_ = 0;
  bool stopped_ = false;
};

}  // namespace ebb::data::detail
