// Buckets: gradients that lie in one memory, and are reduced together.
#pragma once

#include <ebb/distributed/data_parallel.h>

#include "distributed/replicas.h"

namespace ebb::distributed::detail {

/// The gradients of parameters, in buckets of one dtype and device each. A bucket ends with one flag for each
/// parameter, which says whether this rank has used it. So the reduced flag says whether any rank has.
class Buckets {
 public:
  explicit Buckets(DistributedDataParallelOptions options) : options_(std::move(options)) {}

  /// Reduces the gradients of these parameters from now on.
  void assign(const Variables& parameters);
  const Variable& parameter(std::size_t i) const { return slots_[i].parameter; }
  /// Notes that a gradient of the parameter has been added since the last reduction.
  void touch(std::size_t i) { slots_[i].touched = true; }
  /// Notes that the gradient of the parameter is complete. Starts the reductions of complete buckets, in the
  /// order that all ranks have in common. Returns false if that of the parameter's bucket has started before.
  bool arrive(std::size_t i);
  /// Reduces the remaining buckets, and gives the averages to the parameters. The first time, sorts the
  /// parameters by the order of their arrival on rank 0.
  void finish();
  /// Forgets the arrivals since the last call of finish().
  void reset();
  /// Returns whether a reduction has started since then.
  bool has_started() const { return next_ > 0; }

 private:
  struct Slot {
    Variable parameter, view;
    std::size_t bucket = 0;
    bool touched = false, arrived = false;
  };
  struct Bucket {
    std::vector<std::size_t> slots;
    Variable flat, flags;  // flat has the gradients and then the flags
    Variable sent;         // flat, or its copy in the dtype of the message
    std::size_t waits_for = 0;
    Work work;
  };

  void lay_out(const std::vector<std::int64_t>& order);
  void allocate(Bucket& bucket);
  void settle(Slot& slot) const;
  void launch(Bucket& bucket);
  void collect(Bucket& bucket);

  const DistributedDataParallelOptions options_;
  std::vector<Slot> slots_;
  std::vector<Bucket> buckets_;
  std::size_t next_ = 0;             // the first bucket whose reduction has not started
  std::vector<std::int64_t> order_;  // of arrival
  bool sorted_ = false;
};

}  // namespace ebb::distributed::detail
