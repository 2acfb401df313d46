// L-BFGS on the function of Rosenbrock: values of torch 2.15, and errors.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;

namespace {

struct Valley {
  Variable a = tensor({-1.2, 1.0, 0.5, -0.7}, kDouble).requires_grad_();
  Variable b = tensor({0.3, 2.0}, kDouble).requires_grad_();
  std::unique_ptr<LBFGS> optimizer;
  double sign;  // multiplies the loss

  explicit Valley(const LBFGSOptions& options, double sign = 1)
      : optimizer(std::make_unique<LBFGS>(std::vector<Variable>{a, b}, options)), sign(sign) {}
  double step() {
    const auto loss = [&] {
      optimizer->zero_grad();
      const Variable x = cat({a, b}), from = x.slice(0, 0, 5), to = x.slice(0, 1);
      const Variable value = ((to - from * from).pow(2) * 100 + (1 - from).pow(2)).sum() * sign;
      value.backward();
      return value;
    };
    return optimizer->step(loss).item<double>();
  }
  std::int64_t evaluations() const {
    return static_cast<const LBFGSParamState&>(*optimizer->state().at(a.impl())).func_evals();
  }
};

struct Step {
  double loss, a, b;
  std::int64_t evaluations;
};

void check(const LBFGSOptions& options, const std::vector<Step>& expected) {
  Valley valley(options);
  for (const Step& each : expected) {
    CHECK(valley.step() == Approx(each.loss).epsilon(1e-7));
    CHECK(valley.a[0].item<double>() == Approx(each.a).epsilon(1e-7));
    CHECK(valley.b[1].item<double>() == Approx(each.b).epsilon(1e-7));
    CHECK(valley.evaluations() == each.evaluations);
  }
}

}  // namespace

// The line search amplifies rounding errors by up to a thousand per call, in torch as well.
TEST_CASE("L-BFGS has the values of torch") {
  check(LBFGSOptions().max_iter(8).history_size(5).line_search_fn("strong_wolfe"),
        {{511.5, -0.2700341261080762, -0.034055161825230384, 10},
         {6.921073830991286, 0.17369026518014716, -0.0017089134729984226, 20},
         {4.807716766078826, 0.8293716421745388, 0.0009205715142219968, 30},
         {2.7785561886870282, 0.9371172041926319, 0.06572476393777978, 40},
         {0.9035962808733138, 0.9870387279108613, 0.6116784866753586, 49}});
  check(LBFGSOptions(1e-3).max_iter(6).history_size(3),
        {{511.5, -1.1562285279901292, 1.8348847213688528, 6},
         {375.33907847805204, -1.1458803873179186, 1.7958909419374807, 12},
         {336.9164366585544, -1.137838881676328, 1.7703419851774245, 18},
         {304.3635967548826, -1.1316421622924135, 1.7589728916506933, 24},
         {278.8407203059266, -1.126526250438009, 1.7596856856457723, 30},
         {259.14515862073455, -1.1219417781463317, 1.7702287439824256, 36}});
  check(LBFGSOptions(0.5).line_search_fn("strong_wolfe"),
        {{511.5, -0.20791339784612317, -0.007650450616370383, 21},
         {5.360141130898573, 0.8550808018635521, 0.02108449930939477, 43}});
}

TEST_CASE("L-BFGS with maximize on the negative loss takes the same steps") {
  for (const LBFGSOptions& options : {LBFGSOptions(0.5).line_search_fn("strong_wolfe"), LBFGSOptions(1e-3)}) {
    Valley down(options), up(LBFGSOptions(options).maximize(true), -1);
    for (int i = 0; i < 3; ++i) {
      CHECK(up.step() == -down.step());
      CHECK(equal(up.a, down.a));
      CHECK(equal(up.b, down.b));
    }
  }
}

TEST_CASE("L-BFGS converges to the minimum and stops") {
  Valley valley(LBFGSOptions(0.5).line_search_fn("strong_wolfe"));
  for (int i = 0; i < 6; ++i) valley.step();
  CHECK(valley.step() < 1e-9);
  const std::int64_t before = valley.evaluations();
  valley.step();
  CHECK(valley.evaluations() - before <= 2);
}

TEST_CASE("a restored L-BFGS continues with the same steps") {
  const LBFGSOptions options = LBFGSOptions().max_iter(4).history_size(3).line_search_fn("strong_wolfe");
  Valley valley(options), again(options);
  for (int i = 0; i < 3; ++i) valley.step();
  std::stringstream bytes;
  save(*valley.optimizer, bytes);
  load(*again.optimizer, bytes);
  again.a.detach().copy_(valley.a.detach());
  again.b.detach().copy_(valley.b.detach());
  for (int i = 0; i < 3; ++i) CHECK(valley.step() == again.step());
  CHECK(equal(valley.b, again.b));
}

TEST_CASE("L-BFGS throws for missing closures and invalid options") {
  using support::Contains;
  Valley valley(LBFGSOptions(1));
  CHECK_THROWS_WITH(valley.optimizer->step(nullptr), Contains("needs a closure"));
  const std::vector<Variable> p{valley.a};
  CHECK_THROWS_WITH(LBFGS(p, LBFGSOptions().line_search_fn("armijo")), Contains("'armijo'"));
  CHECK_THROWS_WITH(LBFGS({OptimizerParamGroup(p), OptimizerParamGroup({valley.b})}),
                    Contains("got 2 groups"));
  Valley grown(LBFGSOptions(1));
  grown.optimizer->add_param_group(OptimizerParamGroup(p));
  CHECK_THROWS_WITH(grown.step(), Contains("got 2 groups"));
  CHECK_THROWS_WITH(valley.optimizer->load_state_dict({{"0.old_dirs.x", ones({2})}}), Contains("old_dirs.x"));
}

TEST_CASE("states of LBFGS are equal only if every field is equal") {
  using optim::LBFGSParamState;
  const auto state = [] {
    LBFGSParamState made;
    made.func_evals(3).n_iter(2).t(0.5).prev_loss(1.5).H_diag(2).d(ones({2})).prev_flat_grad(zeros({2}));
    made.old_dirs({ones({2}), zeros({2})}).old_stps({ones({2})});
    return made;
  };
  CHECK(state() == state());
  const std::vector<std::function<void(LBFGSParamState&)>> changes = {
      [](auto& s) { s.func_evals(4); },
      [](auto& s) { s.n_iter(1); },
      [](auto& s) { s.t(0.25); },
      [](auto& s) { s.prev_loss(0); },
      [](auto& s) { s.H_diag(1); },
      [](auto& s) { s.d(zeros({2})); },
      [](auto& s) { s.prev_flat_grad({}); },
      [](auto& s) { s.old_dirs({ones({2}), ones({2})}); },
      [](auto& s) { s.old_dirs({ones({2})}); },
      [](auto& s) { s.old_stps({zeros({2})}); }};
  for (const auto& change : changes) {
    INFO("change " << &change - changes.data());
    LBFGSParamState other = state();
    change(other);
    CHECK_FALSE(other == state());
    CHECK_FALSE(state() == other);
  }
}
