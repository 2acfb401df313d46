// What a range-based for over a loader walks with.
#pragma once

#include <ebb/core/error.h>

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace ebb::data {

/// Walks over the batches of one epoch, once (torch::data::Iterator). The first batch is read when it is
/// first asked for. Copies share their place and are equal; all ends are equal; an iterator that has come to
/// the end is equal to them, and one that has not is equal to nothing else. It must not outlive the loader.
template <class Batch>
class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;

  /// The end.
  Iterator() = default;
  /// Over what `next` gives, until that is nothing.
  explicit Iterator(std::function<std::optional<Batch>()> next)
      : place_(std::make_shared<Place>(std::move(next))) {}

  /// Throws ebb::Error at the end, as * and -> do.
  Iterator& operator++() {
    EBB_CHECK(place_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    EBB_CHECK(place_->batch(), "Attempted to increment iterator past the end");
    place_->advance();
    return *this;
  }
  Batch& operator*() const {
    EBB_CHECK(place_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    EBB_CHECK(place_->batch(), "Attempted to dereference iterator that was past the end");
    return *place_->batch();
  }
  Batch* operator->() const { return &**this; }
  bool operator==(const Iterator& other) const {
    if (place_ && other.place_) return place_ == other.place_;
    return at_end() && other.at_end();
  }

  /// Expires with the last of the copies.
  std::weak_ptr<const void> watch() const { return place_; }

 private:
  class Place {
   public:
    explicit Place(std::function<std::optional<Batch>()> next) : next_(std::move(next)) {}
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

  bool at_end() const { return !place_ || !place_->batch(); }

  std::shared_ptr<Place> place_;
};

}  // namespace ebb::data
