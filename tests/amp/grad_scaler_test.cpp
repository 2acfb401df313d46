// GradScaler: scales, skipped steps, state and errors, with values of torch 2.15.
#include <ebb/amp/grad_scaler.h>
#include <ebb/ebb.h>
#include <ebb/nn.h>
#include <ebb/optim.h>

#include "amp/device.h"
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

using namespace ebb;
using amp::GradScaler;
using amp::GradScalerOptions;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor parameter(std::vector<double> values) { return tensor(values, kFloat).to(kHere).requires_grad_(); }

struct Step {
  double scale;
  int tracker;
  double first;  // of the parameters
};

// Runs steps of SGD on the sum of squares; in the steps of `bad`, a gradient is infinite.
std::vector<Step> run(GradScalerOptions options, const std::set<int>& bad, int steps) {
  Tensor p = parameter({1, 2});
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  GradScaler scaler(kHere, options);
  std::vector<Step> out;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    scaler.scale((p * p).sum()).backward();
    if (bad.contains(i)) {
      const NoGradGuard no_grad;
      p.mutable_grad()[0].fill_(kInf);
    }
    const Tensor none = scaler.step(optimizer);
    CHECK_FALSE(none.defined());
    scaler.update();
    out.push_back(
        {scaler.get_scale(), static_cast<int>(scaler.get_growth_tracker()), p.detach()[0].item<double>()});
  }
  return out;
}

void compare(const std::vector<Step>& got, const std::vector<Step>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].scale == expected[i].scale);
    CHECK(got[i].tracker == expected[i].tracker);
    CHECK(got[i].first == Approx(expected[i].first).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("GradScaler skips steps and changes its scale as in torch") {
  const auto options = GradScalerOptions().init_scale(4).growth_interval(2);
  compare(run(options, {1, 4, 5}, 9), {{4, 1, 0.8},
                                       {2, 0, 0.8},
                                       {2, 1, 0.64},
                                       {4, 0, 0.512},
                                       {2, 0, 0.512},
                                       {1, 0, 0.512},
                                       {1, 1, 0.4096},
                                       {2, 0, 0.32768},
                                       {2, 1, 0.262144}});
}

TEST_CASE("the scale of GradScaler does not exceed the range of Float") {
  // The gradients of the first step overflow.
  compare(run(GradScalerOptions().init_scale(1e38).growth_factor(3).backoff_factor(0.25).growth_interval(1),
              {2}, 4),
          {{2.499999920071423e+37, 0, 1.0},
           {7.500000013744389e+37, 0, 0.8},
           {1.8750000034360973e+37, 0, 0.8},
           {5.624999756778172e+37, 0, 0.64}});
  const auto grown = run(GradScalerOptions().init_scale(1e38).growth_factor(8).growth_interval(1), {}, 3);
  CHECK(grown[0].scale == Approx(5e37));
  CHECK(grown[1].scale == Approx(5e37));
  CHECK(grown[1].tracker == 0);
}

TEST_CASE("GradScaler detects infinities and NaN at every position") {
  for (const double bad : {kInf, -kInf, std::nan("")})
    for (const DType dtype : {kFloat, kDouble, kBFloat16})
      for (const std::int64_t at : {0, 12344}) {
        CAPTURE(bad, dtype, at);
        Tensor clean = zeros({7, 3}).to(kHere, dtype).t().requires_grad_();  // not contiguous
        Tensor p = zeros({12345}).to(kHere, dtype).requires_grad_();
        clean.mutable_grad() = ones({3, 7}).to(kHere, dtype);
        p.mutable_grad() = ones({12345}).to(kHere, dtype);
        optim::SGD optimizer({clean, p}, optim::SGDOptions(1));
        GradScaler scaler(kHere, GradScalerOptions().init_scale(8));
        scaler.scale(ones({}, TensorOptions(kHere)));
        scaler.step(optimizer);
        CHECK(p.detach()[at].item<double>() == -0.125);
        CHECK(clean.detach().eq(-0.125).all().item<bool>());
        CHECK(clean.grad().eq(0.125).all().item<bool>());
        scaler.update();
        CHECK(scaler.get_scale() == 8);
        p.mutable_grad()[at].fill_(bad);
        scaler.step(optimizer);
        CHECK(p.detach()[at].item<double>() == -0.125);
        scaler.update();
        CHECK(scaler.get_scale() == 4);
      }
}

TEST_CASE("GradScaler unscales gradients once before clipping") {
  Tensor p = parameter({3, 4});
  optim::SGD optimizer({p}, optim::SGDOptions(1));
  GradScaler scaler(kHere, GradScalerOptions().init_scale(1024));
  const auto outputs = scaler.scale(std::vector<Tensor>{(p * p).sum() / 2, p.sum() * 0});
  CHECK(outputs[0].item<double>() == 12.5 * 1024);
  autograd::backward(outputs, {});
  scaler.unscale_(optimizer);
  CHECK(p.grad()[0].item<double>() == 3);
  CHECK(nn::utils::clip_grad_norm_({p}, 1.0) == Approx(5));
  scaler.step(optimizer);
  CHECK(p.detach()[0].item<double>() == Approx(3 - 0.6));
  CHECK_THROWS_WITH(scaler.unscale_(optimizer), support::Contains("being called after step()"));
  CHECK_THROWS_WITH(scaler.step(optimizer), support::Contains("already been called since the last update()"));
  scaler.update();
  scaler.unscale_(optimizer);
  CHECK_THROWS_WITH(scaler.unscale_(optimizer), support::Contains("unscale_() has already been called"));
  scaler.update(32);
  CHECK(scaler.get_scale() == 32);
  scaler.update(full({1}, 16, TensorOptions(kDouble)));
  CHECK(scaler.get_scale() == 16);
  CHECK_THROWS_WITH(scaler.update(zeros({2})), support::Contains("one number"));
}

TEST_CASE("every overload of GradScaler::update begins a new iteration") {
  using Update = std::function<void(GradScaler&)>;
  const Update updates[] = {[](GradScaler& s) { s.update(); }, [](GradScaler& s) { s.update(8.0); },
                            [](GradScaler& s) { s.update(full({1}, 8.0)); }};
  for (const Update& update : updates) {
    const Tensor p = parameter({1, 2});
    optim::SGD optimizer({p}, optim::SGDOptions(1));
    GradScaler scaler(kHere, GradScalerOptions().init_scale(8));
    for (int iteration = 0; iteration < 3; ++iteration) {
      const double before = p.detach()[0].item<double>();
      optimizer.zero_grad();
      scaler.scale((p * 0.25).sum()).backward();
      scaler.unscale_(optimizer);
      CHECK(p.grad()[0].item<double>() == 0.25);
      scaler.step(optimizer);
      CHECK(p.detach()[0].item<double>() == before - 0.25);
      update(scaler);
      CHECK(scaler.get_scale() == 8);
    }
  }
}

TEST_CASE("one GradScaler can be used with two optimizers") {
  Tensor a = parameter({1}), b = parameter({1});
  optim::SGD first({a}, optim::SGDOptions(1));
  optim::Adam second({b}, optim::AdamOptions(0.5));
  GradScaler scaler(kHere, GradScalerOptions().init_scale(2).growth_interval(1));
  scaler.scale((a * 0.25).sum() + b.sum()).backward();
  b.mutable_grad().fill_(kInf);
  scaler.step(first);
  scaler.step(second);
  CHECK(a.item<double>() == 0.75);
  CHECK(b.item<double>() == 1);
  scaler.update();
  CHECK(scaler.get_scale() == 1);
}

TEST_CASE("a disabled GradScaler only calls step") {
  Tensor p = parameter({2});
  optim::SGD optimizer({p}, optim::SGDOptions(0.5));
  GradScaler scaler(kHere, GradScalerOptions().enabled(false));
  CHECK_FALSE(scaler.is_enabled());
  CHECK(scaler.get_scale() == 1);
  CHECK(scaler.get_growth_tracker() == 0);
  const Tensor loss = scaler.step(optimizer, [&] {
    const Tensor value = (p * p).sum();
    scaler.scale(value).backward();
    return value;
  });
  CHECK(loss.item<double>() == 4);
  scaler.update();
  CHECK(p.item<double>() == 0);
  CHECK(scaler.state_dict().empty());
  scaler.load_state_dict({});
}

TEST_CASE("GradScaler restores its saved state") {
  Tensor p = parameter({1});
  optim::SGD optimizer({p}, optim::SGDOptions(0.5));
  GradScaler scaler(kHere, GradScalerOptions().init_scale(64).growth_factor(4).backoff_factor(0.25));
  scaler.set_growth_interval(7);
  scaler.scale(p.sum()).backward();
  scaler.step(optimizer);
  scaler.update();
  std::stringstream file;
  serialize::OutputArchive out;
  scaler.save(out);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  GradScaler fresh(kHere), running(kHere);
  running.scale(p.sum());
  for (GradScaler* each : {&fresh, &running}) {
    each->load(in);
    CHECK(each->get_scale() == 64);
    CHECK(each->get_growth_factor() == 4);
    CHECK(each->get_backoff_factor() == 0.25);
    CHECK(each->get_growth_interval() == 7);
    CHECK(each->get_growth_tracker() == 1);
    CHECK(each->scale(p.sum()).item<double>() == 64 * p.item<double>());
    CHECK(each->get_growth_tracker() == 1);
  }
  CHECK_THROWS_WITH(fresh.load_state_dict({}), support::Contains("empty"));
  CHECK_THROWS_WITH(fresh.load_state_dict({{"scale", ones({1})}}), support::Contains("no 'growth_factor'"));
}

TEST_CASE("GradScaler throws for invalid calls and options") {
  CHECK_THROWS_WITH(GradScaler(kHere, GradScalerOptions().growth_factor(1)), support::Contains("> 1.0"));
  CHECK_THROWS_WITH(GradScaler(kHere, GradScalerOptions().backoff_factor(1)), support::Contains("< 1.0"));
  CHECK_THROWS_WITH(GradScaler(kHere, GradScalerOptions().growth_interval(0)), support::Contains("positive"));
  Tensor p = parameter({1}), h = tensor({1.0}, kHalf).to(kHere).requires_grad_();
  optim::SGD optimizer({p}, optim::SGDOptions(1)), halves({h}, optim::SGDOptions(1));
  GradScaler scaler(kHere);
  CHECK(scaler.get_scale() == 65536);
  CHECK_THROWS_WITH(scaler.unscale_(optimizer), support::Contains("there is no scale yet"));
  CHECK_THROWS_WITH(scaler.step(optimizer), support::Contains("there is no scale yet"));
  CHECK_THROWS_WITH(scaler.update(), support::Contains("there is no scale yet"));
  CHECK_THROWS_WITH(scaler.scale(Tensor()), support::Contains("undefined"));
  scaler.scale(h.sum()).backward();
  CHECK_THROWS_WITH(scaler.update(), support::Contains("No inf checks were recorded prior"));
  CHECK_THROWS_WITH(scaler.step(optimizer), support::Contains("No inf checks were recorded for this"));
  CHECK_THROWS_WITH(scaler.step(halves), support::Contains("FP16 gradients"));
  CHECK_THROWS_WITH(scaler.step(optimizer, [&] { return p; }), support::Contains("Closure"));
}
