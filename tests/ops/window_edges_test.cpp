// Means over windows that begin in the padding, and sums over any number of rows.
#include "check.h"

using namespace op_tests;

namespace {

// Sums over the windows of a line, the padding counted as zeros.
Values window_sums(const Values& x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const auto n = static_cast<std::int64_t>(x.size());
  Values out;
  for (std::int64_t start = -padding; start + kernel <= n + padding; start += stride) {
    double sum = 0;
    for (std::int64_t i = std::max<std::int64_t>(start, 0); i < std::min(n, start + kernel); ++i)
      sum += x[static_cast<std::size_t>(i)];
    out.push_back(sum);
  }
  return out;
}

}  // namespace

TEST_CASE("average pooling counts each element once, whatever the stride and the padding") {
  const Variable x = count({1, 1, 11}) + 1;
  for (std::int64_t kernel = 1; kernel <= 7; ++kernel)
    for (std::int64_t stride = 1; stride <= 4; ++stride)
      for (std::int64_t padding = 0; padding <= kernel / 2; ++padding) {
        INFO("kernel " << kernel << ", stride " << stride << ", padding " << padding);
        const Variable leaf = x.detach().clone().set_requires_grad(true);
        const Variable y = ebb::avg_pool1d(leaf, {kernel}, {stride}, {padding});
        const Values sums = values(y * static_cast<double>(kernel));
        const Values expected = window_sums(values(x), kernel, stride, padding);
        REQUIRE(sums.size() == expected.size());
        for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == Approx(expected[i]));
        // As the op is linear, the gradient of the sum times x is the sum.
        y.sum().backward();
        CHECK((leaf.grad() * x).sum().item<double>() == Approx(y.sum().item<double>()));
      }
}

TEST_CASE("layer_norm's weight and bias take gradients from every row, whatever their number") {
  for (const std::int64_t rows : {1, 15, 16, 17, 32, 50}) {
    INFO(rows << " rows");
    const Variable x = ramp({rows, 3});
    const Variable weight = ebb::ones({3}, ebb::kDouble).set_requires_grad(true);
    const Variable bias = ebb::zeros({3}, ebb::kDouble).set_requires_grad(true);
    const Variable y = ebb::layer_norm(x, {3}, weight, bias), plain = ebb::layer_norm(x, {3});
    const Variable seed = ramp({rows, 3}, 1.1);
    y.backward(seed);
    CHECK(ebb::allclose(bias.grad(), seed.sum(0)));
    CHECK(ebb::allclose(weight.grad(), (seed * plain).sum(0)));
  }
}
