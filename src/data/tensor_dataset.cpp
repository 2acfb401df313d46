// TensorDataset and the Stack collation.
#include <ebb/data/datasets.h>
#include <ebb/data/transforms.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

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
