// Variances, norms and normalisation of numbers whose squares are no floats, or that lie far from 0.
#include "check.h"

#include <ebb/ops/norm.h>

#include <cmath>

using namespace op_tests;
using namespace ebb;

namespace {

constexpr double kScales[] = {1e30, 1e-30};

const Values kNumbers{1, -2, 3, 0.5, -0.25, 4, 2, -1};

// The numbers times the scale, in float, eight a row.
Variable scaled(double scale) { return (tensor(kNumbers, kDouble) * scale).to(kFloat).view({1, 2, 4}); }

// Whether a is b within a few units of float's last place.
bool close(const Variable& a, const Variable& b) {
  return allclose(a.to(kDouble), b.to(kDouble), /*rtol=*/1e-6, /*atol=*/0);
}

}  // namespace

TEST_CASE("deviations of large and small floats are those of doubles") {
  for (const double scale : kScales) {
    INFO(scale);
    const Variable x = scaled(scale).set_requires_grad(true);
    const Variable wide = x.detach().to(kDouble).set_requires_grad(true);
    const Variable s = x.std({1, 2}, true), exact = wide.std({1, 2}, true);
    CHECK(close(s, exact));
    s.backward(ones_like(s));
    exact.backward(ones_like(exact));
    CHECK(close(x.grad(), wide.grad()));
    const auto [deviation, mean] = std_mean(x.detach(), true);
    CHECK(close(deviation, wide.detach().std(true)));
    CHECK(close(mean, wide.detach().mean()));
    CHECK(close(x.detach().std(1), wide.detach().std(1)));  // down columns
    CHECK(close(x.detach().norm(), wide.detach().norm()));
    CHECK(close(x.detach().norm(3), wide.detach().norm(3)));
    CHECK(close(x.detach().norm(2, 1), wide.detach().norm(2, 1)));
  }
}

TEST_CASE("the variance of floats with a large mean is that of doubles") {
  const Variable x = (tensor(kNumbers, kDouble) + 1e6).to(kFloat).view({2, 4});
  const Variable wide = x.to(kDouble);
  CHECK(close(x.var(false), wide.var(false)));
  CHECK(close(x.var(1), wide.var(1)));
  CHECK(close(x.var(0), wide.var(0)));
}

TEST_CASE("large and small floats are normalised as doubles are") {
  for (const double scale : kScales) {
    INFO(scale);
    const Variable x = scaled(scale).set_requires_grad(true);
    const Variable wide = x.detach().to(kDouble).set_requires_grad(true);
    const double eps = scale < 1 ? 0 : 1e-5;
    const Variable slope = tensor(kNumbers, kDouble).flip(0).view({1, 2, 4});
    const auto compare = [&](const char* name, auto&& norm) {
      INFO(name);
      x.mutable_grad() = Variable();
      wide.mutable_grad() = Variable();
      const Variable y = norm(x), exact = norm(wide);
      CHECK(allclose(y.to(kDouble), exact, 1e-5, 1e-6));
      y.backward(slope.to(kFloat));
      exact.backward(slope);
      CHECK(allclose(x.grad().to(kDouble) * scale, wide.grad() * scale, 1e-4, 1e-5));
    };
    compare("layer_norm", [&](const Variable& v) { return layer_norm(v, {2, 4}, {}, {}, eps); });
    compare("rms_norm", [&](const Variable& v) { return rms_norm(v, {4}, {}, eps); });
    compare("group_norm", [&](const Variable& v) { return group_norm(v, 1, {}, {}, eps); });
    compare("instance_norm",
            [&](const Variable& v) { return instance_norm(v, {}, {}, {}, {}, true, 0.1, eps, true); });
    compare("batch_norm",
            [&](const Variable& v) { return batch_norm(v, {}, {}, {}, {}, true, 0.1, eps, true); });
  }
}
