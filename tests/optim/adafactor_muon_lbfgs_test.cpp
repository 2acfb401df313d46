// Adafactor, Muon and L-BFGS: values of torch 2.15, states and errors.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;

// Adafactor and Muon, whose updates are composed of ops: values of torch 2.15, states and errors.

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

// L-BFGS on the function of Rosenbrock: values of torch 2.15, and errors.

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

TEST_CASE("L-BFGS that maximizes the negative loss takes the same steps as one that minimizes the loss") {
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

TEST_CASE("a restored L-BFGS continues with the same steps as the saved one") {
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
