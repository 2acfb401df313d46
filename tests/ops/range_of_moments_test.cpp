// Variances, norms and normalisation of numbers whose squares are no floats, or that lie far from 0.
#include "check.h"

#include <ebb/ops/linalg.h>
#include <ebb/ops/norm.h>

#include <cmath>
#include <functional>

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

TEST_CASE("norms and deviations of large and small floats have the derivatives of doubles") {
  using Function = std::function<Variable(const Variable&)>;
  const std::pair<const char*, Function> functions[] = {
      {"norm", [](const Variable& x) { return x.norm(2, IntArrayRef{2}); }},
      {"norm 3", [](const Variable& x) { return x.norm(3, IntArrayRef{2}); }},
      {"norm 1.5", [](const Variable& x) { return x.norm(1.5, IntArrayRef{2}); }},
      {"norm -2", [](const Variable& x) { return x.norm(-2, IntArrayRef{2}); }},
      {"std", [](const Variable& x) { return x.std(IntArrayRef{2}); }},
      {"cdist", [](const Variable& x) { return cdist(x, x.detach().flip(2)); }},
      {"cdist 3", [](const Variable& x) { return cdist(x, x.detach().flip(2), 3); }},
      {"hypot", [](const Variable& x) { return hypot(x, x.detach().flip(2)); }}};
  const auto derivatives = [](const Function& f, const Variable& x, double scale) {
    const Variable leaf = x.detach().set_requires_grad(true), y = f(leaf);
    const Variable once = autograd::grad({y.sum()}, {leaf}, {}, true, true)[0];
    const Variable weights = tensor(kNumbers, kDouble).view(x.sizes()).to(x.dtype());
    const Variable twice = autograd::grad({(once * weights).sum()}, {leaf})[0];
    return stack({once.detach().to(kDouble), twice.to(kDouble) * scale}, 0);
  };
  for (const double scale : kScales)
    for (const auto& [name, f] : functions) {
      INFO(name << " at " << scale);
      const Variable x = scaled(scale);
      CHECK(close(f(x), f(x.to(kDouble))));
      CHECK(allclose(derivatives(f, x, scale), derivatives(f, x.to(kDouble), scale), 1e-4, 1e-5));
    }
}

TEST_CASE("the gradient of logsumexp is shared out where the logarithm of the count is lost") {
  const Variable x = full({3}, 1e20, kFloat).set_requires_grad(true);
  const Variable g = autograd::grad({x.logsumexp(0)}, {x})[0];
  CHECK(close(g, full({3}, 1.0 / 3, kDouble)));
  const Variable h = autograd::grad({x.logcumsumexp(0).select(0, 2)}, {x})[0];
  CHECK(h.sum().item<double>() == 1);
  const Variable narrow = tensor({100.0, 100.0, 99.0}, kDouble).to(kBFloat16).set_requires_grad(true);
  const Variable shares = autograd::grad({narrow.logsumexp(0)}, {narrow})[0];
  CHECK(allclose(shares.to(kDouble), narrow.detach().to(kDouble).softmax(0), 4e-3, 0));
}
