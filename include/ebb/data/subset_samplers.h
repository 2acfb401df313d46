// Samplers of PyTorch's Python: some of the samples, by weight, in batches of one's own.
#pragma once

#include <ebb/data/samplers.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace ebb::data::samplers {

/// Hands out a list of indices that each epoch draws anew.
class EBB_API DrawnSampler : public Sampler<> {
 public:
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// The list ("indices", kLong [n]) and how many of it have been handed out ("index", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 protected:
  void start(std::vector<std::size_t> order);

 private:
  std::vector<std::size_t> order_;
  std::size_t index_ = 0;
};

/// The given indices in random order (torch.utils.data.SubsetRandomSampler).
class EBB_API SubsetRandomSampler : public DrawnSampler {
 public:
  explicit SubsetRandomSampler(std::vector<std::size_t> indices);
  /// Another size is an error: the indices are given.
  void reset(optional<std::size_t> new_size = nullopt) override;

 private:
  std::vector<std::size_t> indices_;
};

/// `num_samples` indices of 0, ..., weights.size() - 1, drawn in proportion to the weights, which need not
/// sum to 1 (torch.utils.data.WeightedRandomSampler). Without replacement each comes once at most.
class EBB_API WeightedRandomSampler : public DrawnSampler {
 public:
  explicit WeightedRandomSampler(const std::vector<double>& weights, std::size_t num_samples,
                                 bool replacement = true);
  /// With a new size, that many are drawn from now on.
  void reset(optional<std::size_t> new_size = nullopt) override;

 private:
  Variable weights_;
  std::size_t num_samples_;
  bool replacement_;
};

/// Batches of its own size from another sampler, whatever size the loader asks for; without the last one,
/// where that is smaller, if `drop_last` (torch.utils.data.BatchSampler). The loader's own drop_last compares
/// with the loader's batch size: leave it off.
template <class SamplerType>
class BatchSampler : public Sampler<typename SamplerType::BatchRequestType> {
 public:
  using BatchRequestType = typename SamplerType::BatchRequestType;
  BatchSampler(SamplerType sampler, std::size_t batch_size, bool drop_last)
      : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
    EBB_CHECK(batch_size > 0, "BatchSampler: batch_size must be at least 1, got 0.");
  }
  void reset(optional<std::size_t> new_size = nullopt) override { sampler_.reset(new_size); }
  optional<BatchRequestType> next(std::size_t) override {
    optional<BatchRequestType> batch = sampler_.next(batch_size_);
    if (batch && drop_last_ && batch->size() < batch_size_) return nullopt;
    return batch;
  }
  void save(serialize::OutputArchive& archive) const override { sampler_.save(archive); }
  void load(serialize::InputArchive& archive) override { sampler_.load(archive); }

 private:
  SamplerType sampler_;
  std::size_t batch_size_;
  bool drop_last_;
};

}  // namespace ebb::data::samplers
