// Subset, ConcatDataset, random_split and TensorListDataset.
#pragma once

#include <ebb/data/datasets.h>
#include <ebb/data/transforms.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace ebb::data {

namespace detail {

/// Returns the sizes of the parts of `size` samples. `lengths` are counts that sum to `size`, or fractions
/// that sum to 1. Each sample that remains after rounding goes to one of the first parts.
EBB_API std::vector<std::size_t> split_lengths(std::size_t size, ArrayRef<double> lengths);
/// Returns a permutation, drawn as in torch.randperm.
EBB_API std::vector<std::size_t> permutation(std::size_t size);
EBB_API std::size_t known_size(const char* what, const optional<std::size_t>& size);

}  // namespace detail

namespace datasets {

/// Selected samples of a dataset, in the given order (torch.utils.data.Subset).
template <class Source>
class Subset : public Dataset<Subset<Source>, typename Source::ExampleType> {
 public:
  Subset(Source dataset, std::vector<std::size_t> indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {
    const std::size_t size = data::detail::known_size("Subset", dataset_.size());
    for (const std::size_t i : indices_)
      EBB_CHECK(i < size, "Subset: index ", std::uint64_t{i}, " is out of range for a dataset of ",
                std::uint64_t{size}, " samples.");
  }
  typename Source::ExampleType get(std::size_t index) override { return dataset_.get(indices_.at(index)); }
  optional<std::size_t> size() const override { return indices_.size(); }
  const std::vector<std::size_t>& indices() const { return indices_; }
  const Source& dataset() const { return dataset_; }

 private:
  Source dataset_;
  std::vector<std::size_t> indices_;
};

/// The concatenation of several datasets (torch.utils.data.ConcatDataset).
template <class Source>
class ConcatDataset : public Dataset<ConcatDataset<Source>, typename Source::ExampleType> {
 public:
  explicit ConcatDataset(std::vector<Source> datasets) : datasets_(std::move(datasets)) {
    EBB_CHECK(!datasets_.empty(), "ConcatDataset: datasets should not be an empty list.");
    for (const Source& each : datasets_)
      cumulative_sizes_.push_back(size_or_zero() + data::detail::known_size("ConcatDataset", each.size()));
  }
  typename Source::ExampleType get(std::size_t index) override {
    EBB_CHECK(index < size_or_zero(), "ConcatDataset: index ", std::uint64_t{index},
              " is out of range for datasets of ", std::uint64_t{size_or_zero()}, " samples in total.");
    std::size_t at = 0;
    while (index >= cumulative_sizes_[at]) ++at;
    return datasets_[at].get(at == 0 ? index : index - cumulative_sizes_[at - 1]);
  }
  optional<std::size_t> size() const override { return size_or_zero(); }
  /// Returns, for each dataset, the number of samples in it and all datasets before it.
  const std::vector<std::size_t>& cumulative_sizes() const { return cumulative_sizes_; }

 private:
  std::size_t size_or_zero() const { return cumulative_sizes_.empty() ? 0 : cumulative_sizes_.back(); }

  std::vector<Source> datasets_;
  std::vector<std::size_t> cumulative_sizes_;
};

/// The rows of several tensors of equal length: a sample contains one row of each
/// (torch.utils.data.TensorDataset in Python; libtorch's TensorDataset has one tensor).
/// Stack<std::vector<Tensor>> makes batches of them.
class EBB_API TensorListDataset : public Dataset<TensorListDataset, std::vector<Variable>> {
 public:
  explicit TensorListDataset(std::vector<Variable> tensors);
  std::vector<Variable> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  const std::vector<Variable>& tensors() const { return tensors_; }

 private:
  std::vector<Variable> tensors_;
};

/// Splits a dataset at random into parts of the given lengths or fractions. The parts equal those of
/// torch.utils.data.random_split. Each part contains a copy of the dataset, so the parts share its tensors
/// but not its other members.
template <class Source>
std::vector<Subset<Source>> random_split(const Source& dataset, ArrayRef<double> lengths) {
  const std::size_t size = data::detail::known_size("random_split", dataset.size());
  const std::vector<std::size_t> counts = data::detail::split_lengths(size, lengths),
                                 order = data::detail::permutation(size);
  std::vector<Subset<Source>> parts;
  auto from = order.begin();
  for (const std::size_t count : counts) {
    const auto to = from + static_cast<std::ptrdiff_t>(count);
    parts.emplace_back(dataset, std::vector<std::size_t>(from, to));
    from = to;
  }
  return parts;
}

}  // namespace datasets

namespace transforms {

/// Builds a batch with a callable on the list of its samples.
template <class T = Example<>, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

/// Stacks the first tensors of all samples, then the second ones, and so on.
template <>
struct EBB_API Stack<std::vector<Variable>> : Collation<std::vector<Variable>> {
  std::vector<Variable> apply_batch(std::vector<std::vector<Variable>> samples) override;
};

}  // namespace transforms

using datasets::random_split;

}  // namespace ebb::data
