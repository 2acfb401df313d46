// The rows of a tensor as a dataset.
#include <ebb/data/datasets.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

namespace ebb::data::datasets {

TensorDataset::TensorDataset(const std::vector<Variable>& tensors) : tensor(stack(tensors)) {}
TensorDataset::TensorDataset(Variable rows) : tensor(std::move(rows)) {}

TensorExample TensorDataset::get(std::size_t index) { return tensor[static_cast<std::int64_t>(index)]; }
optional<std::size_t> TensorDataset::size() const { return static_cast<std::size_t>(tensor.size(0)); }

template class Dataset<TensorDataset, TensorExample>;

}  // namespace ebb::data::datasets
