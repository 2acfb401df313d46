// Dataset, TensorDataset and MNIST: samples by index. read_idx: the IDX format of the MNIST files.
#pragma once

#include <ebb/data/example.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ebb::data::datasets {

template <class Source, class AppliedTransform>
class MapDataset;

/// A dataset that returns whole batches. Derive from Dataset instead if single samples make sense.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = ArrayRef<std::size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = false;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  /// Returns the number of samples, if it is known.
  virtual optional<std::size_t> size() const = 0;

  /// Returns a copy of this dataset with a transform: `dataset.map(Normalize<>(0.5, 0.5)).map(Stack<>())`.
  template <class TransformType>
    requires requires { typename TransformType::OutputBatchType; }
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class TransformType>
    requires requires { typename TransformType::OutputBatchType; }
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// A dataset of samples by index: override get() and size().
template <class Self, class SingleExample = Example<>>
class EBB_API Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;
  virtual ExampleType get(std::size_t index) = 0;
  std::vector<ExampleType> get_batch(ArrayRef<std::size_t> indices) override;

  using BatchDataset<Self, std::vector<SingleExample>>::map;
  /// Called with a lambda on samples, these functions return a Pipeline (<ebb/data/pipeline.h>) over a copy
  /// of this dataset: `for (auto& batch : dataset.map(f).filter(p).shuffle(1000).batch(64).prefetch(2))`.
  template <class F>
    requires std::is_invocable_v<F&, SingleExample>
  auto map(F f) const {
    return from(static_cast<const Self&>(*this)).map(std::move(f));
  }
  template <class Predicate>
  auto filter(Predicate keep) const {
    return from(static_cast<const Self&>(*this)).filter(std::move(keep));
  }
  template <class D = Self>
  auto shuffle(std::size_t count) const {
    return from(static_cast<const D&>(*this)).shuffle(count);
  }
  template <class D = Self>
  auto prefetch(std::size_t count) const {
    return from(static_cast<const D&>(*this)).prefetch(count);
  }
};

template <class Self, class SingleExample>
std::vector<SingleExample> Dataset<Self, SingleExample>::get_batch(ArrayRef<std::size_t> indices) {
  std::vector<SingleExample> batch;
  batch.reserve(indices.size());
  for (const std::size_t i : indices) batch.push_back(get(i));
  return batch;
}

namespace detail {
template <class Source, class Batch>
using MappedBatch = std::conditional_t<Source::is_stateful, optional<Batch>, Batch>;
}  // namespace detail

/// A dataset with a transform of its batches. An empty batch of a stateful dataset, which ends the epoch, is
/// passed on unchanged.
template <class Source, class AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<Source, AppliedTransform>,
                          detail::MappedBatch<Source, typename AppliedTransform::OutputBatchType>,
                          typename Source::BatchRequestType> {
 public:
  using DatasetType = Source;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename Source::BatchRequestType;
  using OutputBatchType = detail::MappedBatch<Source, typename AppliedTransform::OutputBatchType>;
  static constexpr bool is_stateful = Source::is_stateful;

  MapDataset(Source dataset, AppliedTransform transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}
  OutputBatchType get_batch(BatchRequestType indices) override {
    if constexpr (is_stateful) {
      auto batch = dataset_.get_batch(std::move(indices));
      return batch ? OutputBatchType(transform_.apply_batch(std::move(*batch))) : nullopt;
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(indices)));
    }
  }
  optional<std::size_t> size() const override { return dataset_.size(); }
  /// Starts an epoch of a stateful dataset.
  void reset()
    requires Source::is_stateful
  {
    dataset_.reset();
  }
  const Source& dataset() const { return dataset_; }
  const AppliedTransform& transform() const { return transform_; }

 private:
  Source dataset_;
  AppliedTransform transform_;
};

template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  return {std::move(dataset), std::move(transform)};
}

/// The rows of a tensor as samples.
class EBB_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
 public:
  explicit TensorDataset(const std::vector<Variable>& tensors);
  explicit TensorDataset(Variable rows);

  TensorExample get(std::size_t index) override;
  optional<std::size_t> size() const override;

  Variable tensor;
};
extern template class Dataset<TensorDataset, TensorExample>;

/// Images and labels in the format of the MNIST files (LeCun et al. 1998), gzipped or not: MNIST itself,
/// Fashion-MNIST, and others. The folder contains {train,t10k}-images-idx3-ubyte[.gz] and
/// {train,t10k}-labels-idx1-ubyte[.gz].
class EBB_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };
  /// Reads all files. Throws ebb::Error with the name of a file that is missing or invalid.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  /// Returns {image, label}. The image is kFloat [1, rows, columns] in [0, 1], the label a kLong tensor
  /// without dimensions.
  Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  bool is_train() const { return mode_ == Mode::kTrain; }
  /// Returns all images, kFloat [n, 1, rows, columns] in [0, 1].
  const Variable& images() const { return images_; }
  /// Returns all labels, kLong [n].
  const Variable& targets() const { return targets_; }
  /// Returns whether the folder contains the four files.
  static bool present(const std::string& root);

 private:
  Mode mode_;
  Variable images_, targets_;
};
extern template class Dataset<MNIST>;

}  // namespace ebb::data::datasets

namespace ebb::data {

/// Reads an IDX file, gzipped or not. The file contains a magic number with the dtype (u8, i8, i16, i32, f32,
/// f64) and the number of dimensions, then big-endian sizes and big-endian values. Throws for a file that is
/// truncated, too long or of another format.
EBB_API Variable read_idx(const std::string& path);

}  // namespace ebb::data
