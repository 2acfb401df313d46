// chain_matmul, multi_dot, matrix_power, cross and trace.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/linalg/solve.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/product.h"

#include <limits>
#include <vector>

namespace ebb {
namespace {

using autograd::GradList;

// The cheapest order of the products. It stores for each range [i, j] of the chain the last matrix of the
// left factor.
class Order {
 public:
  explicit Order(const std::vector<Variable>& chain) : n_(chain.size()), split_(n_ * n_, 0) {
    std::vector<double> cost(n_ * n_, 0), p;
    p.push_back(static_cast<double>(chain[0].sizes()[0]));
    for (const Variable& x : chain) p.push_back(static_cast<double>(x.sizes()[1]));
    for (std::size_t length = 1; length < n_; ++length)
      for (std::size_t i = 0; i + length < n_; ++i) {
        const std::size_t j = i + length;
        cost[i * n_ + j] = std::numeric_limits<double>::infinity();
        for (std::size_t k = i; k < j; ++k) {
          const double c = cost[i * n_ + k] + cost[(k + 1) * n_ + j] + p[i] * p[k + 1] * p[j + 1];
          if (c < cost[i * n_ + j]) {
            cost[i * n_ + j] = c;
            split_[i * n_ + j] = k;
          }
        }
      }
  }
  Variable multiply(const std::vector<Variable>& chain, std::size_t i, std::size_t j) const {
    if (i == j) return chain[i];
    const std::size_t k = split_[i * n_ + j];
    return mm(multiply(chain, i, k), multiply(chain, k + 1, j));
  }

 private:
  std::size_t n_;
  std::vector<std::size_t> split_;
};

Variable multiply_chain(const char* op, const std::vector<Variable>& chain) {
  for (std::size_t i = 0; i + 1 < chain.size(); ++i)
    EBB_CHECK(chain[i].sizes()[1] == chain[i + 1].sizes()[0], op, ": tensors ", static_cast<std::int64_t>(i),
              " and ", static_cast<std::int64_t>(i + 1), " with shapes ", chain[i].sizes(), " and ",
              chain[i + 1].sizes(), " cannot be multiplied.");
  return Order(chain).multiply(chain, 0, chain.size() - 1);
}

struct TraceBackward : autograd::Node {
  std::int64_t rows = 0, cols = 0;
  std::string name() const override { return "TraceBackward0"; }
  GradList apply(GradList&& grads) override { return {mul(grads[0], eye(rows, cols, grads[0].options()))}; }
};

Variable cross_along(const Variable& a, const Variable& b, std::int64_t dim);

struct CrossBackward : autograd::Node {
  autograd::SavedVariable a{this};
  autograd::SavedVariable b{this};
  std::int64_t dim = 0;
  std::string name() const override { return "LinalgCrossBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = cross_along(b.unpack(), grads[0], dim);
    if (needs(1)) out[1] = cross_along(grads[0], a.unpack(), dim);
    return out;
  }
};

Variable cross_along(const Variable& a, const Variable& b, std::int64_t dim) {
  Variable out = empty(broadcast_shapes("cross", a.sizes(), b.sizes()), a.options());
  {
    NoGradGuard no_grad;
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t j = (i + 1) % 3, k = (i + 2) % 3;
      out.select(dim, i).copy_(a.select(dim, j) * b.select(dim, k) - a.select(dim, k) * b.select(dim, j));
    }
  }
  if (const auto node = ops::record_results<CrossBackward>({&out}, a, b)) {
    if (node->needs(1)) node->a.save(a);
    if (node->needs(0)) node->b.save(b);
    node->dim = dim;
  }
  return out;
}

}  // namespace

Variable chain_matmul(TensorList matrices) {
  EBB_AUTOCAST(chain_matmul, matrices);
  EBB_CHECK(!matrices.empty(), "chain_matmul: expected at least one matrix.");
  for (const Variable& m : matrices)
    EBB_CHECK(m.defined() && m.dim() == 2, "chain_matmul: expected matrices, got shape ",
              m.defined() ? m.sizes() : IntArrayRef(), ".");
  return multiply_chain("chain_matmul", matrices.vec());
}

namespace linalg {

Variable multi_dot(TensorList tensors) {
  EBB_AUTOCAST(multi_dot, tensors);
  EBB_CHECK(tensors.size() >= 2, "linalg.multi_dot: expected at least 2 tensors, got ",
            static_cast<std::int64_t>(tensors.size()), ".");
  std::vector<Variable> chain = tensors.vec();
  for (const Variable& x : chain)
    EBB_CHECK(x.defined(), "linalg.multi_dot: expected tensors, got an undefined one.");
  const bool row = chain.front().dim() == 1, column = chain.back().dim() == 1;
  if (row) chain.front() = chain.front().unsqueeze(0);
  if (column) chain.back() = chain.back().unsqueeze(-1);
  for (const Variable& x : chain)
    EBB_CHECK(x.dim() == 2, "linalg.multi_dot: expected matrices, and vectors first or last only, got shape ",
              x.sizes(), ".");
  Variable out = multiply_chain("linalg.multi_dot", chain);
  if (row) out = out.squeeze(0);
  return column ? out.squeeze(-1) : out;
}

Variable cross(const Variable& self, const Variable& other, std::int64_t dim) {
  ops::operand_device("linalg.cross", self, other);
  ops::check_same_dtype("linalg.cross", self, other);
  EBB_CHECK(self.dim() == other.dim(),
            "linalg.cross: expected tensors with the same number of dimensions, got shapes ", self.sizes(),
            " and ", other.sizes(), ".");
  const std::int64_t d = wrap_dim("linalg.cross", dim, self.dim());
  const std::size_t at = static_cast<std::size_t>(d);
  EBB_CHECK(self.dim() > 0 && self.sizes()[at] == 3 && other.sizes()[at] == 3, "linalg.cross: dimension ",
            dim, " must have size 3, got shapes ", self.sizes(), " and ", other.sizes(), ".");
  return cross_along(self, other, d);
}

}  // namespace linalg

Variable cross(const Variable& self, const Variable& other, optional<std::int64_t> dim) {
  EBB_AUTOCAST(cross, self, other, dim);
  ops::operand_device("cross", self, other);
  if (!dim) {
    for (std::int64_t d = 0; d < self.dim() && !dim; ++d)
      if (self.sizes()[d] == 3) dim = d;
    EBB_CHECK(dim, "cross: no dimension of size 3 in shape ", self.sizes(), ".");
  }
  return linalg::cross(self, other, *dim);
}

Variable trace(const Variable& self) {
  EBB_AUTOCAST(trace, self);
  ops::operand_device("trace", self);
  EBB_CHECK(self.dim() == 2, "trace: expected a matrix, got shape ", self.sizes(), ".");
  const NdArray& x = self.array();
  const std::int64_t n = std::min(x.sizes()[0], x.sizes()[1]), step = x.strides()[0] + x.strides()[1];
  const Variable diagonal(x.as_strided({n}, {step}, x.offset()));
  const auto dtype = is_floating(x.dtype()) ? optional<ScalarType>(x.dtype()) : nullopt;
  return ops::record<TraceBackward>(
      sum(diagonal, dtype).array(),
      [&](TraceBackward& node) {
        node.rows = self.sizes()[0];
        node.cols = self.sizes()[1];
      },
      self);
}

Variable matrix_power(const Variable& self, std::int64_t n) {
  ops::operand_device("matrix_power", self);
  EBB_CHECK(self.dim() >= 2 && self.sizes().back() == self.sizes()[self.sizes().size() - 2],
            "matrix_power: expected square matrices, got shape ", self.sizes(), ".");
  if (n == 0) return self.clone().copy_(eye(self.sizes().back(), self.options()).expand(self.sizes()));
  if (n == 1) return self.clone();
  Variable power = n < 0 ? linalg::inv(self) : self, result;
  if (n == 3) return matmul(matmul(self, self), self);
  // Computes the power by repeated squaring. `left` is unsigned, because the magnitude of the smallest
  // integer needs all 64 bits.
  for (std::uint64_t left = n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);;
       left >>= 1) {
    if (left & 1) result = result.defined() ? matmul(result, power) : power;
    if (left == 1) return result;
    power = matmul(power, power);
  }
}

}  // namespace ebb
