// Schedulers that start in the middle of a sequence, user-defined schedulers, and the line search of L-BFGS.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <functional>

using namespace ebb;
using namespace ebb::optim;

namespace {

std::unique_ptr<SGD> two_groups() {
  const auto group = [](double lr) {
    return OptimizerParamGroup({zeros({1}).requires_grad_()}, std::make_unique<SGDOptions>(lr));
  };
  return std::make_unique<SGD>(std::vector<OptimizerParamGroup>{group(0.1), group(0.4)}, SGDOptions(0.1));
}
std::vector<double> rates(Optimizer& optimizer) {
  std::vector<double> all;
  for (OptimizerParamGroup& group : optimizer.param_groups()) all.push_back(group.options().get_lr());
  return all;
}

using Milestones = std::vector<std::int64_t>;

struct Halving : LRScheduler {
  using LRScheduler::LRScheduler;
  std::size_t count = 2;
  unsigned steps() const { return step_count_; }

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> all = get_current_lrs();
    for (double& each : all) each /= 2;
    all.resize(count);
    return all;
  }
};

struct Point {
  double t, loss, slope;
};

// Returns the points that one line search along x, from 0, evaluates; x ends at the last one.
std::vector<Point> searched(const std::function<Variable(const Variable&)>& loss_of) {
  const Variable x = zeros({1}, kDouble).requires_grad_();
  LBFGS optimizer({x}, LBFGSOptions(1).max_iter(1).line_search_fn("strong_wolfe"));
  std::vector<Point> points;
  optimizer.step([&] {
    optimizer.zero_grad();
    const Variable loss = loss_of(x);
    loss.backward();
    points.push_back({x.item<double>(), loss.item<double>(), x.grad().item<double>()});
    return loss;
  });
  CHECK(x.item<double>() == points.back().t);
  return points;
}

}  // namespace

TEST_CASE("from its milestone on, a scheduler in SequentialLR sets the same rates as alone") {
  using Make = std::function<std::shared_ptr<EpochScheduler>(Optimizer&)>;
  const std::pair<const char*, Make> schedules[] = {
      {"StepLR", [](Optimizer& o) { return std::make_shared<StepLR>(o, 3u, 0.5); }},
      {"StepLR of Python",
       [](Optimizer& o) { return std::make_shared<StepLR>(o, 2u, 0.5, StepLR::Counting::kPython); }},
      {"MultiStepLR",
       [](Optimizer& o) { return std::make_shared<MultiStepLR>(o, Milestones{0, 2, 2, 5}, 0.3); }},
      {"ConstantLR", [](Optimizer& o) { return std::make_shared<ConstantLR>(o, 0.25, 3); }},
      {"LinearLR", [](Optimizer& o) { return std::make_shared<LinearLR>(o, 0.2, 0.9, 4); }},
      {"ExponentialLR", [](Optimizer& o) { return std::make_shared<ExponentialLR>(o, 0.9); }},
      {"PolynomialLR", [](Optimizer& o) { return std::make_shared<PolynomialLR>(o, 5, 2.0); }}};
  for (const auto& [name, make] : schedules) {
    const auto first = two_groups(), second = two_groups();
    const auto before = std::make_shared<ExponentialLR>(*first, 0.7);
    SequentialLR sequence(*first, {before, make(*first)}, {4});
    for (int epoch = 0; epoch < 3; ++epoch) sequence.step();
    const auto alone = make(*second);
    for (int epoch = 0; epoch < 8; ++epoch) {
      INFO(name << ", epoch " << epoch);
      sequence.step();
      if (epoch > 0) alone->step();
      sequence.LRScheduler::step();  // the function of the base class, which changes nothing here
      for (const std::size_t group : {0, 1})
        CHECK(rates(*first)[group] == Approx(rates(*second)[group]).epsilon(1e-12).margin(1e-15));
    }
  }
}

TEST_CASE("ConstantLR with factor 0 restores the initial rates of the groups") {
  const auto optimizer = two_groups();
  ConstantLR schedule(*optimizer, 0, 2);
  for (const double rate : {0.0, 0.0, 0.1, 0.1}) {
    CHECK(rates(*optimizer) == std::vector<double>{rate, 4 * rate});
    schedule.step();
  }
}

TEST_CASE("a user-defined scheduler sets one rate per group in each step") {
  const auto optimizer = two_groups();
  Halving halving(*optimizer);
  LRScheduler& schedule = halving;
  schedule.step();
  schedule.step();
  CHECK(rates(*optimizer) == std::vector<double>{0.025, 0.1});
  CHECK(halving.steps() == 2);
  halving.count = 3;
  CHECK_THROWS_MATCHES(
      schedule.step(), Error,
      support::Saying("LRScheduler: get_lrs() gave 3 learning rates for 2 parameter groups."));
  CHECK(rates(*optimizer) == std::vector<double>{0.025, 0.1});
  CHECK(halving.steps() == 2);
}

TEST_CASE("CyclicLR uses scale_fn per cycle or per iteration in place of the mode") {
  for (const bool by_cycle : {true, false}) {
    const auto optimizer = two_groups();
    const auto scale = [](double x) { return 1 / (1 + x * x); };
    CyclicLR schedule(*optimizer, 0.01, 0.05,
                      CyclicLROptions()
                          .step_size_up(2)
                          .step_size_down(3)
                          .mode(CyclicLROptions::Mode::exp_range)
                          .gamma(0.5)
                          .scale_fn(scale)
                          .scale_by_cycle(by_cycle)
                          .cycle_momentum(false));
    const double share[] = {0, 0.5, 1, 2. / 3, 1. / 3};
    for (int step = 0; step < 12; ++step) {
      INFO("step " << step);
      const double height = scale(by_cycle ? 1 + step / 5 : step);
      CHECK(rates(*optimizer)[1] == Approx(0.01 + 0.04 * share[step % 5] * height).epsilon(1e-12));
      schedule.step();
    }
  }
}

TEST_CASE("the line search of L-BFGS on an unbounded loss extrapolates by 10 for 25 steps") {
  const auto points = searched([](const Variable& x) { return -x.sum(); });
  REQUIRE(points.size() == 1 + 1 + 25);
  for (std::size_t i = 1; i < points.size(); ++i)
    CHECK(points[i].t == Approx(std::pow(10, i - 1)).epsilon(1e-12));
}

TEST_CASE("the line search of L-BFGS chooses the minimum of the cubic between its last two points") {
  for (const double wall : {0.7, 0.8}) {
    INFO("a wall at " << wall);
    const auto points =
        searched([&](const Variable& x) { return -x.sum() + 10 * (x - wall).clamp_min(0).pow(2).sum(); });
    REQUIRE(points.size() == 4);
    const Point start = points[0], far = points[1], near = points[2], last = points[3];
    CHECK(far.t == 1);
    CHECK(near.slope == -1);  // not yet at the wall
    // The derivative of the Hermite cubic from the near point to the far point.
    const double length = far.t - near.t, s = (last.t - near.t) / length;
    const double slope = (6 * s * s - 6 * s) * (near.loss - far.loss) / length +
                         (3 * s * s - 4 * s + 1) * near.slope + (3 * s * s - 2 * s) * far.slope;
    CHECK(slope == Approx(0).margin(1e-12));
    CHECK(last.loss <= start.loss + 1e-4 * last.t * start.slope);
    CHECK(std::abs(last.slope) <= 0.9 * std::abs(start.slope));
  }
}
