// Iterator of a loader, for range-based for loops.
#pragma once

#include <ebb/core/error.h>

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace ebb::data {

/// Iterates over the batches of one epoch (torch::data::Iterator). The first batch is read on first access.
/// Copies share their position and compare equal. An iterator at the end equals all other ends. Any other
/// iterator equals only its copies. An iterator must not outlive the loader.
template <class Batch>
class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;

  /// Creates an end iterator.
  Iterator() = default;
  /// Iterates over the results of `next` until it returns nothing.
  explicit Iterator(std::function<std::optional<Batch>()> next)
      : position_(std::make_shared<Position>(std::move(next))) {}

  /// Moves to the next batch. At the end it throws ebb::Error, as * and -> do.
  Iterator& operator++() {
    EBB_CHECK(position_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    EBB_CHECK(position_->batch(), "Attempted to increment iterator past the end");
    position_->advance();
    return *this;
  }
  Batch& operator*() const {
    EBB_CHECK(position_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    EBB_CHECK(position_->batch(), "Attempted to dereference iterator that was past the end");
    return *position_->batch();
  }
  Batch* operator->() const { return &**this; }
  bool operator==(const Iterator& other) const {
    if (position_ && other.position_) return position_ == other.position_;
    return at_end() && other.at_end();
  }

  /// Returns a pointer that expires when the last copy is destroyed.
  std::weak_ptr<const void> watch() const { return position_; }

 private:
  class Position {
   public:
    explicit Position(std::function<std::optional<Batch>()> next) : next_(std::move(next)) {}
    std::optional<Batch>& batch() {
      if (!started_) advance();
      return batch_;
    }
    void advance() {
      batch_ = next_();
      started_ = true;
    }

   private:
    std::function<std::optional<Batch>()> next_;
    std::optional<Batch> batch_;
    bool started_ = false;
  };

  bool at_end() const { return !position_ || !position_->batch(); }

  std::shared_ptr<Position> position_;
};

}  // namespace ebb::data
