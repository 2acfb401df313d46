// Losses: known values, plain loops, values of torch 2.15, derivatives, reductions, errors.
#include <ebb/autograd/backward.h>
#include <ebb/cuda/cuda.h>
#include <ebb/ebb.h>
#include <ebb/nn/modules/loss.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/creation/tensor_data.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "support/catch.h"

#include <cmath>
#include <vector>

// Losses: known values, plain loops, first and second derivatives, reductions, special cases, errors.

using namespace ebb;
using support::Contains;

namespace {

using Inputs = variable_list;

Variable wave(IntArrayRef sizes, double low, double high, double phase = 0.3) {
  const Variable x = arange(checked_numel(sizes), TensorOptions(kDouble));
  return ((x * 1.7 + phase).sin() * ((high - low) / 2) + (high + low) / 2).reshape(sizes);
}
Variable leaf(Variable x) { return x.requires_grad_(); }
double value(const Variable& x) { return x.item<double>(); }

template <class F>
void check_derivatives(F f, const Inputs& inputs) {
  CHECK(gradcheck(f, inputs));
  CHECK(gradgradcheck(f, inputs));
}

}  // namespace

TEST_CASE("pointwise losses equal their formulas under every reduction") {
  const Variable x = wave({5, 7}, -2, 2), y = wave({5, 7}, -2, 2, 1.1);
  const auto check = [&](auto loss, auto formula) {
    double sum = 0;
    const Variable each = loss(x, y, Reduction::None);
    for (std::int64_t i = 0; i < 35; ++i) {
      const double expected = formula(value(x.flatten()[i]), value(y.flatten()[i]));
      CHECK(value(each.flatten()[i]) == Approx(expected).epsilon(1e-13));
      sum += expected;
    }
    CHECK(value(loss(x, y, Reduction::Sum)) == Approx(sum).epsilon(1e-13));
    CHECK(value(loss(x, y, Reduction::Mean)) == Approx(sum / 35).epsilon(1e-13));
  };
  check([](auto&&... a) { return mse_loss(a...); }, [](double a, double b) { return (a - b) * (a - b); });
  check([](auto&&... a) { return l1_loss(a...); }, [](double a, double b) { return std::abs(a - b); });
  check([](auto&&... a) { return smooth_l1_loss(a..., 0.7); },
        [](double a, double b) {
          const double d = std::abs(a - b);
          return d < 0.7 ? d * d / 1.4 : d - 0.35;
        });
  check([](auto&&... a) { return huber_loss(a..., 0.7); },
        [](double a, double b) {
          const double d = std::abs(a - b);
          return d <= 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
        });
  check([](auto&&... a) { return soft_margin_loss(a...); },
        [](double a, double b) { return std::log1p(std::exp(-a * b)); });
}

TEST_CASE("pointwise losses have the right first and second derivatives for input and target") {
  const Inputs both{leaf(wave({3, 4}, -2, 2)), leaf(wave({3, 4}, -2, 2, 1.1))};
  const Inputs probabilities{leaf(wave({3, 4}, 0.1, 0.9)), leaf(wave({3, 4}, 0.1, 0.9, 2.0))};
  const Variable weight = wave({4}, 0.5, 2), positive = wave({3, 4}, 0.5, 2, 0.9);
  for (const std::int64_t how : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
    check_derivatives([&](const Inputs& in) { return Inputs{mse_loss(in[0], in[1], how)}; }, both);
    check_derivatives([&](const Inputs& in) { return Inputs{smooth_l1_loss(in[0], in[1], how, 0.7)}; }, both);
    check_derivatives([&](const Inputs& in) { return Inputs{huber_loss(in[0], in[1], how, 0.7)}; }, both);
    check_derivatives(
        [&](const Inputs& in) { return Inputs{soft_margin_loss(in[0], both[1].detach(), how)}; }, {both[0]});
    check_derivatives(
        [&](const Inputs& in) { return Inputs{binary_cross_entropy(in[0], in[1], weight, how)}; },
        probabilities);
    check_derivatives(
        [&](const Inputs& in) {
          return Inputs{binary_cross_entropy_with_logits(in[0], in[1], weight, positive, how)};
        },
        both);
    check_derivatives(
        [&](const Inputs& in) { return Inputs{binary_cross_entropy_with_logits(in[0], in[1], {}, {}, how)}; },
        both);
    check_derivatives([&](const Inputs& in) { return Inputs{kl_div(in[0], in[1].exp(), how)}; }, both);
    check_derivatives(
        [&](const Inputs& in) { return Inputs{poisson_nll_loss(in[0], in[1], true, false, 1e-8, how)}; },
        both);
  }
}

TEST_CASE("the gradient of a broadcast target of a loss is summed to the shape of the target") {
  Variable x = leaf(wave({3, 4}, -1, 1)), y = leaf(wave({4}, -1, 1, 2));
  mse_loss(x, y, Reduction::Sum).backward();
  CHECK(y.grad().sizes() == IntArrayRef({4}));
  CHECK(value((y.grad() + x.grad().sum(0)).abs().max()) < 1e-14);
}

TEST_CASE("binary_cross_entropy accepts a target that differs only in dimensions of size 1") {
  const Variable x = leaf(wave({4, 1}, 0.1, 0.9)), y = leaf(wave({4}, 0.1, 0.9, 2.0)),
                 column = y.unsqueeze(1);
  for (const std::int64_t how : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
    CHECK(equal(binary_cross_entropy(x, y, {}, how), binary_cross_entropy(x, column, {}, how)));
    CHECK(binary_cross_entropy(column.squeeze(), x, {}, how).dim() == (how == Reduction::None ? 1 : 0));
    check_derivatives([&](const Inputs& in) { return Inputs{binary_cross_entropy(in[0], in[1], {}, how)}; },
                      {x, y});
  }
  const Variable rows = wave({2, 1, 4}, 0.1, 0.9);
  CHECK(equal(binary_cross_entropy(rows, y, {}, Reduction::None),
              binary_cross_entropy(rows, y.expand({2, 1, 4}), {}, Reduction::None)));
  CHECK_THROWS_WITH(binary_cross_entropy(y, rows),
                    support::Contains("[2, 1, 4]") && support::Contains("[4]"));
  CHECK_THROWS_WITH(binary_cross_entropy(x, wave({5}, 0.1, 0.9)),
                    Contains("binary_cross_entropy: the target's shape [5] does not fit"));
  CHECK_THROWS_WITH(binary_cross_entropy(x, Variable()),
                    Contains("binary_cross_entropy: the target is undefined"));
}

TEST_CASE("binary_cross_entropy_with_logits is finite for saturated logits") {
  Variable x = leaf(tensor({1000.0, -1000.0, 1000.0, -1000.0}, kDouble));
  const Variable y = tensor({1.0, 0.0, 0.0, 1.0}, kDouble);
  const Variable loss = binary_cross_entropy_with_logits(x, y, {}, {}, Reduction::None);
  CHECK(value(loss[0]) == 0);
  CHECK(value(loss[1]) == 0);
  CHECK(value(loss[2]) == 1000);
  CHECK(value(loss[3]) == 1000);
  loss.sum().backward();
  CHECK(value(x.grad()[2]) == 1);
  CHECK(value(x.grad()[3]) == -1);
  Variable sure = leaf(tensor({40.0, -40.0}, kFloat));
  const Variable right = binary_cross_entropy_with_logits(sure, tensor({1.0F, 0.0F}), {}, {}, Reduction::Sum);
  CHECK(value(right) == Approx(2 * std::exp(-40.0)).epsilon(1e-6));
  right.backward();
  CHECK(value(sure.grad()[0]) == Approx(-std::exp(-40.0)).epsilon(1e-6));
  CHECK(value(sure.grad()[1]) == Approx(std::exp(-40.0)).epsilon(1e-6));
  const Variable p = tensor({0.0, 1.0}, kDouble), t = tensor({1.0, 0.0}, kDouble);
  CHECK(value(binary_cross_entropy(p, t)) == 100);
}

TEST_CASE("cross_entropy_loss selects the class by index") {
  const Variable x = wave({4, 3}, -2, 2);
  const Variable t = tensor({2, 0, 1, 2}), w = wave({3}, 0.5, 2);
  double plain = 0, weighted = 0, weights = 0;
  for (int n = 0; n < 4; ++n) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(value(x[n][c]));
    const auto c = t[n].item<std::int64_t>();
    const double loss = std::log(sum) - value(x[n][c]);
    plain += loss;
    weighted += loss * value(w[c]);
    weights += value(w[c]);
  }
  CHECK(value(cross_entropy_loss(x, t)) == Approx(plain / 4).epsilon(1e-13));
  CHECK(value(cross_entropy_loss(x, t, {}, Reduction::Sum)) == Approx(plain).epsilon(1e-13));
  CHECK(value(cross_entropy_loss(x, t, w)) == Approx(weighted / weights).epsilon(1e-13));
  CHECK(value(nll_loss(x.log_softmax(1), t, w)) == Approx(weighted / weights).epsilon(1e-13));
  CHECK(cross_entropy_loss(x, t, {}, Reduction::None).sizes() == IntArrayRef({4}));
  CHECK(value(cross_entropy_loss(x[0], t[0])) ==
        Approx(value(cross_entropy_loss(x, t, {}, Reduction::None)[0])).epsilon(1e-14));
  // One-hot probabilities give the same loss.
  CHECK(value(cross_entropy_loss(x, one_hot(t, 3).to(kDouble))) == Approx(plain / 4).epsilon(1e-13));
}

TEST_CASE("cross_entropy_loss has the right first and second derivatives") {
  const Variable t = tensor({2, 0, 1, -100}), w = wave({3}, 0.5, 2);
  const Variable t2 = tensor({0, 1, 2, 2, 1, 0, 2, 2}).view({2, 2, 2});
  const Inputs rows{leaf(wave({4, 3}, -2, 2))}, images{leaf(wave({2, 3, 2, 2}, -2, 2))};
  for (const std::int64_t how : {Reduction::None, Reduction::Mean, Reduction::Sum})
    for (const double smoothing : {0.0, 0.2}) {
      check_derivatives(
          [&](const Inputs& in) { return Inputs{cross_entropy_loss(in[0], t, w, how, -100, smoothing)}; },
          rows);
      check_derivatives(
          [&](const Inputs& in) { return Inputs{cross_entropy_loss(in[0], t2, {}, how, 1, smoothing)}; },
          images);
    }
  const Variable soft = wave({4, 3}, 0.1, 0.9, 2).softmax(1);
  check_derivatives([&](const Inputs& in) { return Inputs{cross_entropy_loss(in[0], soft, w)}; }, rows);
}

TEST_CASE("cross_entropy_loss of only ignored targets has mean NaN and sum 0") {
  Variable x = leaf(wave({2, 3}, -1, 1));
  const Variable t = tensor({-100, -100});
  CHECK(std::isnan(value(cross_entropy_loss(x, t))));
  CHECK(value(cross_entropy_loss(x, t, {}, Reduction::Sum)) == 0);
  cross_entropy_loss(x, t, {}, Reduction::Sum).backward();
  CHECK(value(x.grad().abs().sum()) == 0);
}

TEST_CASE("graph nodes of losses have the names of torch") {
  const Variable x = leaf(wave({3, 4}, 0.1, 0.9)), y = wave({3, 4}, 0.1, 0.9, 1);
  const Variable t = tensor({0, 1, 3});
  const auto name = [](const Variable& v) { return v.grad_fn()->name(); };
  CHECK(name(mse_loss(x, y)) == "MseLossBackward0");
  CHECK(name(l1_loss(x, y)) == "MeanBackward0");
  CHECK(name(smooth_l1_loss(x, y)) == "SmoothL1LossBackward0");
  CHECK(name(huber_loss(x, y)) == "HuberLossBackward0");
  CHECK(name(binary_cross_entropy(x, y)) == "BinaryCrossEntropyBackward0");
  CHECK(name(binary_cross_entropy_with_logits(x, y)) == "BinaryCrossEntropyWithLogitsBackward0");
  CHECK(name(soft_margin_loss(x, y)) == "SoftMarginLossBackward0");
  CHECK(name(cross_entropy_loss(x, t)) == "NllLossBackward0");
  CHECK(name(nll_loss2d(x.view({3, 4, 1, 1}), t.view({3, 1, 1}))) == "NllLoss2DBackward0");
}

TEST_CASE("margin losses equal their definitions") {
  const Variable x = tensor({{0.1, 0.2, 0.4, 0.8}}, kDouble);
  CHECK(value(multi_margin_loss(x, tensor({3}))) ==
        Approx(0.25 * ((1 - (0.8 - 0.1)) + (1 - (0.8 - 0.2)) + (1 - (0.8 - 0.4)))));
  CHECK(value(multilabel_margin_loss(x, tensor({{3, 0, -1, 1}}))) ==
        Approx(0.25 * ((1 - (0.1 - 0.2)) + (1 - (0.1 - 0.4)) + (1 - (0.8 - 0.2)) + (1 - (0.8 - 0.4)))));
  const Variable a = tensor({1.0, -1.0}, kDouble), b = tensor({0.5, 2.0}, kDouble),
                 s = tensor({1.0, -1.0}, kDouble);
  CHECK(value(margin_ranking_loss(a, b, s, 0.1, Reduction::Sum)) == Approx(0));
  CHECK(value(margin_ranking_loss(b, a, s, 0.1, Reduction::Sum)) == Approx(0.6 + 3.1));
  CHECK(value(hinge_embedding_loss(a, s, 1.0, Reduction::Sum)) == Approx(1 + 2));
  const Variable p = wave({2, 3}, -1, 1), q = wave({2, 3}, -1, 1, 1), r = wave({2, 3}, -1, 1, 2);
  const auto distance = [&](const Variable& u, const Variable& v, int i) {
    double sum = 0;
    for (int j = 0; j < 3; ++j) sum += std::pow(value(u[i][j]) - value(v[i][j]) + 1e-6, 2);
    return std::sqrt(sum);
  };
  double expected = 0;
  for (int i = 0; i < 2; ++i) expected += std::max(0.0, distance(p, q, i) - distance(p, r, i) + 1) / 2;
  CHECK(value(triplet_margin_loss(p, q, r)) == Approx(expected).epsilon(1e-12));
  const Inputs three{leaf(p), leaf(q), leaf(r)};
  check_derivatives([](const Inputs& in) { return Inputs{triplet_margin_loss(in[0], in[1], in[2])}; }, three);
  check_derivatives(
      [](const Inputs& in) {
        return Inputs{cosine_embedding_loss(in[0], in[1], tensor({1.0, -1.0}, TensorOptions(kDouble)))};
      },
      three);
}

TEST_CASE("error messages of losses contain the invalid argument") {
  const Variable x = wave({3, 4}, 0.1, 0.9);
  CHECK_THROWS_WITH(cross_entropy_loss(x, tensor({0, 1, 7})), Contains("Target 7 is out of bounds"));
  CHECK_THROWS_MATCHES(cross_entropy_loss(x, tensor({0, 1, 7})), IndexError,
                       support::Saying("cross_entropy_loss: Target 7 is out of bounds for 4"));
  CHECK_THROWS_WITH(cross_entropy_loss(x, tensor({0, 1})), Contains("[3, 4]") && Contains("[2]"));
  CHECK_THROWS_WITH(cross_entropy_loss(x, tensor({0, 1, 2}, kInt)),
                    Contains("expected scalar type Long but found Int"));
  CHECK_THROWS_WITH(cross_entropy_loss(x, tensor({0, 1, 2}), {}, 1, -100, 2.0), Contains("label_smoothing"));
  CHECK_THROWS_WITH(binary_cross_entropy(x * 10, x), Contains("between 0 and 1"));
  CHECK_THROWS_WITH(huber_loss(x, x, 1, 0.0), Contains("non-positive values for delta"));
  CHECK_THROWS_WITH(mse_loss(x, x, 7), Contains("reduction"));
  CHECK_THROWS_WITH(mse_loss(x.to(kLong), x.to(kLong)), Contains("floating"));
}

TEST_CASE("losses of 16-bit inputs compute in float and accept strided inputs") {
  const Variable x = wave({6, 5}, -1, 1), y = wave({6, 5}, -1, 1, 2);
  CHECK(mse_loss(x.to(kHalf), y.to(kHalf)).item<double>() == Approx(value(mse_loss(x, y))).epsilon(2e-3));
  CHECK(value(mse_loss(x.t(), y.t())) == Approx(value(mse_loss(x, y))).epsilon(1e-14));
  const Variable t = tensor({0, 1, 2, 3, 4});
  CHECK(value(cross_entropy_loss(x.t(), t)) ==
        Approx(value(cross_entropy_loss(x.t().contiguous(), t))).epsilon(1e-14));
  CHECK(cross_entropy_loss(x.t().to(kBFloat16), t).item<double>() ==
        Approx(value(cross_entropy_loss(x.t(), t))).epsilon(2e-2));
}

TEST_CASE("kl_div with log_target has a gradient for its target") {
  const Variable x = ebb::randn({3}, ebb::kDouble).requires_grad_(),
                 y = ebb::randn({3}, ebb::kDouble).requires_grad_();
  const auto f = [](const ebb::variable_list& in) {
    return ebb::variable_list{ebb::kl_div(in[0], in[1], ebb::Reduction::Sum, true)};
  };
  CHECK(ebb::gradcheck(f, {x, y}));
}

// ctc_loss against values of torch 2.15, and without an alignment.

using ebb::Variable;

namespace {

Variable log_probs() {
  return ebb::tensor({.1, .5, -.3, .2, -.4, .6, .7, .0, .1, -.2, .3, .4,
                      .3, .3, -.6, .9, -.1, .2, .0, .8, .4, .1,  .2, -.5},
                     ebb::kDouble)
      .view({4, 2, 3})
      .log_softmax(2);
}

Variable longs(std::vector<std::int64_t> values) { return ebb::tensor(values, ebb::kLong); }

void require_close(const Variable& x, const std::vector<double>& expected) {
  const Variable flat = x.cpu().contiguous();
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    const double got = flat.data_ptr<double>()[i];
    if (std::isfinite(expected[i]))
      CHECK(got == Approx(expected[i]).epsilon(1e-9).margin(1e-10));
    else
      CHECK((std::isnan(expected[i]) ? std::isnan(got) : got == expected[i]));
  }
}

}  // namespace

TEST_CASE("ctc_loss has the value and gradient of torch") {
  const Variable x = log_probs().requires_grad_();
  const Variable padded = longs({1, 2, 2, 2}).view({2, 2});
  require_close(ebb::ctc_loss(x, padded, {4, 3}, {2, 2}, 0, ebb::Reduction::None),
                {1.8262896591, 3.5326171520});
  require_close(ebb::ctc_loss(x, padded, longs({4, 3}), longs({2, 2})), {1.3397267028});
  require_close(ebb::ctc_loss(x, padded, {4, 3}, {0, 1}, 0, ebb::Reduction::None),
                {4.2962952566, 1.0597414100});
  require_close(ebb::ctc_loss(x, padded, {4, 0}, {0, 0}, 0, ebb::Reduction::None), {4.2962952566, 0});
  require_close(ebb::ctc_loss(x.select(1, 0), longs({1, 2}), {4}, {2}), {0.9131448295});
  const Variable sum = ebb::ctc_loss(x, longs({1, 2, 2, 2}), {4, 3}, {2, 2}, 0, ebb::Reduction::Sum);
  require_close(sum, {5.3589068111});
  require_close(ebb::autograd::grad({sum}, {x})[0], {0.0221790546,
                                                     -0.2341617753,
                                                     0.2119827207,
                                                     0.3288785275,
                                                     0.1804923627,
                                                     -0.5093708902,
                                                     0.0466334302,
                                                     -0.1755380012,
                                                     0.1289045709,
                                                     -0.7763283893,
                                                     0.3687721423,
                                                     0.4075562470,
                                                     0.0018895077,
                                                     0.1332022820,
                                                     -0.1350917897,
                                                     0.5363469611,
                                                     0.1973110203,
                                                     -0.7336579814,
                                                     0.0207185435,
                                                     0.4717762211,
                                                     -0.4924947646,
                                                     0,
                                                     0,
                                                     0});
}

TEST_CASE("ctc_loss is infinite if no alignment exists, or 0 with zero_infinity") {
  const double nan = NAN;
  std::vector<ebb::Device> devices{ebb::Device(ebb::kCPU)};
  if (ebb::cuda::is_available()) devices.emplace_back(ebb::kCUDA);
  for (const ebb::Device device : devices)
    for (const bool zero : {false, true}) {
      const Variable x = log_probs().to(device).requires_grad_();
      const Variable targets = longs({2, 2, 2, 1, 0, 0}).view({2, 3}).to(device);
      const Variable loss = ebb::ctc_loss(x, targets, {4, 4}, {3, 1}, 0, ebb::Reduction::None, zero);
      require_close(loss, {zero ? 0 : INFINITY, 2.2685577237});
      const double none = zero ? 0 : nan;
      require_close(ebb::autograd::grad({loss.sum()}, {x})[0],
                    {none, none, none, -0.3615631377, -0.1290659721, 0.4906291098,
                     none, none, none, -0.1252614594, -0.2822947876, 0.4075562470,
                     none, none, none, -0.0682203038, -0.1981217148, 0.2663420186,
                     none, none, none, -0.2568155723, 0.0500276131,  0.2067879592});
    }
}

TEST_CASE("ctc_loss of an empty target has a finite gradient for every reduction") {
  const Variable targets = longs({1, 0, 0, 0}).view({2, 2});
  const auto gradient = [&](ebb::Reduction::Reduction reduction) {
    const Variable x = log_probs().requires_grad_();
    const Variable loss = ebb::ctc_loss(x, targets, {4, 3}, {1, 0}, 0, reduction);
    CHECK(loss.isfinite().all().item<bool>());
    return ebb::autograd::grad({loss.sum()}, {x})[0];
  };
  const Variable sum = gradient(ebb::Reduction::Sum), each = gradient(ebb::Reduction::None),
                 mean = gradient(ebb::Reduction::Mean);
  CHECK(ebb::equal(sum, each));
  // The mean divides by the target lengths, at least 1, and by the batch size 2.
  CHECK(ebb::allclose(mean, sum / 2, 1e-12, 1e-12));
  CHECK(sum.select(1, 1).narrow(0, 0, 3).ne(0).any().item<bool>());
}

TEST_CASE("ctc_loss throws for invalid lengths and targets") {
  const Variable x = log_probs(), padded = longs({1, 2, 2, 2}).view({2, 2});
  const auto said = [](const char* text) { return support::Contains(text); };
  CHECK_THROWS_WITH(ebb::ctc_loss(x, padded, {5, 3}, {2, 2}), said("input_lengths to have value at most 4"));
  CHECK_THROWS_WITH(ebb::ctc_loss(x, padded, {4, 3}, {3, 2}), said("at least 3"));
  CHECK_THROWS_WITH(ebb::ctc_loss(x, longs({1, 2, 2}), {4, 3}, {2, 2}), said("4 elements, but got 3"));
  CHECK_THROWS_WITH(ebb::ctc_loss(x, padded.to(ebb::kFloat), {4, 3}, {2, 2}), said("Long or Int"));
  CHECK_THROWS_WITH(ebb::ctc_loss(x, padded, {4}, {2, 2}), said("batch_size"));
  CHECK_THROWS_MATCHES(ebb::ctc_loss(x, padded + 1, {4, 3}, {2, 2}), ebb::IndexError,
                       support::Saying("ctc_loss: label 3 of a target is out of bounds for 3"));
  const Variable leaf = log_probs().requires_grad_();
  const Variable g =
      ebb::autograd::grad({ebb::ctc_loss(leaf, padded, {4, 3}, {2, 2})}, {leaf}, {}, true, true)[0];
  CHECK_THROWS_MATCHES(g.sum().backward(), ebb::NotImplementedError,
                       support::Saying("ctc_loss: the derivative of its gradient is not"));
}

TEST_CASE("the module CTCLoss applies its options") {
  ebb::nn::CTCLoss loss(ebb::nn::CTCLossOptions().blank(0).reduction(ebb::kSum).zero_infinity(true));
  require_close(loss(log_probs(), longs({1, 2, 2, 2}), longs({4, 3}), longs({2, 2})), {5.3589068111});
}

TEST_CASE("ctc_loss on CUDA reports labels that are not classes") {
  if (!ebb::cuda::is_available()) return;
  const Variable x = log_probs().to(ebb::kCUDA);
  ebb::ctc_loss(x, longs({1, 9, 2, 2}).to(ebb::kCUDA), {4, 3}, {2, 2});
  CHECK_THROWS_AS(ebb::cuda::synchronize(), ebb::IndexError);
}
