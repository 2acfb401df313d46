// det: a determinant by expansion along the first rows, all minors of one size at a time.
#include "eval.h"

namespace gradbench {
namespace {

// For matrices of m columns: the columns that are left beside each, m * (m - 1) of them.
Tensor columns_beside(int64_t m) {
  std::vector<int64_t> columns;
  for (int64_t left_out = 0; left_out < m; ++left_out)
    for (int64_t column = 0; column < m; ++column)
      if (column != left_out) columns.push_back(column);
  return torch::tensor(columns, torch::kLong);
}

// The determinants of matrices [count, m, m]. No minor is shared: there are m! of the smallest.
Tensor determinants(const Tensor& matrices) {
  const int64_t count = matrices.size(0), m = matrices.size(1);
  if (m == 1) return matrices.reshape({count});
  const Tensor below = matrices.slice(1, 1).index_select(2, columns_beside(m));
  const Tensor minors = below.view({count, m - 1, m, m - 1}).transpose(1, 2);
  const Tensor expanded = determinants(minors.reshape({count * m, m - 1, m - 1})).view({count, m});
  const Tensor sign = 1 - 2 * torch::arange(m, torch::kDouble).remainder(2);
  return (matrices.select(1, 0) * expanded * sign).sum(1);
}

}  // namespace

Eval det() {
  const auto determinant = [](const Tensor& a, int64_t size) {
    return determinants(a.view({1, size, size})).select(0, 0);
  };
  return {{"primal",
           [=](const Json& input) {
             const Tensor a = read(input.at("A"));
             const int64_t size = input.at("ell").get<int64_t>();
             return primal([=] { return determinant(a, size); });
           }},
          {"gradient", [=](const Json& input) {
             const Tensor a = read_input(input.at("A"));
             const int64_t size = input.at("ell").get<int64_t>();
             return gradient([=] { return determinant(a, size); }, {a}, write_first);
           }}};
}

}  // namespace gradbench
