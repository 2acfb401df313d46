// ReadAhead: a thread that computes values before they are needed.
#pragma once

#include <ebb/core/start_thread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ebb::data::detail {

/// Computes up to `count` values of `next` ahead, until it returns nothing.
template <class T>
class ReadAhead {
 public:
  ReadAhead(std::function<std::optional<T>()> next, std::size_t count)
      : next_(std::move(next)),
        count_(count),
        thread_(ebb::detail::start_thread<std::thread>("Pipeline::prefetch", [this] { read(); })) {}
  ~ReadAhead() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Returns the next value, or nothing at the end. Rethrows the exception of `next`, which ends the
  /// sequence.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty() || ended_; });
    if (waiting_.empty()) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return std::nullopt;
    }
    std::optional<T> value = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return value;
  }

 private:
  void read() {
    std::exception_ptr error;
    try {
      while (std::optional<T> value = next_()) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_.size() < count_ || stop_; });
        if (stop_) return;
        waiting_.push_back(std::move(*value));
        lock.unlock();
        changed_.notify_all();
      }
    } catch (...) {
      error = std::current_exception();
    }
    {
      std::lock_guard lock(mutex_);
      error_ = error;
      ended_ = true;
    }
    changed_.notify_all();
  }

  std::function<std::optional<T>()> next_;
  std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> waiting_;
  std::exception_ptr error_;
  bool stop_ = false, ended_ = false;
  std::thread thread_;  // last, because it starts when all other members are initialized
};

}  // namespace ebb::data::detail
