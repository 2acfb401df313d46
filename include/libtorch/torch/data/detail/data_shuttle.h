// DataShuttle: passes jobs to workers and their results back.
#pragma once

#include <torch/data/detail/queue.h>

#include <cstddef>
#include <utility>

namespace ebb::data::detail {

/// Counts the pending jobs (torch::data::detail::DataShuttle).
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    new_jobs_.push(std::move(job));
    ++in_flight_jobs_;
  }
  /// The workers call these two functions.
  Job pop_job() { return new_jobs_.pop(); }
  void push_result(Result result) { results_.push(std::move(result)); }
  /// Waits for a result. Returns nothing if no job is pending.
  optional<Result> pop_result(optional<std::chrono::milliseconds> timeout = nullopt) {
    if (in_flight_jobs_ == 0) return nullopt;
    Result result = results_.pop(timeout);
    --in_flight_jobs_;
    return result;
  }
  /// Drops the jobs that no worker has taken, and waits for the results of the others.
  void drain() {
    in_flight_jobs_ -= new_jobs_.clear();
    while (in_flight_jobs_ > 0) pop_result();
  }
  std::size_t in_flight_jobs() const noexcept { return in_flight_jobs_; }

 private:
  Queue<Job> new_jobs_;
  Queue<Result> results_;
  std::size_t in_flight_jobs_ = 0;
};

}  // namespace ebb::data::detail
