// Means over windows of every size, stride and padding.
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
