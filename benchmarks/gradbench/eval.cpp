// Conversion between tensors and JSON, and primal() and gradient().
#include "eval.h"

#include <utility>

namespace gradbench {
namespace {

// Appends all numbers of nested lists in order.
void append(std::vector<double>& values, const Json& numbers) {
  if (!numbers.is_array()) {
    values.push_back(numbers.get<double>());
    return;
  }
  for (const Json& part : numbers) append(values, part);
}

// Returns the elements of a contiguous tensor, from `next` on, as nested lists.
Json nested(const double*& next, const std::vector<int64_t>& sizes, std::size_t dim) {
  if (dim == sizes.size()) return *next++;
  Json list = Json::array();
  for (int64_t i = 0; i < sizes[dim]; ++i) list.push_back(nested(next, sizes, dim + 1));
  return list;
}

Tensor dense(const Tensor& x) { return x.detach().to(torch::kDouble).contiguous(); }

}  // namespace

Tensor read(const Json& numbers) {
  std::vector<int64_t> sizes;
  for (const Json* part = &numbers; part->is_array(); part = &part->front()) {
    sizes.push_back(static_cast<int64_t>(part->size()));
    if (part->empty()) break;
  }
  std::vector<double> values;
  append(values, numbers);
  return torch::tensor(values, torch::kDouble).view(sizes);
}

Tensor read_input(const Json& numbers) { return read(numbers).requires_grad_(); }

Json write(const Tensor& x) {
  const Tensor numbers = dense(x);
  const double* next = numbers.data_ptr<double>();
  return nested(next, {numbers.sizes().begin(), numbers.sizes().end()}, 0);
}

Json write_first(const Tensors& results) { return write(results.at(0)); }

Json write_joined(const Tensors& results) {
  Tensors flat;
  for (const Tensor& result : results) flat.push_back(result.reshape({-1}));
  return write(torch::cat(flat));
}

Call primal(std::function<Tensor()> value) {
  const auto compute = [value = std::move(value)]() -> Tensors {
    const torch::NoGradGuard no_grad;
    return {value()};
  };
  return {compute, write_first};
}

Call gradient(std::function<Tensor()> value, Tensors inputs, std::function<Json(const Tensors&)> output) {
  const auto compute = [value = std::move(value), inputs = std::move(inputs)]() -> Tensors {
    return torch::autograd::grad({value()}, inputs);
  };
  return {compute, std::move(output)};
}

}  // namespace gradbench
