// Sequencers: the order in which results of workers are returned.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace ebb::data::detail::sequencers {

template <class Result>
struct Sequencer {
  using ResultProducer = std::function<optional<Result>()>;
  virtual ~Sequencer() = default;
  /// Returns the next result; nothing if `next_result` returns nothing.
  virtual optional<Result> next(ResultProducer next_result) = 0;
};

/// Returns results in order of arrival.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

/// Returns results in order of their `sequence_number`, from 0. Results that arrive early are buffered. The
/// buffer has room for `max_jobs` results, so at most `max_jobs` jobs may be pending.
template <class Result>
struct OrderedSequencer : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(std::size_t max_jobs) : buffer_(max_jobs) {}

  optional<Result> next(ResultProducer next_result) override {
    if (optional<Result>& waiting = buffer(next_sequence_number_)) {
      ++next_sequence_number_;
      return std::exchange(waiting, nullopt);
    }
    while (optional<Result> result = next_result()) {
      if (result->sequence_number == next_sequence_number_) {
        ++next_sequence_number_;
        return result;
      }
      buffer(result->sequence_number) = std::move(result);
    }
    EBB_CHECK(std::none_of(buffer_.begin(), buffer_.end(), [](const auto& one) { return one.has_value(); }),
              "OrderedSequencer: there is no result with the sequence number ",
              std::uint64_t{next_sequence_number_}, ", but there are later ones.");
    return nullopt;
  }

  optional<Result>& buffer(std::size_t index) { return buffer_.at(index % buffer_.size()); }

  std::size_t next_sequence_number_ = 0;
  std::vector<optional<Result>> buffer_;
};

}  // namespace ebb::data::detail::sequencers
