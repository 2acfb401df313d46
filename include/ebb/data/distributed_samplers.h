// Distributed samplers: each process visits its own part of the samples.
#pragma once

#include <ebb/data/samplers.h>

#include <cstddef>
#include <vector>

namespace ebb::data::samplers {

/// Selects the samples of process `rank` out of `num_replicas`, from `size` samples. All processes get the
/// same number of samples. With `allow_duplicates` some samples occur twice; otherwise some are left out.
template <class BatchRequest = std::vector<std::size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                     bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    EBB_CHECK(rank < num_replicas,
              "DistributedSampler: rank must be below num_replicas = ", std::uint64_t{num_replicas}, ", got ",
              std::uint64_t{rank}, ".");
  }
  /// Sets the epoch, on which the random order depends. Call it with the same value in all processes before
  /// each epoch.
  void set_epoch(std::size_t epoch) { epoch_ = epoch; }
  std::size_t epoch() const { return epoch_; }
  /// Returns the number of samples of an epoch in this process.
  std::size_t size() const { return local_sample_count(); }

 protected:
  std::size_t local_sample_count() const {
    return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_ : size_ / num_replicas_;
  }

  std::size_t size_, num_replicas_, rank_, epoch_ = 0;
  bool allow_duplicates_;
};

/// Selects a part of a permutation. The permutation depends on the epoch and is the same in all processes.
class EBB_API DistributedRandomSampler : public DistributedSampler<> {
 public:
  explicit DistributedRandomSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                                    bool allow_duplicates = true);
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// Writes the epoch and the position ("epoch_", "sample_index_", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return sample_index_; }

 private:
  std::size_t begin_index_ = 0, end_index_ = 0, sample_index_ = 0;
  std::vector<std::size_t> all_indices_;
};

/// Selects one contiguous part of 0, 1, 2, ...
class EBB_API DistributedSequentialSampler : public DistributedSampler<> {
 public:
  explicit DistributedSequentialSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                                        bool allow_duplicates = true);
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// Writes the position ("sample_index_", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return sample_index_; }

 private:
  std::size_t begin_index_ = 0, end_index_ = 0, sample_index_ = 0;
};

}  // namespace ebb::data::samplers
