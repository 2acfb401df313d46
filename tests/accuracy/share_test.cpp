// Gradients of softmax and related ops if one probability is almost 1: the sum of the others is smaller than
// the rounding of 1. Compiled twice, for the CPU and for a device.
#include <ebb/ebb.h>

#include "amp/device.h"
#include "support/catch.h"

#include <cmath>

using namespace ebb;

namespace {

struct Line {
  std::int64_t classes, leader;
  double gap;
};

/// Returns a line of scores, all at least `gap` below that of the leader.
Tensor scores(const Line& line, DType dtype) {
  Tensor x = arange(line.classes, kDouble).remainder(7) * -0.25 - line.gap;
  x[line.leader].fill_(1.5);
  return x.to(dtype);
}

/// Returns 1 minus the probability of the leader.
double rest(const Tensor& x, std::int64_t leader) {
  const Tensor wide = x.to(kDouble);
  Tensor others = exp(wide - wide[leader]);
  others[leader].fill_(0);
  const double sum = others.sum().item<double>();
  return sum / (1 + sum);
}

/// Returns a bound of the rounding errors: of the terms, which exponentials of 40 amplify, and of their sum,
/// which has at least 32 bits.
double rounding(DType dtype, std::int64_t terms) {
  const double sum = dtype == kDouble ? 0x1p-52 : 0x1p-23;
  const double term = dtype == kHalf ? 0x1p-10 : dtype == kBFloat16 ? 0x1p-7 : sum;
  return 40 * term + static_cast<double>(terms) / 16 * sum;
}

double gradient(const std::function<Tensor(const Tensor&)>& op, const Tensor& x, std::int64_t at) {
  Tensor leaf = x.detach().to(kHere).requires_grad_();
  const Tensor loss = op(leaf);
  loss.backward({}, /*retain_graph=*/true);
  // The recorded gradient must agree.
  const Tensor recorded = autograd::grad({loss}, {leaf}, {}, true, true)[0].detach();
  REQUIRE(allclose(recorded, leaf.grad(), rounding(leaf.dtype(), leaf.size(0)), 0));
  return leaf.grad().select(0, at).flatten()[-1].item<double>();
}

void require_near(double got, double expected, DType dtype, std::int64_t terms) {
  INFO("relative error " << got / expected - 1);
  REQUIRE(got == Approx(expected).epsilon(rounding(dtype, terms)));
}

}  // namespace

TEST_CASE("the gradient of a softmax value next to 1 is accurate") {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16})
    for (const Line& line :
         {Line{4, 0, 30}, {4, 3, 5}, {5, 2, 0.5}, {40, 17, 25}, {3000, 2999, 33}, {20000, 1, 40}})
      for (const std::int64_t columns : {0, 1, 9, 200}) {
        if (dtype == kHalf && line.gap > 5) continue;  // the other probabilities underflow
        INFO(to_string(dtype) << ", " << line.classes << " classes, gap " << line.gap << ", " << columns
                              << " columns");
        const Tensor one = scores(line, dtype);
        const double expected = rest(one, line.leader);
        const Tensor x = columns == 0 ? one : one.view({-1, 1}).expand({line.classes, columns}).contiguous();
        const auto own = [&](const Tensor& y) { return y.select(0, line.leader).sum(); };
        require_near(gradient([&](const Tensor& y) { return own(softmax(y, 0)); }, x, line.leader),
                     expected * (1 - expected), dtype, line.classes);
        require_near(gradient([&](const Tensor& y) { return own(log_softmax(y, 0)); }, x, line.leader),
                     expected, dtype, line.classes);
        const auto loss = [&](const Tensor& y) {
          const Tensor rows = columns == 0 ? y.view({1, -1}) : y.t();
          return cross_entropy_loss(rows, full({rows.size(0)}, line.leader, kLong).to(kHere), {},
                                    Reduction::Sum);
        };
        require_near(gradient(loss, x, line.leader), -expected, dtype, line.classes);
      }
}

TEST_CASE("softmax backward functions of arbitrary data follow their formula") {
  const Tensor y = tensor({0.9, 0.7, -2.0}, kDouble).to(kHere),
               g = tensor({1.0, 2.0, 3.0}, kDouble).to(kHere);
  const double inner = 0.9 + 1.4 - 6;
  CHECK(_softmax_backward_data(g, y, 0, kDouble)[0].item<double>() == Approx(0.9 * (1 - inner)));
  const Tensor log = _log_softmax_backward_data(g, y, 0, kDouble);
  CHECK(log[1].item<double>() == Approx(2 - std::exp(0.7) * 6));
}

TEST_CASE("softmax backward with an infinite or NaN gradient has NaN results") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {infinity, std::nan("")}) {
    Tensor x = tensor({40.0, 0.0, 1.0}, kDouble).to(kHere).requires_grad_();
    softmax(x, 0).backward(tensor({bad, 1.0, 1.0}, kDouble).to(kHere));
    CHECK(std::isnan(x.grad()[0].item<double>()));
  }
}
