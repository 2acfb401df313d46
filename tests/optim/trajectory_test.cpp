// Optimizers of PyTorch that libtorch 1.13 does not have: trajectories of torch 2.15 over 100 steps in f64,
// with the learning rate halved on the way.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <functional>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Make = std::function<std::unique_ptr<Optimizer>(const Variable&)>;

template <class O, class Options>
Make make(const Options& options) {
  return [=](const Variable& p) { return std::make_unique<O>(std::vector<Variable>{p}, options); };
}

/// Returns the gradient of step t.
Variable gradient(const Variable& p, int t) {
  const Variable x = p.detach() - 0.3;
  return x.pow(3) * 4 + sin(arange(p.numel(), kDouble) + t) * 0.5;
}

Variable start() { return tensor({1.0, -0.5, 2.0}, kDouble).requires_grad_(); }

/// Runs the steps from `from` to `to`, inclusive.
void run(Optimizer& optimizer, Variable& p, int from, int to) {
  for (int t = from; t <= to; ++t) {
    p.mutable_grad() = gradient(p, t);
    OptimizerOptions& options = optimizer.param_groups()[0].options();
    if (t == 51) options.set_lr(options.get_lr() / 2);
    optimizer.step();
  }
}

struct Trajectory {
  const char* name;
  Make make;
  double at[5][3];  // after steps 1, 2, 10, 60 and 100
};

const std::vector<Trajectory>& trajectories() {
  static const std::vector<Trajectory> all = {
      {"NAdam(NAdamOptions(0.05))",
       make<NAdam>(NAdamOptions(0.05)),
       {
           {0.9471774113768786, -0.4471774114137494, 1.9471774111090134},
           {0.9107431205415408, -0.40794312375963454, 1.9101335862363762},
           {0.7227817095728623, -0.17818527921860108, 1.6428698416752883},
           {0.427207260384821, 0.16870822184592338, 0.8567439423746491},
           {0.4346709860602293, 0.1920977947705032, 0.7580509280758756},
       }},
      {"NAdam(NAdamOptions(0.05).weight_decay(0.1).momentum_decay(0.01).betas({0.8, 0.99}))",
       make<NAdam>(NAdamOptions(0.05).weight_decay(0.1).momentum_decay(0.01).betas({0.8, 0.99})),
       {
           {0.945233097412368, -0.44523309745627837, 1.9452330971505047},
           {0.9047270452254282, -0.40198119764332535, 1.9041234851979478},
           {0.6901953527876582, -0.1496283487586513, 1.6017114052485621},
           {0.3572545866889022, 0.12615963678285044, 0.8648352800709496},
           {0.31558530248444777, 0.14911074352990344, 0.7404575493934953},
       }},
      {"NAdam(NAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true))",
       make<NAdam>(NAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true)),
       {
           {0.9421774113768786, -0.4446774114137494, 1.9371774111090134},
           {0.9013364990339287, -0.40340220042412994, 1.890791621218958},
           {0.6927876537345452, -0.16617964361024862, 1.565085555518013},
           {0.3608949303713039, 0.1564772225228271, 0.7117555204003767},
           {0.3505594417132953, 0.17062831257957697, 0.6035015234055976},
       }},
      {"RAdam(RAdamOptions(0.05))",
       make<RAdam>(RAdamOptions(0.05)),
       {
           {0.9103632253798026, -0.42033243567064205, 1.0138719997985035},
           {0.8320038175776667, -0.3451083008100678, 0.5184220728391753},
           {0.6886151649809987, -0.13292186096542172, -0.16648703284974978},
           {0.5990660811561864, -0.02704252906829353, -0.14483958173574168},
           {0.5593886719813096, 0.02082566160558092, -0.11596580758665044},
       }},
      {"RAdam(RAdamOptions(0.05).betas({0.8, 0.98}).weight_decay(0.1))",
       make<RAdam>(RAdamOptions(0.05).betas({0.8, 0.98}).weight_decay(0.1)),
       {
           {0.9053632253798026, -0.417832435670642, 1.0038719997985035},
           {0.8235090508594525, -0.34101430129546234, 0.5301240141712942},
           {0.6647095323014656, -0.11176058326679751, -0.05473259957289281},
           {0.4169102301958624, 0.09823078306613382, -0.0012611916312816394},
           {0.3470073321966295, 0.1337600710747283, 0.045482094580289956},
       }},
      {"RAdam(RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true))",
       make<RAdam>(RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true)),
       {
           {0.9053632253798026, -0.417832435670642, 1.0038719997985035},
           {0.8230604221625084, -0.3409273597397067, 0.5049895797204933},
           {0.6550034309691509, -0.12373473221542221, -0.1760951659021767},
           {0.47690580700007584, -0.010999906511737951, -0.1212456479645605},
           {0.4245308039645799, 0.03062325641554609, -0.08657211469067447},
       }},
      {"Adamax(AdamaxOptions(0.05).weight_decay(0.1))",
       make<Adamax>(AdamaxOptions(0.05).weight_decay(0.1)),
       {
           {0.9500000002641679, -0.4500000003042563, 1.9500000000250972},
           {0.903353985050173, -0.4002649072525608, 1.9027761573516218},
           {0.6982094360981814, -0.12069927247775213, 1.5924361414209525},
           {0.43915879495918203, 0.12805426217411467, 0.9820982835603589},
           {0.4095713151659551, 0.13438898670585672, 0.9109116036810895},
       }},
      {"Adadelta(AdadeltaOptions(1.0).weight_decay(0.1))",
       make<Adadelta>(AdadeltaOptions(1.0).weight_decay(0.1)),
       {
           {0.9968377267533938, -0.49683772819457656, 1.996837722379668},
           {0.9935811298588842, -0.49330865399423757, 1.9936373645331635},
           {0.9720921891837498, -0.46478622270030645, 1.966896738930137},
           {0.8635751412572016, -0.3356114556247431, 1.817205782737089},
           {0.8206499045400866, -0.2860160306277083, 1.7498691072234198},
       }},
      {"Adadelta(AdadeltaOptions(0.5).rho(0.8).eps(1e-3))",
       make<Adadelta>(AdadeltaOptions(0.5).rho(0.8).eps(1e-3)),
       {
           {0.9646721307854357, -0.46467942504374393, 1.9646448881699337},
           {0.9290670976993335, -0.42623492173280675, 1.928864347529803},
           {0.7675255532803236, -0.20590080427294938, 1.6660260990462945},
           {0.49084883647637145, 0.11389692121034445, 0.8224537330728423},
           {0.4916750623489821, 0.16462025745892345, 0.5796085148527463},
       }},
      {"ASGD(ASGDOptions(0.05).lambd(0.01).weight_decay(0.1))",
       make<ASGD>(ASGDOptions(0.05).lambd(0.01).weight_decay(0.1)),
       {
           {0.9048632253798027, -0.41758243567064207, 1.0028719997985036},
           {0.8329220242022202, -0.3449408085442224, 0.9468494363314301},
           {0.654655710485565, -0.08488609787310473, 0.7169966968096918},
           {0.41626846640494825, 0.08861544049851854, 0.42608122092172873},
           {0.39012941636413984, 0.11501445055219378, 0.3632219496305888},
       }},
      {"ASGD(ASGDOptions(0.05).t0(20).alpha(0.6))",
       make<ASGD>(ASGDOptions(0.05).t0(20).alpha(0.6)),
       {
           {0.9103582253798026, -0.42032993567064203, 1.0138619997985034},
           {0.8421452181822573, -0.34910377767608075, 0.9600204886080602},
           {0.679907850781069, -0.09084573523254197, 0.7422385860052694},
           {0.49282138452549595, 0.09541413577959056, 0.5017093155521681},
           {0.48801835745500033, 0.12842326066445922, 0.46141807562698717},
       }},
      {"Rprop(RpropOptions(0.05))",
       make<Rprop>(RpropOptions(0.05)),
       {
           {0.95, -0.45, 1.95},
           {0.8899999999999999, -0.39, 1.89},
           {0.4997024, -0.12273600000000004, 0.7020658944},
           {0.5405167188905079, -0.0190781795286398, -0.004592188164568668},
           {0.5405255609405839, -0.019030989511701894, -0.004158336753166557},
       }},
      {"Rprop(RpropOptions(0.02).etas({0.4, 1.3}).step_sizes({1e-3, 0.2}))",
       make<Rprop>(RpropOptions(0.02).etas({0.4, 1.3}).step_sizes({1e-3, 0.2})),
       {
           {0.98, -0.48, 1.98},
           {0.954, -0.45399999999999996, 1.954},
           {0.3597000417999998, 0.34029995820000025, 1.1597000417999996},
           {0.44243491123866185, 0.4334535444542584, 0.5691235167213782},
           {0.4447349112386619, 0.4347535444542584, 0.5617535167213783},
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("optimizers have the trajectories of torch") {
  for (const Trajectory& expected : trajectories()) {
    INFO(expected.name);
    Variable p = start();
    const auto optimizer = expected.make(p);
    int done = 0, row = 0;
    for (const int t : {1, 2, 10, 60, 100}) {
      run(*optimizer, p, done + 1, t);
      done = t;
      INFO("after step " << t);
      for (std::int64_t i = 0; i < 3; ++i)
        CHECK(p[i].item<double>() == Approx(expected.at[row][i]).epsilon(1e-10).margin(1e-12));
      ++row;
    }
  }
}

TEST_CASE("Lion updates by the sign of an interpolated average") {
  Variable p = start();
  Lion optimizer({p}, LionOptions(0.01).betas({0.8, 0.95}).weight_decay(0.1));
  double at[3] = {1.0, -0.5, 2.0}, mean[3] = {};
  for (int t = 1; t <= 30; ++t) {
    for (int i = 0; i < 3; ++i) {
      const double g = 4 * std::pow(at[i] - 0.3, 3) + 0.5 * std::sin(i + t), way = 0.8 * mean[i] + 0.2 * g;
      at[i] = at[i] * (1 - 0.01 * 0.1) - 0.01 * (way > 0 ? 1 : way < 0 ? -1 : 0);
      mean[i] = 0.95 * mean[i] + 0.05 * g;
    }
    run(optimizer, p, t, t);
    for (int i = 0; i < 3; ++i) CHECK(p[i].item<double>() == Approx(at[i]).epsilon(1e-12));
  }
}

TEST_CASE("Lion leaves a parameter as it is while its average and its gradient are zero") {
  Variable p = start();
  const Variable before = p.detach().clone();
  Lion optimizer({p}, LionOptions(0.01));
  p.mutable_grad() = zeros({3}, kDouble);
  optimizer.step();
  CHECK(equal(p.detach(), before));
}

TEST_CASE("ASGD stores the average of the values after t0") {
  Variable p = start();
  ASGD optimizer({p}, ASGDOptions(0.05).t0(3));
  Variable sum = zeros({3}, kDouble);
  for (int t = 1; t <= 10; ++t) {
    run(optimizer, p, t, t);
    if (t > 4) sum += p.detach();  // as in torch, where step t uses the weight of step t - 1
  }
  const auto& state = static_cast<const ASGDParamState&>(*optimizer.state().at(p.impl()));
  CHECK(allclose(state.ax(), sum / 6, 1e-12, 1e-12));
}

TEST_CASE("optimizers throw for options outside their range and name them") {
  using support::Contains;
  const std::vector<Variable> p{start()};
  CHECK_THROWS_WITH(NAdam(p, NAdamOptions(-1)), Contains("learning rate: -1"));
  CHECK_THROWS_WITH(NAdam(p, NAdamOptions().momentum_decay(-1)), Contains("momentum_decay"));
  CHECK_THROWS_WITH(RAdam(p, RAdamOptions().betas({0.9, 1.0})), Contains("index 1"));
  CHECK_THROWS_WITH(Adamax(p, AdamaxOptions().eps(-1)), Contains("epsilon"));
  CHECK_THROWS_WITH(Adadelta(p, AdadeltaOptions().rho(1.5)), Contains("rho value: 1.5"));
  CHECK_THROWS_WITH(ASGD(p, ASGDOptions().weight_decay(-1)), Contains("weight_decay"));
  CHECK_THROWS_WITH(Rprop(p, RpropOptions().etas({1.5, 2})), Contains("between 0 and 1"));
  CHECK_THROWS_WITH(Lion(p, LionOptions().betas({-0.1, 0.9})), Contains("index 0"));
}
