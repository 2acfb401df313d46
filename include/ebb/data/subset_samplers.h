// SubsetRandomSampler, WeightedRandomSampler and BatchSampler of PyTorch's Python.
#pragma once

#include <ebb/data/samplers.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace ebb::data::samplers {

/// A sampler that returns the indices of a list. The list is drawn again in each epoch.
class EBB_API DrawnSampler : public Sampler<> {
 public:
  optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  /// Writes the list ("indices", kLong [n]) and the number of indices already returned ("index", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }
  /// Returns the number of samples of an epoch.
  std::size_t size() const noexcept { return order_.size(); }

 protected:
  void start(std::vector<std::size_t> order);

 private:
  std::vector<std::size_t> order_;
  std::size_t index_ = 0;
};

/// Returns the given indices in random order (torch.utils.data.SubsetRandomSampler).
class EBB_API SubsetRandomSampler : public DrawnSampler {
 public:
  explicit SubsetRandomSampler(std::vector<std::size_t> indices);
  /// Draws a new order. A new size is an error, because the indices are fixed.
  void reset(optional<std::size_t> new_size = nullopt) override;

 private:
  std::vector<std::size_t> indices_;
};

/// Draws `num_samples` indices in [0, weights.size()) with probabilities proportional to the weights, which
/// need not sum to 1 (torch.utils.data.WeightedRandomSampler). Without replacement each index occurs at most
/// once.
class EBB_API WeightedRandomSampler : public DrawnSampler {
 public:
  explicit WeightedRandomSampler(const std::vector<double>& weights, std::size_t num_samples,
                                 bool replacement = true);
  /// Draws new indices. A new size changes `num_samples`.
  void reset(optional<std::size_t> new_size = nullopt) override;

 private:
  Variable weights_;
  std::size_t num_samples_;
  bool replacement_;
};

/// Returns batches of its own size from another sampler and ignores the batch size of the loader. With
/// `drop_last` an incomplete last batch is skipped (torch.utils.data.BatchSampler). Do not set the loader's
/// drop_last: it drops every batch that is smaller than the loader's batch size.
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
