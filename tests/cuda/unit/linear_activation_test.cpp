// linear_relu and linear_gelu: one kernel on a device, compared with two ops on the CPU.
#include <ebb/ebb.h>

#include "support/catch.h"

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

TEST_CASE("linear_relu and linear_gelu record the nodes of linear and activation") {
  const Tensor x = ones({2, 3}, kCUDA).requires_grad_(), w = ones({4, 3}, kCUDA), b = ones({4}, kCUDA);
  CHECK(linear_relu(x, w, b).grad_fn()->name() == relu(linear(x, w, b)).grad_fn()->name());
  CHECK(linear_gelu(x, w, b).grad_fn()->name() == gelu(linear(x, w, b), "tanh").grad_fn()->name());
  CHECK_FALSE(linear_relu(x.detach(), w, b).requires_grad());
}

TEST_CASE("backward through an overwritten result of linear_relu is an error") {
  const Tensor x = ones({2, 3}, kCUDA).requires_grad_(), w = ones({4, 3}, kCUDA), b = ones({4}, kCUDA);
  Tensor y = linear_relu(x, w, b);
  const Tensor sum = y.sum();
  y.mul_(2);
  CHECK_THROWS_AS(y.sum().backward(), Error);
}

TEST_CASE("linear_relu handles layouts that the epilogue does not support") {
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
