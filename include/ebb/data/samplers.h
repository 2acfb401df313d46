// Sampler, RandomSampler, SequentialSampler: the order in which samples are visited.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/variable.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ebb::data::samplers {

/// Returns the indices of one epoch, one batch at a time.
template <class BatchRequest = std::vector<std::size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  /// Starts a new epoch, with a new number of samples if given.
  virtual void reset(optional<std::size_t> new_size) = 0;
  /// Returns at most batch_size indices, or nothing when the epoch is over.
  virtual optional<BatchRequest> next(std::size_t batch_size) = 0;
  /// Saves and restores the position in the epoch. A sampler that does not override them throws
  /// NotImplementedError.
  virtual void save(serialize::OutputArchive&) const { cannot("save"); }
  virtual void load(serialize::InputArchive&) { cannot("load"); }

 private:
  [[noreturn]] static void cannot(const char* what) {
    ebb::detail::fail<NotImplementedError>("Sampler: this sampler has no ", what,
                                           "(). Override save() and load().");
  }
};

/// Draws a new permutation in each epoch, as torch does, so that manual_seed makes the order reproducible.
/// Indices are stored as kInt64; `index_dtype` is ignored.
class EBB_API RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(std::int64_t size, DType index_dtype = kInt64);
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// Writes the permutation ("indices", kLong [n]) and the number of indices already returned ("index", kLong
  /// []).
  void save(serialize::OutputArchive& archive) const override;
  /// Reads both values and the number of samples. Throws, and changes nothing, if they are invalid.
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }
  /// Returns the number of samples of an epoch.
  std::size_t size() const noexcept { return order_.size(); }

 private:
  std::vector<std::int64_t> order_;
  std::size_t index_ = 0;
};

/// Visits the samples in order: 0, 1, 2, ...
class EBB_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(std::size_t size) : size_(size) {}
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// Writes the number of samples returned ("index", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }
  /// Returns the number of samples of an epoch.
  std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_, index_ = 0;
};

}  // namespace ebb::data::samplers
