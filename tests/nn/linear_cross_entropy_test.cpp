// A linear map and its cross-entropy in one: numbers of torch 2.15, whole and in chunks; the module.
#include <ebb/ebb.h>

#include <sstream>

#include "support/catch.h"

using namespace ebb;
namespace F = ebb::nn::functional;

namespace {

using Numbers = std::vector<double>;
using Options = F::LinearCrossEntropyFuncOptions;

Variable wave(std::int64_t count, double rate, double start) { return arange(count, kDouble) * rate + start; }
Variable given(std::vector<std::int64_t> sizes, double start) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return wave(count, 0.7, start).sin().reshape(sizes).requires_grad_();
}
double mark(const Variable& x) {
  return (x.detach().reshape({-1}) * wave(x.numel(), 0.3, 1).cos()).sum().item<double>();
}

struct Given {
  Variable x = given({5, 3}, 20), weight = given({4, 3}, 21), bias = given({4}, 22);
  Variable target = tensor(std::vector<std::int64_t>{0, 3, -100, 2, 1});
};

void check(Given in, const Options& options, const Numbers& expected) {
  for (const optional<std::int64_t> chunk :
       {optional<std::int64_t>(), optional<std::int64_t>(2), optional<std::int64_t>(9)}) {
    CAPTURE(chunk.value_or(0));
    for (Variable* each : {&in.x, &in.weight, &in.bias}) *each = each->detach().requires_grad_();
    const Variable loss = F::linear_cross_entropy(
        in.x, in.weight, in.target, Options(options).linear_bias(in.bias).batch_chunk_size(chunk));
    (loss * wave(loss.numel(), 0.9, 0).cos().reshape(loss.sizes())).sum().backward();
    const Numbers got{mark(loss), mark(in.x.grad()), mark(in.weight.grad()), mark(in.bias.grad())};
    for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-11));
  }
}

}  // namespace

TEST_CASE("a linear map and its cross-entropy give torch's numbers whole and in chunks") {
  const Variable classes = tensor({.5, 1., 2., .25}, kDouble);
  const Options weighted = Options().weight(classes).label_smoothing(0.1);
  check({}, weighted, {0.63035982840928, 0.13586420601272, 0.5418663681449, 0.11363611450614});
  check({}, Options(weighted).reduction(kSum),
        {2.3638493565348, 0.5094907725477, 2.0319988805434, 0.42613542939801});
  check({}, Options(weighted).reduction(kNone),
        {-0.76166739859809, -0.087845003748839, -3.0158328586693, -0.4412820477891});
  Given soft;
  soft.target = softmax(given({5, 4}, 23).detach(), 1);
  check(soft, Options().weight(classes),
        {0.95571305241752, 0.26937071442801, 0.2524322358278, 0.10154366414003});
  check(soft, Options().weight(classes).reduction(kSum),
        {4.7785652620876, 1.3468535721401, 1.262161179139, 0.50771832070013});
  Given places;
  places.weight = given({4, 2, 3}, 21);
  places.bias = given({4, 2}, 22);
  places.target = tensor(std::vector<std::int64_t>{0, 3, 1, -100, 2, 2, 0, 1, 3, 3}).reshape({5, 2});
  check(places, {}, {0.93536025533722, 0.43166541249929, 0.26459671092451, -0.20347744543217});
  check(places, Options().reduction(kNone),
        {-4.6250811135126, 1.0571478667824, 5.3586486268148, -1.6155194899007});
  Given one;
  one.x = given({3}, 20);
  one.target = tensor(std::int64_t{2});
  check(one, {}, {0.66289372542631, 0.22580970347955, 1.6790724877516, 0.22359747745634});
}

TEST_CASE("the mean over no class that counts is NaN") {
  Given in;
  in.target.fill_(-100);
  for (const std::int64_t chunk : {2, 9})
    CHECK(F::linear_cross_entropy(in.x, in.weight, in.target, Options().batch_chunk_size(chunk))
              .isnan()
              .item<bool>());
}

TEST_CASE("LinearCrossEntropyLoss has a map of its own") {
  nn::LinearCrossEntropyLoss m(
      nn::LinearCrossEntropyLossOptions(3, 4).out_features({2}).bias(true).batch_chunk_size(2));
  CHECK(m->state_dict().keys() == std::vector<std::string>{"linear.weight", "linear.bias"});
  CHECK(m->linear->weight.sizes() == IntArrayRef({8, 3}));
  const Variable x = rand({5, 3}), target = randint(0, 4, {5, 2}, kLong);
  const Variable logits = m->linear(x).reshape({5, 4, 2});
  CHECK(allclose(m(x, target), F::cross_entropy(logits, target)));
  std::ostringstream text;
  text << nn::LinearCrossEntropyLoss(3, 4);
  CHECK(text.str() ==
        "ebb::nn::LinearCrossEntropyLossImpl(\n  (linear): ebb::nn::Linear(in_features=3, out_features=4, "
        "bias=false)\n)");
}
