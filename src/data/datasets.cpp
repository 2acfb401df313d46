// TensorDataset, TensorListDataset, random_split and the Stack collation.
#include <ebb/data/datasets.h>
#include <ebb/data/subsets.h>
#include <ebb/data/transforms.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include <cmath>

namespace ebb::data::datasets {

TensorDataset::TensorDataset(const std::vector<Variable>& tensors) : tensor(stack(tensors)) {}
TensorDataset::TensorDataset(Variable rows) : tensor(std::move(rows)) {}

TensorExample TensorDataset::get(std::size_t index) { return tensor[static_cast<std::int64_t>(index)]; }
optional<std::size_t> TensorDataset::size() const { return static_cast<std::size_t>(tensor.size(0)); }

template class Dataset<TensorDataset, TensorExample>;

}  // namespace ebb::data::datasets

namespace ebb::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Variable> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& e : examples) {
    data.push_back(std::move(e.data));
    targets.push_back(std::move(e.target));
  }
  return {stack(data), stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Variable> data;
  data.reserve(examples.size());
  for (TensorExample& e : examples) data.push_back(std::move(e.data));
  return stack(data);
}

}  // namespace ebb::data::transforms

namespace ebb::data {

namespace detail {

std::size_t known_size(const char* what, const optional<std::size_t>& size) {
  EBB_CHECK(size, what, ": the dataset has no size.");
  return *size;
}

std::vector<std::size_t> split_lengths(std::size_t size, ArrayRef<double> lengths) {
  double sum = 0;
  bool fractions = true;
  for (const double length : lengths) {
    EBB_CHECK(length >= 0, "random_split: expected lengths that are not negative, got ", length, ".");
    sum += length;
    fractions &= length <= 1;
  }
  std::vector<std::size_t> counts;
  fractions &= std::abs(sum - 1) < 1e-9;
  if (!fractions) {
    EBB_CHECK(
        sum == static_cast<double>(size),
        "random_split: Sum of input lengths does not equal the length of the input dataset! The lengths sum "
        "to ",
        sum, ", the dataset has ", std::uint64_t{size}, " samples.");
    for (const double length : lengths) {
      EBB_CHECK(length == std::floor(length), "random_split: a length must be a whole number, got ", length,
                "; fractions must sum to 1.");
      counts.push_back(static_cast<std::size_t>(length));
    }
    return counts;
  }
  std::size_t left = size;
  for (const double fraction : lengths) {
    counts.push_back(static_cast<std::size_t>(std::floor(static_cast<double>(size) * fraction)));
    left -= counts.back();
  }
  for (std::size_t i = 0; i < left; ++i) ++counts[i % counts.size()];
  return counts;
}

std::vector<std::size_t> permutation(std::size_t size) {
  const Variable order = randperm(static_cast<std::int64_t>(size), kLong);
  const std::int64_t* const p = order.data_ptr<std::int64_t>();
  return std::vector<std::size_t>(p, p + order.numel());
}

}  // namespace detail

namespace datasets {

TensorListDataset::TensorListDataset(std::vector<Variable> tensors) : tensors_(std::move(tensors)) {
  EBB_CHECK(!tensors_.empty(), "TensorListDataset: expected at least one tensor.");
  for (const Variable& each : tensors_)
    EBB_CHECK(each.defined() && each.dim() > 0 && each.size(0) == tensors_[0].size(0),
              "TensorListDataset: Size mismatch between tensors: all need the same number of rows, got ",
              tensors_[0], " and ", each, ".");
}

std::vector<Variable> TensorListDataset::get(std::size_t index) {
  std::vector<Variable> rows;
  for (const Variable& each : tensors_) rows.push_back(each[static_cast<std::int64_t>(index)]);
  return rows;
}

optional<std::size_t> TensorListDataset::size() const {
  return static_cast<std::size_t>(tensors_[0].size(0));
}

}  // namespace datasets

namespace transforms {

std::vector<Variable> Stack<std::vector<Variable>>::apply_batch(std::vector<std::vector<Variable>> samples) {
  EBB_CHECK(!samples.empty(), "Stack: expected at least one sample.");
  std::vector<Variable> columns;
  for (std::size_t c = 0; c < samples[0].size(); ++c) {
    std::vector<Variable> column;
    for (std::vector<Variable>& sample : samples) {
      EBB_CHECK(sample.size() == samples[0].size(), "Stack: samples hold ", std::uint64_t{samples[0].size()},
                " and ", std::uint64_t{sample.size()}, " tensors. All need the same number.");
      column.push_back(std::move(sample[c]));
    }
    columns.push_back(stack(column));
  }
  return columns;
}

}  // namespace transforms

}  // namespace ebb::data
