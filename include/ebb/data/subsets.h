// Parts and unions of datasets, and rows of several tensors.
#pragma once

#include <ebb/data/datasets.h>
#include <ebb/data/transforms.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace ebb::data {

namespace detail {

/// Into how many samples each part of `size` comes: `lengths` that sum to it, or fractions that sum to 1, of
/// which those that do not come out even give their rest to the first parts, one each.
EBB_API std::vector<std::size_t> split_lengths(std::size_t size, ArrayRef<double> lengths);
/// A permutation, drawn as torch.randperm draws it.
EBB_API std::vector<std::size_t> permutation(std::size_t size);
EBB_API std::size_t known_size(const char* what, const optional<std::size_t>& size);

}  // namespace detail

namespace datasets {

/// Some of the samples of a dataset, in the order given (torch.utils.data.Subset).
template <class Source>
class Subset : public Dataset<Subset<Source>, typename Source::ExampleType> {
 public:
  Subset(Source dataset, std::vector<std::size_t> indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {
    const std::size_t size = data::detail::known_size("Subset", dataset_.size());
    for (const std::size_t i : indices_)
      EBB_CHECK(i < size, "Subset: there is no sample ", std::uint64_t{i}, " in a dataset of ",
                std::uint64_t{size}, ".");
  }
  typename Source::ExampleType get(std::size_t index) override { return dataset_.get(indices_.at(index)); }
  optional<std::size_t> size() const override { return indices_.size(); }
  const std::vector<std::size_t>& indices() const { return indices_; }
  const Source& dataset() const { return dataset_; }

 private:
  Source dataset_;
  std::vector<std::size_t> indices_;
};

/// Datasets one after another (torch.utils.data.ConcatDataset).
template <class Source>
class ConcatDataset : public Dataset<ConcatDataset<Source>, typename Source::ExampleType> {
 public:
  explicit ConcatDataset(std::vector<Source> datasets) : datasets_(std::move(datasets)) {
    EBB_CHECK(!datasets_.empty(), "ConcatDataset: datasets should not be an empty list.");
    for (const Source& each : datasets_)
      cumulative_sizes_.push_back(size_or_zero() + data::detail::known_size("ConcatDataset", each.size()));
  }
  typename Source::ExampleType get(std::size_t index) override {
    EBB_CHECK(index < size_or_zero(), "ConcatDataset: there is no sample ", std::uint64_t{index}, " in ",
              std::uint64_t{size_or_zero()}, ".");
    std::size_t at = 0;
    while (index >= cumulative_sizes_[at]) ++at;
    return datasets_[at].get(at == 0 ? index : index - cumulative_sizes_[at - 1]);
  }
  optional<std::size_t> size() const override { return size_or_zero(); }
  /// How many samples come before the end of each.
  const std::vector<std::size_t>& cumulative_sizes() const { return cumulative_sizes_; }

 private:
  std::size_t size_or_zero() const { return cumulative_sizes_.empty() ? 0 : cumulative_sizes_.back(); }

  std::vector<Source> datasets_;
  std::vector<std::size_t> cumulative_sizes_;
};

/// Rows of several tensors, as long as each other: a sample is one row of each
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

/// Parts of a dataset at random, of the lengths or the fractions given, as torch.utils.data.random_split
/// makes them: the parts share the dataset's tensors, but copy what else is in it.
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

/// A batch from a callable on the list of its samples.
template <class T = Example<>, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

/// Stacks the first tensors of all samples, the second, and so on.
template <>
struct EBB_API Stack<std::vector<Variable>> : Collation<std::vector<Variable>> {
  std::vector<Variable> apply_batch(std::vector<std::vector<Variable>> samples) override;
};

}  // namespace transforms

using datasets::random_split;

}  // namespace ebb::data
