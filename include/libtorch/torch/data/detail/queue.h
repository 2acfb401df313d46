// Queue: a thread-safe queue.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <utility>

namespace ebb::data::detail {

/// A first-in, first-out queue. Any thread may push and pop (torch::data::detail::Queue).
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      values_.push(std::move(value));
    }
    pushed_.notify_one();
  }

  /// Waits for a value. Throws if none arrives before the timeout.
  T pop(optional<std::chrono::milliseconds> timeout = nullopt) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto any = [this] { return !values_.empty(); };
    if (timeout)
      EBB_CHECK(pushed_.wait_for(lock, *timeout, any),
                "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                static_cast<std::int64_t>(timeout->count()), " ms)");
    else
      pushed_.wait(lock, any);
    T value = std::move(values_.front());
    values_.pop();
    return value;
  }

  /// Drops all values and returns their number.
  std::size_t clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(values_, {}).size();
  }

 private:
  std::queue<T> values_;
  std::mutex mutex_;
  std::condition_variable pushed_;
};

}  // namespace ebb::data::detail
