// Master weights: 16-bit parameters whose updates are computed on copies in f32.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <sstream>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Variable>;
constexpr DType kNarrow[] = {kHalf, kBFloat16};

template <class O>
O options(bool master) {
  return O(1e-3).weight_decay(0.01).master_weights(master);
}

/// Returns the gradient of update `step`, which is the same for every dtype of the parameter.
Variable gradient(const Variable& p, int step) {
  manual_seed(static_cast<std::uint64_t>(step));
  return randn(p.sizes()).to(kBFloat16).to(kHalf).to(p.dtype());
}

void step(Optimizer& optimizer, Variable& p, int from, int to) {
  for (int i = from; i < to; ++i) {
    p.mutable_grad() = gradient(p, i);
    optimizer.step();
  }
}

Variable start(DType dtype, IntArrayRef sizes = {37, 5}) {
  manual_seed(3);
  return randn(sizes).to(dtype).requires_grad_();
}

template <class Kind, class O>
void follows_float(DType dtype, const O& how) {
  Variable narrow = start(dtype), wide = narrow.detach().to(kFloat).requires_grad_();
  Kind optimizer({narrow}, how(true)), reference({wide}, how(false));
  for (int i = 0; i < 20; ++i) {
    step(optimizer, narrow, i, i + 1);
    step(reference, wide, i, i + 1);
    REQUIRE(equal(narrow, wide.to(dtype)));
  }
}

}  // namespace

TEST_CASE("parameters with master weights equal float parameters rounded to 16 bits") {
  for (const DType dtype : kNarrow) {
    INFO(dtype);
    follows_float<Adam>(dtype, options<AdamOptions>);
    follows_float<AdamW>(dtype, options<AdamWOptions>);
    follows_float<Adam>(dtype, [](bool master) { return options<AdamOptions>(master).amsgrad(true); });
  }
}

TEST_CASE("updates too small for 16 bits accumulate in the master weights") {
  const auto moved = [](bool master) {
    Variable p = ones({4}, kBFloat16).requires_grad_();
    Adam optimizer({p}, AdamOptions(1e-4).master_weights(master));
    for (int i = 0; i < 200; ++i) {
      p.mutable_grad() = ones({4}, kBFloat16);
      optimizer.step();
    }
    return 1 - p[0].item<double>();
  };
  CHECK(moved(false) == 0);
  CHECK(moved(true) == Approx(0.02).margin(0.004));
}

TEST_CASE("a write to the parameter resets its master weights") {
  Variable p = start(kHalf);
  AdamW optimizer({p}, options<AdamWOptions>(true));
  step(optimizer, p, 0, 5);
  {
    NoGradGuard no_grad;
    p.fill_(3);
  }
  Variable master = static_cast<const AdamWParamState&>(*optimizer.state().at(p.impl())).master();
  CHECK_FALSE(equal(master, full_like(master, 3)));
  optimizer.param_groups()[0].options().set_lr(0);
  step(optimizer, p, 5, 6);
  CHECK(equal(p, full_like(p, 3)));
  CHECK(equal(master, full_like(master, 3)));
}

TEST_CASE("master weights and float moments survive saving with equal bits") {
  for (const DType dtype : kNarrow) {
    Variable p = start(dtype);
    Adam optimizer({p}, options<AdamOptions>(true));
    step(optimizer, p, 0, 4);
    std::stringstream bytes;
    save(optimizer, bytes);
    Variable q = p.detach().clone().requires_grad_();
    Adam restored({q}, options<AdamOptions>(true));
    load(restored, bytes);
    for (const auto& [name, value] : restored.state_dict())
      CHECK((name == "0.step" || value.dtype() == kFloat));
    CHECK(optimizer.state_dict().size() == 4);
    CHECK(restored.state_dict().size() == 4);
    step(optimizer, p, 4, 8);
    step(restored, q, 4, 8);
    CHECK(equal(p, q));
  }
}

TEST_CASE("states change their dtype when master weights are switched on or off") {
  Variable p = start(kBFloat16);
  Adam optimizer({p}, options<AdamOptions>(false));
  const auto state = [&]() -> const AdamParamState& {
    return static_cast<const AdamParamState&>(*optimizer.state().at(p.impl()));
  };
  step(optimizer, p, 0, 2);
  CHECK(state().exp_avg().dtype() == kBFloat16);
  auto& how = static_cast<AdamOptions&>(optimizer.param_groups()[0].options());
  how.master_weights(true);
  step(optimizer, p, 2, 4);
  CHECK(state().exp_avg().dtype() == kFloat);
  CHECK(equal(state().master().to(kBFloat16), p));
  how.master_weights(false);
  step(optimizer, p, 4, 6);
  CHECK(state().exp_avg_sq().dtype() == kBFloat16);
}

TEST_CASE("float parameters have no master weights and strided 16-bit parameters have them") {
  for (const DType dtype : {kFloat, kDouble}) {
    Variable p = start(dtype), q = start(dtype);
    Adam with({p}, options<AdamOptions>(true)), without({q}, options<AdamOptions>(false));
    step(with, p, 0, 3);
    step(without, q, 0, 3);
    CHECK(equal(p, q));
    CHECK(with.state_dict().size() == 3);
  }
  Variable strided = start(kHalf, {20, 30}).detach().t().requires_grad_();
  Variable plain = strided.detach().contiguous().requires_grad_();
  Adam a({strided}, options<AdamOptions>(true)), b({plain}, options<AdamOptions>(true));
  step(a, strided, 0, 3);
  step(b, plain, 0, 3);
  CHECK(equal(strided, plain));
}
