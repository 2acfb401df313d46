// Accuracy of the pointwise rows of the op table, and of gradients of softmax and related ops if one
// probability is almost 1. Compiled twice, for the CPU and for a device.
#include <ebb/ebb.h>

#include "accuracy/measure.h"
#include "amp/device.h"
#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <cmath>
#include <sstream>

using namespace ebb;

// The pointwise rows of the op table against exact functions, over the whole range of every dtype.

namespace {

using namespace accuracy;

// The f32 and f64 functions of CUDA have errors of up to 6 ulp themselves
// (tests/cuda/unit/elementwise_test.cpp).
double slack(ebb::DType dtype) {
  const bool wide = dtype == ebb::kF64 || dtype == ebb::kF32;
  return kHere == ebb::kCUDA && wide && is_real_device() ? 6 : 0;
}

void check(ebb::DType dtype) {
  std::int64_t measured = 0;
  for (const optable::Row* row : optable::rows()) {
    const auto exact = functions().find(row->name);
    if (!is_measured(*row) || !is_measured(*row, dtype) || exact == functions().end()) continue;
    const Errors errors = measure(*row, exact->second, dtype, points_of(*row, dtype, Extent::reduced), kHere);
    for (int i = 0; i < kParts; ++i) {
      const auto part = static_cast<Part>(i);
      const Worst& worst = errors[static_cast<std::size_t>(i)];
      measured += worst.points;
      if (!exception_of(row->name, part, dtype).empty()) continue;
      INFO(name_of(part) << " of " << row->name << " in " << ebb::to_string(dtype) << " at " << worst.a
                         << ", " << worst.b << " is " << worst.got << " and should be " << worst.expected
                         << ", off by " << worst.ulps << " units in the last place");
      CHECK(holds(worst, dtype, slack(dtype)));
    }
  }
  CHECK(measured > 10000);
}

}  // namespace

TEST_CASE("every floating pointwise row of the op table has an exact reference unless its op never rounds") {
  for (const optable::Row* row : optable::rows()) {
    if (!is_measured(*row)) continue;
    INFO(row->name << " needs a formula in tests/accuracy/functions.cpp");
    CHECK(functions().contains(row->name) != unrounded().contains(row->name));
  }
}

TEST_CASE("f64 functions and their derivatives are accurate to 4 ulp over the whole range") {
  check(ebb::kF64);
}
TEST_CASE("f32 functions and their derivatives are accurate to 4 ulp over the whole range") {
  check(ebb::kF32);
}
TEST_CASE("f16 functions and their derivatives are accurate to 1 ulp over the whole range") {
  check(ebb::kHalf);
}
TEST_CASE("bf16 functions and their derivatives are accurate to 1 ulp over the whole range") {
  check(ebb::kBFloat16);
}

// Gradients of softmax and related ops if one probability is almost 1: the sum of the others is smaller than
// the rounding of 1.

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

TEST_CASE("softmax backward functions follow their formula even if the given outputs are no probabilities") {
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
