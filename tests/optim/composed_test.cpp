// Adafactor and Muon, whose updates are composed of ops: values of torch 2.15, states and errors.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Variable>;
using Make = std::function<std::unique_ptr<Optimizer>(const Variable&)>;

template <class O, class Options>
Make make(const Options& options) {
  return [=](const Variable& p) { return std::make_unique<O>(Params{p}, options); };
}

Variable start(IntArrayRef sizes) {
  return sin(arange(checked_numel(sizes), kDouble) * 0.37).reshape(sizes).requires_grad_();
}
void run(Optimizer& optimizer, Variable& p, int from, int to) {
  for (int t = from; t <= to; ++t) {
    const Variable noise = sin(arange(p.numel(), kDouble) + t).reshape(p.sizes());
    p.mutable_grad() = p.detach().pow(3) - 0.2 + noise * 0.5;
    optimizer.step();
  }
}

struct Values {
  double first, last, sum;
};

// Checks the values after steps 1, 5 and 30.
void check(const Make& how, const std::vector<std::int64_t>& sizes, const std::vector<Values>& expected,
           double tolerance) {
  Variable p = start(sizes);
  const auto optimizer = how(p);
  int done = 0;
  std::size_t row = 0;
  for (const int t : {1, 5, 30}) {
    run(*optimizer, p, done + 1, t);
    done = t;
    INFO("after step " << t);
    const Variable flat = p.detach().reshape({-1});
    CHECK(flat[0].item<double>() == Approx(expected[row].first).epsilon(0).margin(tolerance));
    CHECK(flat[-1].item<double>() == Approx(expected[row].last).epsilon(0).margin(tolerance));
    CHECK(flat.sum().item<double>() == Approx(expected[row].sum).epsilon(tolerance).margin(tolerance));
    ++row;
  }
}

}  // namespace

TEST_CASE("Adafactor has the values of torch") {
  check(make<Adafactor>(AdafactorOptions(0.05)), {3, 4},
        {{-0.06539697801092846, -0.7685261566966372, 3.687753006429079},
         {-0.02599864586348373, -0.669357309534001, 3.7307276704718495},
         {0.27166191226527425, -0.2639081241817376, 4.684855680210604}},
        1e-10);
  check(make<Adafactor>(AdafactorOptions(0.05).weight_decay(0.1).d(2).beta2_decay(-0.6).eps({1e-6, 1e-2})),
        {2, 3, 4},
        {{-0.08432263304350462, 0.7995442074630701, 4.529857122822786},
         {-0.05073196734001977, 0.6459675395810605, 4.684169388099546},
         {0.2143590363306129, 0.5341366815328268, 7.053300262091171}},
        1e-10);
  check(make<Adafactor>(AdafactorOptions()), {5},
        {{-0.006898528394446192, 0.9889823161431939, 2.8929902318385636},
         {0.005433663337073997, 0.9613161451881456, 2.8798519162398963},
         {0.06503121225720884, 0.851656390380024, 2.7555620757517643}},
        1e-10);
}

// Muon multiplies in bf16, where sums round in another order: an error of 2^-8 of a step of 0.02 in every
// step.
TEST_CASE("Muon has the values of torch within bfloat16 precision") {
  check(make<Muon>(MuonOptions(0.02)), {3, 5},
        {{-0.00298828125, -0.8841826965693781, 1.0442620899333508},
         {-0.011122184821922811, -0.8458593357659039, 1.1427337477426742},
         {0.12692049286105112, -0.6830408352012074, 1.687205095480862}},
        5e-3);
  check(make<Muon>(MuonOptions(0.02).nesterov(false).weight_decay(0.05).momentum(0.9).adjust_lr_fn(
            "match_rms_adamw")),
        {6, 4},
        {{0.0011816874345067284, 0.7911515426135786, 4.699862219601118},
         {-0.001791091566030027, 0.7848724678952304, 4.703273619300761},
         {0.05168544463017535, 0.7603948310000255, 4.75776195573169}},
        5e-3);
  check(make<Muon>(MuonOptions(0.02).ns_steps(3).adjust_lr_fn("spectral_unclamped")), {4, 2},
        {{-0.001256771818124528, 0.522573300949725, 5.1479929272418},
         {-0.0119363794928379, 0.5649559996031693, 4.984490685848394},
         {0.1527369719181309, 0.5925015301391843, 4.050217569558618}},
        5e-3);
}

TEST_CASE("states of Adafactor and Muon survive saving and loading") {
  for (const auto& [how, sizes] : std::vector<std::pair<Make, std::vector<std::int64_t>>>{
           {make<Adafactor>(AdafactorOptions(0.05)), {3, 4}},
           {make<Adafactor>(AdafactorOptions(0.05)), {7}},
           {make<Muon>(MuonOptions(0.02)), {4, 3}}}) {
    Variable p = start(sizes);
    const auto optimizer = how(p);
    run(*optimizer, p, 1, 5);
    std::stringstream bytes;
    save(*optimizer, bytes);
    Variable q = p.detach().clone().requires_grad_();
    const auto restored = how(q);
    load(*restored, bytes);
    run(*optimizer, p, 6, 12);
    run(*restored, q, 6, 12);
    CHECK(equal(p, q));
  }
}

TEST_CASE("loaded states of another dtype are converted to the dtype of the parameter") {
  for (const Make& how : {make<Adafactor>(AdafactorOptions(0.05)), make<Muon>(MuonOptions(0.02)),
                          make<Adam>(AdamOptions(0.05))}) {
    Variable wide = start({4, 3});
    const auto optimizer = how(wide);
    run(*optimizer, wide, 1, 3);
    Variable narrow = wide.detach().to(kFloat).requires_grad_();
    const auto restored = how(narrow);
    restored->load_state_dict(optimizer->state_dict());
    for (const auto& [name, value] : restored->state_dict())
      CHECK((value.dim() == 0 || value.dtype() == kFloat));
    for (Optimizer* each : {optimizer.get(), restored.get()}) {
      Variable& p = each == optimizer.get() ? wide : narrow;
      p.mutable_grad() = full({4, 3}, 0.5, p.options().requires_grad(false));
      each->step();
    }
    CHECK(allclose(narrow.to(kDouble), wide, 1e-3, 1e-3));
  }
}

TEST_CASE("Adafactor and Muon throw for invalid parameters and options") {
  using support::Contains;
  const Params matrix{start({2, 3})}, vector{start({4})};
  CHECK_THROWS_WITH(Muon(vector), Contains("only supports 2D parameters") && Contains("[4]"));
  CHECK_THROWS_WITH(Muon(matrix, MuonOptions().adjust_lr_fn("x")), Contains("'x'"));
  CHECK_THROWS_WITH(Muon(matrix, MuonOptions().ns_steps(100)), Contains("number of steps"));
  CHECK_THROWS_WITH(Adafactor(matrix, AdafactorOptions().d(0.5)), Contains("clipping threshold"));
  CHECK_THROWS_WITH(Adafactor(matrix, AdafactorOptions().beta2_decay(0.1)), Contains("beta2_decay"));
  Muon muon(matrix);
  muon.add_param_group(OptimizerParamGroup(vector));
  vector[0].mutable_grad() = ones({4}, kDouble);
  CHECK_THROWS_WITH(muon.step(), Contains("only supports 2D parameters"));
  Adafactor optimizer(matrix);
  CHECK_THROWS_WITH(optimizer.load_state_dict({{"0.row_var", ones({5, 5})}}), Contains("row_var"));
}
