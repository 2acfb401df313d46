// make_data_loader: batches of a dataset, prefetched by worker threads.
#pragma once

#include <ebb/core/start_thread.h>
#include <ebb/data/datasets.h>
#include <ebb/data/loader_base.h>
#include <ebb/data/samplers.h>
#include <ebb/data/unstacked.h>

#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

namespace ebb::data {

namespace detail {
/// Writes the number of batches of the current epoch that were delivered ("batches", kLong []), or -1 between
/// epochs.
EBB_API void write_position(serialize::OutputArchive& archive, const optional<std::size_t>& batches);
EBB_API optional<std::size_t> read_position(serialize::InputArchive& archive);
}  // namespace detail

/// A loader whose sampler selects the samples. The sampler runs in the calling thread, so the order depends
/// on the seed but not on the number of workers. Each worker has a copy of the dataset.
template <class DatasetType, class SamplerType>
class StatelessDataLoader
    : public DataLoaderBase<typename detail::DeliveredBatch<typename DatasetType::BatchType>::type,
                            typename SamplerType::BatchRequestType> {
  using Base = DataLoaderBase<typename detail::DeliveredBatch<typename DatasetType::BatchType>::type,
                              typename SamplerType::BatchRequestType>;

 public:
  using BatchType = typename Base::BatchType;
  using BatchRequestType = typename Base::BatchRequestType;

  StatelessDataLoader(DatasetType dataset, SamplerType sampler, DataLoaderOptions options)
      : Base(options), dataset_(std::move(dataset)), sampler_(std::move(sampler)) {}
  ~StatelessDataLoader() override { this->join(); }

  /// Returns the number of batches of an epoch (Python's len(loader)), or nothing if the sampler has no
  /// size().
  optional<std::size_t> size() const {
    if constexpr (requires { sampler_.size(); }) {
      const std::size_t batch = this->options_.batch_size();
      return (sampler_.size() + (this->options_.drop_last() ? 0 : batch - 1)) / batch;
    }
    return nullopt;
  }

  void save(serialize::OutputArchive& archive) const override {
    const optional<std::size_t> batches = this->delivered();
    detail::write_position(archive, batches);
    if (!batches) return;
    EBB_CHECK(
        this->options_.enforce_ordering() || this->options_.workers() == 0,
        "DataLoader: with enforce_ordering(false) batches come in any order, so the position within an epoch "
        "cannot be saved. Save after the epoch.");
    serialize::OutputArchive sampler;
    if constexpr (kSaved)
      start_of_epoch_->save(sampler);
    else
      cannot();
    archive.write("sampler", sampler);
  }
  void load(serialize::InputArchive& archive) override {
    const optional<std::size_t> batches = detail::read_position(archive);
    if (batches) {
      serialize::InputArchive sampler;
      archive.read("sampler", sampler);
      if constexpr (kSaved)
        sampler_.load(sampler);
      else
        cannot();
      note_start();
    }
    this->resume_at(batches);
  }

 private:
  static constexpr bool kCopied =
      std::is_copy_constructible_v<SamplerType> && std::is_copy_assignable_v<SamplerType>;
  static constexpr bool kSaved =
      kCopied && requires(SamplerType& s, serialize::OutputArchive& out, serialize::InputArchive& in) {
        s.save(out), s.load(in);
      };

  [[noreturn]] static void cannot() {
    ebb::detail::fail(
        "DataLoader: the position cannot be saved: the sampler lacks save() and load(), or cannot be "
        "copied.");
  }
  void note_start() {
    if constexpr (kCopied) start_of_epoch_ = sampler_;
  }
  void reset() override {
    sampler_.reset(nullopt);
    note_start();
  }
  optional<BatchRequestType> next_request() override {
    const std::size_t batch_size = this->options_.batch_size();
    optional<BatchRequestType> request = sampler_.next(batch_size);
    if (request && this->options_.drop_last() && request->size() < batch_size) return nullopt;
    return request;
  }
  optional<BatchType> read(BatchRequestType request) override {
    return dataset_.get_batch(std::move(request));
  }
  std::thread start_worker() override {
    return ebb::detail::start_thread<std::thread>("DataLoader",
                                                  [this, copy = dataset_]() mutable { this->work(copy); });
  }

  DatasetType dataset_;
  SamplerType sampler_;
  optional<SamplerType> start_of_epoch_;  // the sampler's state at the start of the epoch, for save()
};

/// A loader of a StatefulDataset, which selects the samples itself. Each begin() resets the dataset. The
/// epoch ends when the dataset returns no batch. All workers share the dataset. drop_last has no effect,
/// because the dataset decides the size of the last batch.
template <class DatasetType>
class StatefulDataLoader
    : public DataLoaderBase<
          typename detail::DeliveredBatch<typename DatasetType::BatchType::value_type>::type,
          typename DatasetType::BatchRequestType> {
  using Base =
      DataLoaderBase<typename detail::DeliveredBatch<typename DatasetType::BatchType::value_type>::type,
                     typename DatasetType::BatchRequestType>;

 public:
  using BatchType = typename Base::BatchType;
  using BatchRequestType = typename Base::BatchRequestType;

  StatefulDataLoader(DatasetType dataset, DataLoaderOptions options)
      : Base(options), dataset_(std::move(dataset)) {}
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override { dataset_.reset(); }
  optional<BatchRequestType> next_request() override {
    return static_cast<BatchRequestType>(this->options_.batch_size());
  }
  optional<BatchType> read(BatchRequestType request) override {
    return dataset_.get_batch(std::move(request));
  }
  std::thread start_worker() override {
    return ebb::detail::start_thread<std::thread>("DataLoader", [this] { this->work(dataset_); });
  }

  DatasetType dataset_;
};

/// Returns a loader of `dataset` in the order of `sampler`.
template <class DatasetType, class SamplerType>
  requires requires(SamplerType& s) { s.next(std::size_t{1}); }
std::unique_ptr<StatelessDataLoader<DatasetType, SamplerType>> make_data_loader(
    DatasetType dataset, SamplerType sampler, DataLoaderOptions options = {}) {
  static_assert(!DatasetType::is_stateful, "make_data_loader: a stateful dataset takes no sampler");
  return std::make_unique<StatelessDataLoader<DatasetType, SamplerType>>(std::move(dataset),
                                                                         std::move(sampler), options);
}

/// Returns a loader that reads the samples in random order, or in the order of the given sampler type:
/// `make_data_loader<SequentialSampler>(dataset, 64)`.
template <class SamplerType = samplers::RandomSampler, class DatasetType>
  requires(!DatasetType::is_stateful)
std::unique_ptr<StatelessDataLoader<DatasetType, SamplerType>> make_data_loader(
    DatasetType dataset, DataLoaderOptions options = {}) {
  const optional<std::size_t> size = dataset.size();
  EBB_CHECK(size.has_value(), "make_data_loader: the dataset has no size. Pass a sampler.");
  return make_data_loader(std::move(dataset), SamplerType(*size), options);
}

/// Returns a loader of a stateful dataset.
template <class DatasetType>
  requires(DatasetType::is_stateful)
std::unique_ptr<StatefulDataLoader<DatasetType>> make_data_loader(DatasetType dataset,
                                                                  DataLoaderOptions options = {}) {
  return std::make_unique<StatefulDataLoader<DatasetType>>(std::move(dataset), options);
}

}  // namespace ebb::data
