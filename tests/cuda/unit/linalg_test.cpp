// linear_relu and linear_gelu: one kernel on a device, compared with two ops on the CPU. Matrix
// decompositions on the device that use several warps, and their error codes.
#include <ebb/ebb.h>
#include <ebb/ops/linalg.h>

#include "support/catch.h"

#include <cmath>
#include <vector>

using namespace ebb;

namespace {

using Layer = Tensor (*)(const Tensor&, const Tensor&, const optional<Tensor>&);

double tolerance_of(DType dtype) {
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 8e-3 : 6e-2;
}

struct Inputs {
  Tensor input, weight, bias, grad;
};

// The result, and the gradients of input, weight and bias if requested.
variable_list results(Layer layer, const Inputs& in, TensorOptions to, bool records) {
  const auto leaf = [&](const Tensor& x) { return x.to(to).requires_grad_(records); };
  const variable_list leaves = {leaf(in.input), leaf(in.weight), leaf(in.bias)};
  const Tensor y = layer(leaves[0], leaves[1], leaves[2]);
  variable_list all = {y.detach()};
  if (records)
    for (const Tensor& g : autograd::grad({y}, leaves, {in.grad.to(to)})) all.push_back(g);
  return all;
}

void compare(Layer layer, const Inputs& in) {
  const DType dtype = in.input.dtype();
  for (const bool records : {false, true}) {
    const variable_list got = results(layer, in, TensorOptions(kCUDA).dtype(dtype), records),
                        expected = results(layer, in, TensorOptions(kCPU).dtype(kDouble), records);
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO("result " << i << (records ? ", recorded" : ""));
      CHECK(got[i].dtype() == dtype);
      const Tensor error = (got[i].cpu().to(kDouble) - expected[i]).abs();
      CHECK((error / (1 + expected[i].abs())).max().item<double>() < tolerance_of(dtype));
    }
  }
}

Inputs inputs(const std::vector<std::int64_t>& leading, std::int64_t in, std::int64_t out, DType dtype) {
  std::vector<std::int64_t> x(leading), y(leading);
  x.push_back(in);
  y.push_back(out);
  return {randn(x, dtype), randn({out, in}, dtype) * 0.4, randn({out}, dtype), randn(y, dtype)};
}

}  // namespace

TEST_CASE("linear_relu and linear_gelu on a device agree with the host") {
  manual_seed(41);
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const std::int64_t out : {1, 7, 8, 24, 129}) {  // with and without padded rows of the saved argument
      INFO(dtype << ", " << out << " columns");
      for (const Layer layer : {Layer(&linear_relu), Layer(&linear_gelu)}) {
        compare(layer, inputs({5}, 12, out, dtype));
        compare(layer, inputs({2, 3}, 4, out, dtype));
      }
    }
}

TEST_CASE("linear_relu and linear_gelu record the same node as linear followed by the activation") {
  const Tensor x = ones({2, 3}, kCUDA).requires_grad_(), w = ones({4, 3}, kCUDA), b = ones({4}, kCUDA);
  CHECK(linear_relu(x, w, b).grad_fn()->name() == relu(linear(x, w, b)).grad_fn()->name());
  CHECK(linear_gelu(x, w, b).grad_fn()->name() == gelu(linear(x, w, b), "tanh").grad_fn()->name());
  CHECK_FALSE(linear_relu(x.detach(), w, b).requires_grad());
}

TEST_CASE("backward throws if the result of linear_relu was overwritten") {
  const Tensor x = ones({2, 3}, kCUDA).requires_grad_(), w = ones({4, 3}, kCUDA), b = ones({4}, kCUDA);
  Tensor y = linear_relu(x, w, b);
  const Tensor sum = y.sum();
  y.mul_(2);
  CHECK_THROWS_AS(y.sum().backward(), Error);
}

TEST_CASE("linear_relu and linear_gelu handle layouts that the cuBLASLt epilogue does not support") {
  manual_seed(42);
  const Inputs in = inputs({6}, 10, 16, kFloat);
  Inputs strange = in;
  strange.weight = in.weight.t().contiguous().t();
  compare(&linear_relu, strange);
  compare(&linear_gelu, strange);
  const Tensor x = in.input.to(kCUDA), w = in.weight.to(kCUDA), b = in.bias.to(kCUDA);
  const Tensor apart = stack({b, b}, 1).select(1, 0), one = b.slice(0, 0, 1);
  CHECK(allclose(linear_gelu(x, w, apart), linear_gelu(x, w, b), 1e-5, 1e-5));
  CHECK(allclose(linear_relu(x, w, one), relu(linear(x, w, one)), 1e-5, 1e-5));
  CHECK(allclose(linear_relu(x, w), relu(linear(x, w)), 1e-5, 1e-5));
  CHECK(linear_relu(x.slice(0, 0, 0), w, b).sizes() == IntArrayRef({0, 16}));
  CHECK_THROWS_WITH(linear_relu(x, w.t(), b),
                    support::Contains("linear_relu") && support::Contains("does not fit"));
  CHECK_THROWS_AS(linear_gelu(x, w.cpu(), b), Error);
}

namespace {

Variable numbers(IntArrayRef sizes) {
  return (arange(checked_numel(sizes), kDouble) * 1.7).sin().view(sizes).to(TensorOptions(kCUDA));
}
double largest(const Variable& x) { return x.abs().max().item<double>(); }
Variable one(std::int64_t n) { return eye(n, TensorOptions(kDouble).device(kCUDA)); }

}  // namespace

TEST_CASE("svd on a device gives orthogonal factors", "[cuda]") {
  if (!cuda::is_available()) return;
  const auto shape = GENERATE((std::vector<std::int64_t>{24, 17}), (std::vector<std::int64_t>{17, 24}),
                              (std::vector<std::int64_t>{20, 20}));
  const Variable a = numbers(shape);
  const auto [U, S, Vh] = linalg::svd(a);
  const std::int64_t k = S.size(-1);
  CHECK(largest(matmul(U, U.mT()) - one(U.size(-1))) < 1e-12);
  CHECK(largest(matmul(Vh, Vh.mT()) - one(Vh.size(-1))) < 1e-12);
  CHECK(largest(matmul(U.narrow(-1, 0, k) * S.unsqueeze(-2), Vh.narrow(-2, 0, k)) - a) < 1e-12);
  CHECK(largest(S.to(kCPU) - linalg::svdvals(a.to(kCPU))) < 1e-12);
  const Variable square = matmul(a, a.mT()) - one(a.size(0));
  const auto [L, V] = linalg::eigh(square);
  CHECK(largest(matmul(V * L.unsqueeze(-2), V.mT()) - square) < 1e-11);
  CHECK(largest(matmul(V.mT(), V) - one(a.size(0))) < 1e-12);
}

TEST_CASE("svd of a low-rank matrix on a device gives zero singular values and orthonormal vectors",
          "[cuda]") {
  if (!cuda::is_available()) return;
  const Variable a = matmul(numbers({12, 2}), numbers({2, 9}));
  const auto [U, S, Vh] = linalg::svd(a, false);
  CHECK(S[2].item<double>() < 1e-13);
  CHECK(largest(matmul(U.mT(), U) - one(9)) < 1e-12);
  CHECK(largest(matmul(U * S.unsqueeze(-2), Vh) - a) < 1e-13);
}

TEST_CASE("linalg ops with info return the failing index from a device", "[cuda]") {
  if (!cuda::is_available()) return;
  const Variable batch = stack({eye(2), ones({2, 2}), -eye(2)}).to(TensorOptions(kCUDA));
  const auto told = [](const Variable& info) { return info.to(kCPU); };
  CHECK(equal(told(std::get<1>(linalg::inv_ex(batch))), tensor({0, 2, 0}, kInt)));
  CHECK(equal(told(std::get<1>(linalg::cholesky_ex(batch))), tensor({0, 2, 1}, kInt)));
  CHECK(equal(told(std::get<2>(linalg::ldl_factor_ex(batch * 0))), tensor({1, 1, 1}, kInt)));
  CHECK_THROWS_WITH(linalg::inv(batch),
                    support::Contains("(Batch element 1): The diagonal element 2 is zero"));
  CHECK_THROWS_WITH(linalg::svd(batch * NAN), support::Contains("non-finite"));
  CHECK_THROWS_WITH(linalg::eigh(batch * INFINITY), support::Contains("failed to converge"));
  CHECK_THROWS_WITH(linalg::svd(batch, true, "fast"), support::Contains("gesvdj"));
  linalg::svd(batch, true, "gesvdj");
  const auto wrong = [&] {
    lu_unpack(batch, full({3, 2}, 9, TensorOptions(kInt).device(kCUDA)));
    cuda::synchronize();
  };
  CHECK_THROWS_AS(wrong(), IndexError);
}
