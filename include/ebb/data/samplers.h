// In which order samples are visited.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/variable.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ebb::data::samplers {

/// Hands out the indices of one epoch, a batch at a time.
template <class BatchRequest = std::vector<std::size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  /// Starts a new epoch, over another number of samples if given.
  virtual void reset(optional<std::size_t> new_size) = 0;
  /// At most batch_size indices; none when the epoch is over.
  virtual optional<BatchRequest> next(std::size_t batch_size) = 0;
  /// Writes where it stands in the epoch, and goes on from there. A sampler that does not override them
  /// throws NotImplementedError.
  virtual void save(serialize::OutputArchive&) const { cannot("save"); }
  virtual void load(serialize::InputArchive&) { cannot("load"); }

 private:
  [[noreturn]] static void cannot(const char* what) {
    ebb::detail::fail<NotImplementedError>("Sampler: this one has no ", what,
                                           "(). Override save() and load().");
  }
};

/// A fresh permutation every epoch, drawn as torch draws it: manual_seed makes the order reproducible.
/// Indices are kept as kInt64, whatever `index_dtype` asks for.
class EBB_API RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(std::int64_t size, DType index_dtype = kInt64);
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// The permutation ("indices", kLong [n]) and how many of it have been handed out ("index", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  /// Takes both over, with the number of samples; throws, and stays as it was, if they make no sense.
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 private:
  std::vector<std::int64_t> order_;
  std::size_t index_ = 0;
};

/// 0, 1, 2, ...
class EBB_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(std::size_t size) : size_(size) {}
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// How many samples have been handed out ("index", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 private:
  std::size_t size_, index_ = 0;
};

}  // namespace ebb::data::samplers
