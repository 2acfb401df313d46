// StatefulDataset and SharedBatchDataset: datasets that select the next batch, and datasets shared by
// workers.
#pragma once

#include <ebb/archive.h>
#include <ebb/data/datasets.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::data::datasets {

/// A dataset that gets only the batch size. Use it with a samplers::StreamSampler.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, std::size_t>;

/// A dataset that stores its position in the epoch and ends the epoch by returning no batch. A loader needs
/// no sampler for it. All workers of a loader share the dataset, so get_batch() must be safe to call from
/// several threads.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = std::size_t>
class StatefulDataset : public BatchDataset<Self, optional<Batch>, BatchRequest> {
 public:
  static constexpr bool is_stateful = true;
  /// Starts an epoch.
  virtual void reset() = 0;
  /// Save and restore the position in the epoch.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class Self, class Batch, class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.save(archive);
  return archive;
}
template <class Self, class Batch, class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.load(archive);
  return archive;
}

/// A handle of a dataset: all copies of the handle share the dataset. Each worker of a loader copies its
/// dataset, so with a handle all workers use the same dataset. The dataset must be safe to use from several
/// threads.
template <class UnderlyingDataset>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<UnderlyingDataset>, typename UnderlyingDataset::BatchType,
                          typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;
  static constexpr bool is_stateful = UnderlyingDataset::is_stateful;

  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> shared) : dataset_(std::move(shared)) {}
  BatchType get_batch(BatchRequestType request) override { return dataset_->get_batch(std::move(request)); }
  optional<std::size_t> size() const override { return dataset_->size(); }
  void reset()
    requires UnderlyingDataset::is_stateful
  {
    dataset_->reset();
  }
  void save(serialize::OutputArchive& archive) const
    requires UnderlyingDataset::is_stateful
  {
    dataset_->save(archive);
  }
  void load(serialize::InputArchive& archive)
    requires UnderlyingDataset::is_stateful
  {
    dataset_->load(archive);
  }
  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};

template <class UnderlyingDataset, class... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...);
}

}  // namespace ebb::data::datasets
