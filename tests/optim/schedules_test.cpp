// Schedulers: the learning rates of torch 2.15 at some of 24 epochs in two groups, with initial rates 0.1 and
// 0.4, and the momentum if they change it.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Milestones = std::vector<std::int64_t>;
using Anneal = OneCycleLROptions::Anneal;
using Plateau = ReduceLROnPlateau;

/// A type-erased scheduler.
struct Schedule {
  std::function<void()> step;
  std::function<void(serialize::OutputArchive&)> save;
  std::function<void(serialize::InputArchive&)> load;

  template <class S>
  Schedule(std::shared_ptr<S> schedule)
      : step([=] { schedule->step(); }),
        save([=](serialize::OutputArchive& archive) { schedule->save(archive); }),
        load([=](serialize::InputArchive& archive) { schedule->load(archive); }) {}
};

template <class S, class... Args>
std::shared_ptr<EpochScheduler> of(Optimizer& optimizer, Args&&... args) {
  return std::make_shared<S>(optimizer, std::forward<Args>(args)...);
}
std::shared_ptr<SequentialLR> sequence(Optimizer& optimizer, EpochSchedulers all, Milestones milestones) {
  return std::make_shared<SequentialLR>(optimizer, std::move(all), std::move(milestones));
}
std::shared_ptr<ChainedScheduler> chain(EpochSchedulers all) {
  return std::make_shared<ChainedScheduler>(std::move(all));
}

std::unique_ptr<SGD> two_groups(double scale = 1) {
  const auto group = [](double lr) {
    return OptimizerParamGroup({zeros({1}).requires_grad_()},
                               std::make_unique<SGDOptions>(SGDOptions(lr).momentum(0.9)));
  };
  return std::make_unique<SGD>(std::vector<OptimizerParamGroup>{group(0.1 * scale), group(0.4 * scale)},
                               SGDOptions(0.1));
}
double rate(Optimizer& optimizer, std::size_t group) {
  return optimizer.param_groups()[group].options().get_lr();
}

constexpr int kEpochs[] = {0, 1, 2, 4, 5, 9, 11, 15, 23};

struct Rates {
  const char* name;
  std::function<Schedule(Optimizer&)> make;
  std::vector<double> first, second, momentum;
};

const std::vector<Rates>& all_rates() {
  static const std::vector<Rates> all = {
      {"StepLR",
       [](Optimizer& o) { return of<StepLR>(o, 3u, 0.5, StepLR::Counting::kPython); },
       {0.1, 0.1, 0.1, 0.05, 0.05, 0.0125, 0.0125, 0.003125, 0.00078125},
       {0.4, 0.4, 0.4, 0.2, 0.2, 0.05, 0.05, 0.0125, 0.003125},
       {}},
      {"MultiStepLR",
       [](Optimizer& o) { return of<MultiStepLR>(o, Milestones{4, 9, 9, 15}, 0.3); },
       {0.1, 0.1, 0.1, 0.03, 0.03, 0.0027, 0.0027, 0.00081, 0.00081},
       {0.4, 0.4, 0.4, 0.12, 0.12, 0.0108, 0.0108, 0.00324, 0.00324},
       {}},
      {"ConstantLR",
       [](Optimizer& o) { return of<ConstantLR>(o, 0.25, 6); },
       {0.025, 0.025, 0.025, 0.025, 0.025, 0.1, 0.1, 0.1, 0.1},
       {0.1, 0.1, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.4},
       {}},
      {"LinearLR",
       [](Optimizer& o) { return of<LinearLR>(o, 0.2, 0.9, 7); },
       {0.02, 0.03, 0.04, 0.06, 0.07, 0.09, 0.09, 0.09, 0.09},
       {0.08, 0.12, 0.16, 0.24, 0.28, 0.36, 0.36, 0.36, 0.36},
       {}},
      {"ExponentialLR",
       [](Optimizer& o) { return of<ExponentialLR>(o, 0.9); },
       {0.1, 0.09, 0.081, 0.06561, 0.059049, 0.0387420489, 0.031381059609, 0.02058911320946,
        0.008862938119653},
       {0.4, 0.36, 0.324, 0.26244, 0.236196, 0.1549681956, 0.125524238436, 0.08235645283786,
        0.03545175247861},
       {}},
      {"PolynomialLR",
       [](Optimizer& o) { return of<PolynomialLR>(o, 10, 2.0); },
       {0.1, 0.081, 0.064, 0.036, 0.025, 0.001, 0.0, 0.0, 0.0},
       {0.4, 0.324, 0.256, 0.144, 0.1, 0.004, 0.0, 0.0, 0.0},
       {}},
      {"CosineAnnealingLR",
       [](Optimizer& o) { return of<CosineAnnealingLR>(o, 5, 0.01); },
       {0.1, 0.09140576474687, 0.06890576474687, 0.01859423525313, 0.01, 0.09140576474687, 0.09140576474687,
        0.01, 0.04109423525313},
       {0.4, 0.3627583139031, 0.2652583139031, 0.04724168609689, 0.01, 0.3627583139031, 0.3627583139031, 0.01,
        0.1447416860969},
       {}},
      {"CosineAnnealingWarmRestarts",
       [](Optimizer& o) { return of<CosineAnnealingWarmRestarts>(o, 3, 2, 0.01); },
       {0.1, 0.0775, 0.0325, 0.0939711431703, 0.0775, 0.1, 0.0939711431703, 0.055, 0.09846666218301},
       {0.4, 0.3025, 0.1075, 0.373874953738, 0.3025, 0.4, 0.373874953738, 0.205, 0.3933555361264},
       {}},
      {"CosineAnnealingWarmRestarts",
       [](Optimizer& o) { return of<CosineAnnealingWarmRestarts>(o, 5); },
       {0.1, 0.09045084971875, 0.06545084971875, 0.009549150281253, 0.1, 0.009549150281253, 0.09045084971875,
        0.1, 0.03454915028125},
       {0.4, 0.361803398875, 0.261803398875, 0.03819660112501, 0.4, 0.03819660112501, 0.361803398875, 0.4,
        0.138196601125},
       {}},
      {"LambdaLR",
       [](Optimizer& o) {
         return of<LambdaLR>(o, [](std::int64_t t) { return 1.0 / (1.0 + static_cast<double>(t)); });
       },
       {0.1, 0.05, 0.03333333333333, 0.02, 0.01666666666667, 0.01, 0.008333333333333, 0.00625,
        0.004166666666667},
       {0.4, 0.2, 0.1333333333333, 0.08, 0.06666666666667, 0.04, 0.03333333333333, 0.025, 0.01666666666667},
       {}},
      {"MultiplicativeLR",
       [](Optimizer& o) {
         return of<MultiplicativeLR>(o, [](std::int64_t t) { return t % 2 == 0 ? 0.5 : 1.1; });
       },
       {0.1, 0.11, 0.055, 0.03025, 0.033275, 0.0100656875, 0.005536128125, 0.001674678757813,
        0.0001532435730821},
       {0.4, 0.44, 0.22, 0.121, 0.1331, 0.04026275, 0.0221445125, 0.00669871503125, 0.0006129742923283},
       {}},
      {"OneCycleLR",
       [](Optimizer& o) { return of<OneCycleLR>(o, 0.5, 24); },
       {0.02, 0.0501568121253, 0.1330486375215, 0.3656945963738, 0.4569832258897, 0.4665064849207,
        0.4058728269749, 0.2313185513335, 2e-06},
       {0.02, 0.0501568121253, 0.1330486375215, 0.3656945963738, 0.4569832258897, 0.4665064849207,
        0.4058728269749, 0.2313185513335, 2e-06},
       {0.95, 0.9437173308072, 0.9264482005163, 0.8779802924221, 0.8589618279396, 0.8566987298108,
        0.8688255099071, 0.9037365046793, 0.95}},
      {"OneCycleLR",
       [](Optimizer& o) {
         return of<OneCycleLR>(o, std::vector<double>{0.5, 2.0}, 24,
                               OneCycleLROptions().anneal(Anneal::linear).three_phase(true).pct_start(0.25));
       },
       {0.02, 0.116, 0.212, 0.404, 0.5, 0.116, 0.01846169230769, 0.01230846153846, 1.999999999999e-06},
       {0.08, 0.464, 0.848, 1.616, 2.0, 0.464, 0.07384676923077, 0.04923384615385, 7.999999999994e-06},
       {0.95, 0.93, 0.91, 0.87, 0.85, 0.93, 0.95, 0.95, 0.95}},
      {"CyclicLR",
       [](Optimizer& o) { return of<CyclicLR>(o, 0.01, 0.1, CyclicLROptions().step_size_up(4)); },
       {0.01, 0.0325, 0.055, 0.1, 0.0775, 0.0325, 0.0775, 0.0325, 0.0325},
       {0.01, 0.0325, 0.055, 0.1, 0.0775, 0.0325, 0.0775, 0.0325, 0.0325},
       {0.9, 0.875, 0.85, 0.8, 0.825, 0.875, 0.825, 0.875, 0.875}},
      {"CyclicLR",
       [](Optimizer& o) {
         return of<CyclicLR>(
             o, 0.01, 0.1,
             CyclicLROptions().step_size_up(3).step_size_down(5).mode(CyclicLROptions::Mode::triangular2));
       },
       {0.01, 0.04, 0.07, 0.082, 0.064, 0.025, 0.055, 0.019, 0.0145},
       {0.01, 0.04, 0.07, 0.082, 0.064, 0.025, 0.055, 0.019, 0.0145},
       {0.9, 0.8666666666667, 0.8333333333333, 0.82, 0.84, 0.8833333333333, 0.85, 0.89, 0.895}},
      {"CyclicLR",
       [](Optimizer& o) {
         return of<CyclicLR>(o, 0.01, 0.1,
                             CyclicLROptions()
                                 .step_size_up(4)
                                 .mode(CyclicLROptions::Mode::exp_range)
                                 .gamma(0.95)
                                 .cycle_momentum(false));
       },
       {0.01, 0.031375, 0.0506125, 0.0833055625, 0.06223021328125, 0.0241806117188, 0.04839400622866,
        0.02042405267859, 0.01691552952381},
       {0.01, 0.031375, 0.0506125, 0.0833055625, 0.06223021328125, 0.0241806117188, 0.04839400622866,
        0.02042405267859, 0.01691552952381},
       {}},
      {"sequence",
       [](Optimizer& o) {
         return sequence(
             o, {of<ConstantLR>(o, 0.5, 3), of<ExponentialLR>(o, 0.9), of<CosineAnnealingLR>(o, 6)}, {4, 11});
       },
       {0.05, 0.05, 0.05, 0.1, 0.09, 0.059049, 0.1, 0.025, 0.1},
       {0.2, 0.2, 0.2, 0.4, 0.36, 0.236196, 0.4, 0.1, 0.4},
       {}},
      {"sequence",
       [](Optimizer& o) {
         return sequence(
             o,
             {of<LinearLR>(o, 0.1, 1.0, 5), of<LambdaLR>(o, [](std::int64_t t) { return std::pow(0.8, t); })},
             {5});
       },
       {0.01, 0.028, 0.046, 0.082, 0.1, 0.04096, 0.0262144, 0.01073741824, 0.001801439850948},
       {0.04, 0.112, 0.184, 0.328, 0.4, 0.16384, 0.1048576, 0.04294967296, 0.007205759403793},
       {}},
      {"chain",
       [](Optimizer& o) {
         return chain(
             {of<ConstantLR>(o, 0.5, 4), of<ExponentialLR>(o, 0.9), of<MultiStepLR>(o, Milestones{6}, 0.5)});
       },
       {0.05, 0.045, 0.0405, 0.06561, 0.059049, 0.01937102445, 0.0156905298045, 0.01029455660473,
        0.004431469059826},
       {0.2, 0.18, 0.162, 0.26244, 0.236196, 0.0774840978, 0.062762119218, 0.04117822641893,
        0.01772587623931},
       {}},
      {"sequence of factors",
       [](Optimizer& o) {
         return sequence(
             o,
             {of<ConstantLR>(o, 0.5, 3),
              of<MultiplicativeLR>(o, [](std::int64_t t) { return 0.9 + 0.01 * static_cast<double>(t); })},
             {4});
       },
       {0.05, 0.05, 0.05, 0.09, 0.0819, 0.06257576052, 0.05827054819622, 0.05709942671858, 0.08746447207596},
       {0.2, 0.2, 0.2, 0.36, 0.3276, 0.25030304208, 0.2330821927849, 0.2283977068743, 0.3498578883038},
       {}},
      {"sequence after a cycle",
       [](Optimizer& o) { return sequence(o, {of<OneCycleLR>(o, 2.0, 40), of<ExponentialLR>(o, 0.9)}, {9}); },
       {0.08, 0.1188867453301, 0.2323966084821, 0.6412015875182, 0.9033777552576, 0.08, 0.0648, 0.04251528,
        0.01830143396397},
       {0.08, 0.1188867453301, 0.2323966084821, 0.6412015875182, 0.9033777552576, 0.08, 0.0648, 0.04251528,
        0.01830143396397},
       {0.95, 0.9479746486807, 0.9420626766416, 0.9207707506501, 0.9071157419137, 0.8672569633027,
        0.8672569633027, 0.8672569633027, 0.8672569633027}},
      {"sequence of a sequence",
       [](Optimizer& o) {
         return sequence(o,
                         {sequence(o, {of<LinearLR>(o, 0.1, 1.0, 3), of<ExponentialLR>(o, 0.9)}, {3}),
                          of<CosineAnnealingLR>(o, 6)},
                         {9});
       },
       {0.01, 0.04, 0.1, 0.081, 0.0729, 0.1, 0.075, 0, 0.075},
       {0.04, 0.16, 0.4, 0.324, 0.2916, 0.4, 0.3, 0, 0.3},
       {}},
      {"sequence of a chain",
       [](Optimizer& o) {
         return sequence(
             o,
             {chain({of<ExponentialLR>(o, 0.9), of<StepLR>(o, 2u, 0.5, StepLR::Counting::kPython)}),
              of<PolynomialLR>(o, 30, 2.0)},
             {5});
       },
       {0.09, 0.081, 0.03645, 0.01476225, 0.1, 0.07511111111111, 0.064, 0.04444444444444, 0.016},
       {0.36, 0.324, 0.1458, 0.059049, 0.4, 0.3004444444444, 0.256, 0.1777777777778, 0.064},
       {}},
      {"chain of a sequence",
       [](Optimizer& o) {
         return chain({sequence(o, {of<ConstantLR>(o, 0.5, 3), of<ExponentialLR>(o, 0.9)}, {5}),
                       of<PolynomialLR>(o, 30, 2.0)});
       },
       {0.05, 0.04672222222222, 0.04355555555556, 0.07511111111111, 0.09245562130178, 0.04280178994083,
        0.02838020724852, 0.01160542145303, 0.001087964072419},
       {0.2, 0.1868888888889, 0.1742222222222, 0.3004444444444, 0.3698224852071, 0.1712071597633,
        0.1135208289941, 0.04642168581213, 0.004351856289676},
       {}},
      {"CyclicLR by groups",
       [](Optimizer& o) {
         return of<CyclicLR>(
             o, PerGroup{0.01, 0.02}, PerGroup{0.1, 0.3},
             CyclicLROptions().step_size_up(3).base_momentum({0.7, 0.6}).max_momentum({0.8, 0.9}));
       },
       {0.01, 0.04, 0.07, 0.07, 0.04, 0.1, 0.04, 0.1, 0.04},
       {0.02, 0.1133333333333, 0.2066666666667, 0.2066666666667, 0.1133333333333, 0.3, 0.1133333333333, 0.3,
        0.1133333333333},
       {0.8, 0.7666666666667, 0.7333333333333, 0.7333333333333, 0.7666666666667, 0.7, 0.7666666666667, 0.7,
        0.7666666666667}},
      {"LinearLR from epoch 4 on",
       [](Optimizer& o) { return of<LinearLR>(o, 0.2, 0.9, 12, 3); },
       {0.1, 0.1134615384615, 0.1269230769231, 0.1538461538462, 0.1673076923077, 0.2076923076923,
        0.2076923076923, 0.2076923076923, 0.2076923076923},
       {0.4, 0.4538461538462, 0.5076923076923, 0.6153846153846, 0.6692307692308, 0.8307692307692,
        0.8307692307692, 0.8307692307692, 0.8307692307692},
       {}},
  };
  return all;
}

}  // namespace

TEST_CASE("schedulers set the learning rates of torch") {
  for (const Rates& expected : all_rates()) {
    INFO(expected.name);
    const auto optimizer = two_groups();
    const Schedule schedule = expected.make(*optimizer);
    int epoch = 0;
    for (std::size_t i = 0; i < std::size(kEpochs); ++i) {
      for (; epoch < kEpochs[i]; ++epoch) schedule.step();
      INFO("epoch " << epoch);
      CHECK(rate(*optimizer, 0) == Approx(expected.first[i]).epsilon(1e-10).margin(1e-12));
      CHECK(rate(*optimizer, 1) == Approx(expected.second[i]).epsilon(1e-10).margin(1e-12));
      if (!expected.momentum.empty())
        CHECK(*optimizer->param_groups()[0].options().get_momentum() ==
              Approx(expected.momentum[i]).epsilon(1e-10));
    }
  }
}

TEST_CASE("a scheduler that took other steps before it loads a state continues exactly like the saved one") {
  for (const Rates& expected : all_rates())
    for (int saved = 0; saved < 18; ++saved)
      for (const int moved : {0, 5, 20}) {
        INFO(expected.name << ", saved after " << saved << " epochs, restored after " << moved);
        const auto optimizer = two_groups(), again = two_groups(0.25);
        const Schedule schedule = expected.make(*optimizer), restored = expected.make(*again);
        for (int epoch = 0; epoch < saved; ++epoch) schedule.step();
        for (int epoch = 0; epoch < moved; ++epoch) restored.step();
        serialize::OutputArchive archive;
        schedule.save(archive);
        std::stringstream bytes;
        archive.save_to(bytes);
        serialize::InputArchive from;
        from.load_from(bytes);
        restored.load(from);
        for (const std::size_t group : {0, 1}) {
          OptimizerOptions& options = again->param_groups()[group].options();
          options.set_lr(rate(*optimizer, group));
          options.set_momentum(*optimizer->param_groups()[group].options().get_momentum());
        }
        for (int epoch = saved; epoch < std::min(saved + 8, 23); ++epoch) {
          schedule.step();
          restored.step();
          for (const std::size_t group : {0, 1}) {
            REQUIRE(rate(*again, group) == rate(*optimizer, group));
            REQUIRE(*again->param_groups()[group].options().get_momentum() ==
                    *optimizer->param_groups()[group].options().get_momentum());
          }
        }
      }
}

TEST_CASE("ReduceLROnPlateau lowers the learning rates as torch does") {
  struct Case {
    std::function<Plateau(Optimizer&)> make;
    std::vector<double> second;
  };
  const std::vector<Case> cases = {
      {[](Optimizer& o) { return Plateau(o, Plateau::min, 0.5, 2); },
       {0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.2, 0.025}},
      {[](Optimizer& o) { return Plateau(o, Plateau::min, 0.3, 1, 0.05, Plateau::abs, 2, {0.01, 0.05}); },
       {0.4, 0.4, 0.4, 0.4, 0.4, 0.12, 0.05, 0.05, 0.05}},
      {[](Optimizer& o) { return Plateau(o, Plateau::max, 0.5, 3, 0.01); },
       {0.4, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1, 0.05, 0.0125}},
  };
  for (const Case& each : cases) {
    const auto measure = [](int epoch) { return 1.0 / (1 + std::min(epoch, 7)) + 0.02 * (epoch * 7 % 5); };
    const auto optimizer = two_groups();
    Plateau plateau = each.make(*optimizer);
    std::vector<double> rates;
    for (int epoch = 0; epoch < 24; ++epoch) {
      plateau.step(measure(epoch));
      rates.push_back(rate(*optimizer, 1));
      INFO("epoch " << epoch);
      const int* const at = std::find(std::begin(kEpochs), std::end(kEpochs), epoch);
      if (at != std::end(kEpochs)) CHECK(rates.back() == Approx(each.second[at - kEpochs]).epsilon(1e-12));
    }
    for (int saved = 0; saved < 20; ++saved) {
      INFO("saved at epoch " << saved);
      const auto first = two_groups(), again = two_groups();
      Plateau before = each.make(*first), restored = each.make(*again);
      for (int epoch = 0; epoch < saved; ++epoch) before.step(measure(epoch));
      for (int epoch = 0; epoch < 9; ++epoch) restored.step(-epoch);
      serialize::OutputArchive archive;
      before.save(archive);
      std::stringstream bytes;
      archive.save_to(bytes);
      serialize::InputArchive from;
      from.load_from(bytes);
      restored.load(from);
      again->param_groups()[1].options().set_lr(rate(*first, 1));
      for (int epoch = saved; epoch < 24; ++epoch) {
        restored.step(measure(epoch));
        REQUIRE(rate(*again, 1) == rates[static_cast<std::size_t>(epoch)]);
      }
    }
  }
}

TEST_CASE("schedulers set the first beta of an optimizer without momentum") {
  Adam adam({zeros({1}).requires_grad_()}, AdamOptions(0.1));
  OneCycleLR schedule(adam, 0.1, 10);
  CHECK(std::get<0>(static_cast<AdamOptions&>(adam.param_groups()[0].options()).betas()) == 0.95);
  CHECK(schedule.last_epoch() == 0);
  CHECK(schedule.get_last_lr()[0] == Approx(0.004));
}

TEST_CASE("schedulers throw for invalid options and name them") {
  using support::Contains;
  const auto o = two_groups();
  CHECK_THROWS_WITH(LinearLR(*o, 0.0), Contains("LinearLR: start_factor"));
  CHECK_THROWS_WITH(ConstantLR(*o, 2.0), Contains("ConstantLR"));
  CHECK_THROWS_WITH(CosineAnnealingLR(*o, 0), Contains("T_max"));
  CHECK_THROWS_WITH(CosineAnnealingWarmRestarts(*o, 3, 0), Contains("T_mult"));
  CHECK_THROWS_WITH(PolynomialLR(*o, 0), Contains("total_iters"));
  CHECK_THROWS_WITH(LambdaLR(*o, std::vector<LambdaLR::Function>{}), Contains("2 functions"));
  CHECK_THROWS_WITH(OneCycleLR(*o, 0.1, 0), Contains("total_steps"));
  CHECK_THROWS_WITH(OneCycleLR(*o, std::vector<double>{0.1}, 5), Contains("2 numbers of max_lr"));
  CHECK_THROWS_WITH(Plateau(*o, Plateau::min, 1.0), Contains("below 1"));
  CHECK_THROWS_WITH(sequence(*o, {of<ConstantLR>(*o)}, {3}), Contains("one milestone less"));
  CHECK_THROWS_WITH(chain({}), Contains("at least one"));
  OneCycleLR cycle(*o, 0.1, 2);
  cycle.step();
  cycle.step();
  CHECK_THROWS_WITH(cycle.step(), Contains("the cycle has 2 steps"));
  Adagrad plain({zeros({1}).requires_grad_()}, AdagradOptions());
  CHECK_THROWS_WITH(CyclicLR(plain, 0.1, 0.2), Contains("cycle_momentum(false)"));
  CHECK_THROWS_WITH(OneCycleLR(plain, 0.1, 5), Contains("OneCycleLR") && Contains("cycle_momentum(false)"));
}

TEST_CASE("CosineAnnealingWarmRestarts in a sequence begins with its own base rate") {
  // OneCycleLR changes the initial rate of the group, to which SequentialLR resets the optimizer.
  for (const bool nested : {false, true}) {
    auto optimizer = two_groups(), alone = two_groups();
    std::shared_ptr<EpochScheduler> cosine = of<CosineAnnealingWarmRestarts>(*optimizer, 3, 2, 0.01);
    if (nested) cosine = sequence(*optimizer, {cosine, of<ConstantLR>(*optimizer, 1.0)}, {20});
    const auto schedule = sequence(*optimizer, {cosine, of<OneCycleLR>(*optimizer, 0.2, 20)}, {8});
    CosineAnnealingWarmRestarts reference(*alone, 3, 2, 0.01);
    for (int epoch = 0; epoch < 8; ++epoch) {
      for (const std::size_t group : {0, 1})
        CHECK(rate(*optimizer, group) == Approx(rate(*alone, group)).epsilon(1e-12));
      schedule->step();
      reference.step();
    }
    CHECK(rate(*optimizer, 1) == Approx(0.2 / 25));
  }
}

TEST_CASE("CosineAnnealingWarmRestarts in a chain preserves the factors of other schedulers") {
  auto optimizer = two_groups();
  ChainedScheduler all({std::make_shared<ConstantLR>(*optimizer, 0.5, 100),
                        std::make_shared<CosineAnnealingWarmRestarts>(*optimizer, 3, 2, 0.01)});
  auto alone = two_groups();
  CosineAnnealingWarmRestarts cosine(*alone, 3, 2, 0.01);
  CHECK(rate(*optimizer, 0) == Approx(0.05));
  for (int epoch = 0; epoch < 12; ++epoch) {
    all.step();
    cosine.step();
    for (const std::size_t group : {0, 1}) {
      // The rates keep the same fraction of their height above the minimum.
      const double first = group == 0 ? 0.1 : 0.4;
      CHECK((rate(*optimizer, group) - 0.01) / (first / 2 - 0.01) ==
            Approx((rate(*alone, group) - 0.01) / (first - 0.01)));
    }
  }
}
