// Tests of the op against its formula in ebb's ops, and of its derivatives against finite differences.
#include <ebb/ebb.h>

#include "snake.h"
#include "support/catch.h"

using namespace ebb;
using support::Contains;

namespace {

Variable composed(const Variable& x, double frequency) {
  return x + (frequency * x).sin().square() / frequency;
}

Variable some(std::vector<std::int64_t> sizes) { return randn(sizes, kDouble).requires_grad_(); }

}  // namespace

TEST_CASE("snake computes x + sin(ax)^2 / a") {
  manual_seed(1);
  for (const double frequency : {0.5, 1.0, 3.0}) {
    const Variable x = some({20, 500});
    CHECK(allclose(snake(x, frequency), composed(x, frequency)));
    CHECK(allclose(snake(x.t(), frequency), composed(x.t(), frequency)));
    CHECK(allclose(snake(x.to(kFloat), frequency), composed(x, frequency).to(kFloat), 1e-5, 1e-6));
  }
  CHECK(snake(zeros({0, 3})).sizes() == IntArrayRef({0, 3}));
}

TEST_CASE("snake: derivatives up to the third are correct") {
  manual_seed(1);
  const auto f = [](const Variable& x) { return snake(x, 1.7); };
  CHECK(gradcheck(f, {some({3, 4})}));
  CHECK(gradgradcheck(f, {some({3, 4})}));
  CHECK(gradcheck(f, {some({4, 3}).t()}));
  // The third derivative of x + sin^2(x) is -4 sin(2x).
  Variable x = some({5}), d = snake(x).sum();
  for (int i = 0; i < 3; ++i) d = autograd::grad({d.sum()}, {x}, {}, true, true)[0];
  CHECK(allclose(d, -4 * (2 * x).sin()));
}

TEST_CASE("snake refuses a frequency of 0 and integer inputs") {
  CHECK_THROWS_WITH(snake(ones({2}), 0), Contains("positive frequency"));
  CHECK_THROWS_WITH(snake(ones({2}, kLong)), Contains("snake") && Contains("Float or Double"));
}

TEST_CASE("snake gives the same results on a GPU and on the CPU") {
  if (!cuda::is_available()) return;
  manual_seed(1);
  const Variable x = some({33, 77}), y = x.detach().to(kCUDA).requires_grad_();
#ifdef SNAKE_HAS_CUDA
  CHECK(allclose(snake(y, 2).cpu(), snake(x, 2)));
  snake(x, 2).square().sum().backward();
  snake(y, 2).square().sum().backward();
  CHECK(allclose(y.grad().cpu(), x.grad()));
#else
  CHECK_THROWS_WITH(snake(y, 2), Contains("nvcc"));
#endif
}
