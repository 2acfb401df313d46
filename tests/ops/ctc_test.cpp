// ctc_loss against numbers of torch 2.15, and where there is no alignment.
#include <ebb/autograd/backward.h>
#include <ebb/cuda/cuda.h>
#include <ebb/nn/modules/ctc_loss.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/ctc_loss.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>
#include <ebb/ops/tensor_data.h>

#include <cmath>
#include <vector>

#include "support/catch.h"

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

TEST_CASE("ctc_loss gives torch's numbers and gradient") {
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

TEST_CASE("ctc_loss is infinite without an alignment, or zero when asked") {
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

TEST_CASE("ctc_loss of a target without labels has a finite gradient in every reduction") {
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
  // The mean divides by the lengths of targets, 1 and at least 1, and by two.
  CHECK(ebb::allclose(mean, sum / 2, 1e-12, 1e-12));
  CHECK(sum.select(1, 1).narrow(0, 0, 3).ne(0).any().item<bool>());
}

TEST_CASE("ctc_loss says what is wrong with its lengths and targets") {
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

TEST_CASE("the module takes its options") {
  ebb::nn::CTCLoss loss(ebb::nn::CTCLossOptions().blank(0).reduction(ebb::kSum).zero_infinity(true));
  require_close(loss(log_probs(), longs({1, 2, 2, 2}), longs({4, 3}), longs({2, 2})), {5.3589068111});
}

TEST_CASE("the emulated device finds labels that are no classes") {
  if (!ebb::cuda::is_available()) return;
  const Variable x = log_probs().to(ebb::kCUDA);
  ebb::ctc_loss(x, longs({1, 9, 2, 2}).to(ebb::kCUDA), {4, 3}, {2, 2});
  CHECK_THROWS_AS(ebb::cuda::synchronize(), ebb::IndexError);
}
