// Optimizer states, under the keys of both versions of libtorch.
#include "support/catch.h"

#include <torch/torch.h>

#include <deque>
#include <sstream>
#include <tuple>

namespace {

using torch::optim::AdamParamState;

struct Pair {
  torch::Tensor a = torch::ones({2}, torch::requires_grad());
  torch::Tensor b = torch::ones({3}, torch::requires_grad());
  torch::optim::Adam optimizer{std::vector<torch::Tensor>{a, b}, torch::optim::AdamOptions(0.1)};

  void step() {
    optimizer.zero_grad();
    (a.sum() + 2 * b.sum()).backward();
    optimizer.step();
  }
};

// A helper with the parameter type of programs for 1.13.
size_t count(
    const ska::flat_hash_map<std::string, std::unique_ptr<torch::optim::OptimizerParamState>>& states) {
  return states.size();
}

}  // namespace

TEST_CASE("an optimizer state is found by the address of its parameter as pointer or as text") {
  Pair pair;
  pair.step();
  pair.step();
  const std::string key = c10::guts::to_string(pair.b.unsafeGetTensorImpl());
  const auto& state = pair.optimizer.state();
  CHECK(state.at(key).get() == state.at(pair.b.unsafeGetTensorImpl()).get());
  CHECK(static_cast<const AdamParamState&>(*state.at(key)).step() == 2);
  CHECK(pair.optimizer.state()[key].get() == state.at(key).get());
  CHECK(state.find(c10::guts::to_string(&pair)) == state.end());
  CHECK(count(state) == 2);
  for (const auto& [parameter, each] : state) CHECK(state.at(c10::str(parameter)).get() == each.get());
  CHECK_THROWS_WITH(state.count(std::string("bias")), support::Contains("'bias' is not the address"));
  CHECK_THROWS_WITH(state.count(key + "!"), support::Contains("is not the address"));
}

TEST_CASE("optimizer states with equal numbers and equal tensors compare equal") {
  Pair pair;
  pair.step();
  const auto& remembered = static_cast<const AdamParamState&>(*pair.optimizer.state().at(pair.a.impl()));
  AdamParamState copy = remembered;
  CHECK(copy == remembered);
  copy.exp_avg(remembered.exp_avg().clone());
  CHECK(copy == remembered);
  copy.exp_avg().mul_(2);
  CHECK_FALSE(copy == remembered);
  copy = remembered;
  copy.step(7);
  CHECK(copy != remembered);
  copy = remembered;
  copy.max_exp_avg_sq(torch::ones({2}));
  CHECK_FALSE(copy == remembered);
}

TEST_CASE("L-BFGS states with equal histories compare equal") {
  torch::optim::LBFGSParamState one, other;
  CHECK(one == other);
  one.old_dirs({torch::ones(2)});
  CHECK_FALSE(one == other);
  other.old_dirs({torch::ones(2)});
  CHECK(one == other);
  other.H_diag(2);
  CHECK_FALSE(one == other);
}

TEST_CASE("adding a parameter to a second group is an error") {
  Pair pair;
  using torch::optim::OptimizerParamGroup;
  CHECK_THROWS_WITH(
      pair.optimizer.add_param_group(OptimizerParamGroup({pair.b})),
      support::Contains("some parameters appear in more than one parameter group: a parameter of shape"));
  CHECK(pair.optimizer.param_groups().size() == 1);
  pair.optimizer.add_param_group(OptimizerParamGroup({torch::ones(1)}));
  CHECK(pair.optimizer.param_groups().size() == 2);
}

namespace {

// A user-defined optimizer, written as libtorch writes its own.
struct DriftOptions : public torch::optim::OptimizerCloneableOptions<DriftOptions> {
  DriftOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.5, 0.75);
  TORCH_ARG(bool, nesterov) = false;
  TORCH_ARG(c10::optional<int64_t>, most) = c10::nullopt;

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(betas_t, betas);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, nesterov);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(int64_t, most);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(betas);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(nesterov);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(most);
  }
  double get_lr() const override { return lr(); }
  void set_lr(const double lr) override { lr_ = lr; }
};

struct DriftParamState : public torch::optim::OptimizerCloneableParamState<DriftParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, velocity);
  TORCH_ARG(torch::Tensor, unused) = {};
  TORCH_ARG(std::deque<torch::Tensor>, past);

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, step);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, velocity);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, unused);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(std::deque<torch::Tensor>, past);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(step);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(velocity);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(unused);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(past);
  }
};

class Drift : public torch::optim::Optimizer {
 public:
  explicit Drift(std::vector<torch::Tensor> params, DriftOptions defaults = {})
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(params))},
                  std::make_unique<DriftOptions>(defaults)) {}

  torch::Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto& p : param_groups_[0].params()) {
      auto& slot = state_[c10::guts::to_string(p.unsafeGetTensorImpl())];
      if (!slot) slot = std::make_unique<DriftParamState>();
      auto& state = static_cast<DriftParamState&>(*slot);
      state.step(state.step() + 1);
      if (!state.velocity().defined()) state.velocity(torch::zeros_like(p));
      state.velocity().add_(1);
      state.past().push_back(state.velocity().clone());
      p.sub_(state.velocity());
    }
    return {};
  }
  void save(torch::serialize::OutputArchive& archive) const override { serialize(*this, archive); }
  void load(torch::serialize::InputArchive& archive) override { serialize(*this, archive); }

 private:
  template <typename Self, typename Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Drift);
  }
};

}  // namespace

TEST_CASE("a custom optimizer with the macros of libtorch resumes from a file") {
  auto p = torch::zeros({2}, torch::requires_grad()), q = torch::zeros({2}, torch::requires_grad());
  Drift first({p}, DriftOptions(0.25).betas({0.125, 0.5}).nesterov(true).most(7)), second({q});
  first.step();
  first.step();
  std::stringstream file;
  torch::save(first, file);
  torch::load(second, file, torch::kCPU);
  const auto& options = static_cast<DriftOptions&>(second.param_groups()[0].options());
  CHECK(options.lr() == 0.25);
  CHECK(options.betas() == std::make_tuple(0.125, 0.5));
  CHECK(options.nesterov());
  CHECK(options.most() == 7);
  const auto& state = static_cast<DriftParamState&>(*second.state().at(q.unsafeGetTensorImpl()));
  CHECK(state.step() == 2);
  CHECK_FALSE(state.unused().defined());
  REQUIRE(state.past().size() == 2);
  CHECK(torch::equal(state.past()[1], torch::full({2}, 2.f)));
  second.step();
  CHECK(torch::equal(q, torch::full({2}, -3.f)));
}

TEST_CASE("torch::load of an optimizer from a stream accepts a device or an empty optional") {
  Pair pair, other;
  pair.step();
  std::stringstream first, second;
  torch::save(pair.optimizer, first);
  torch::save(pair.optimizer, second);
  torch::load(other.optimizer, first, torch::Device(torch::kCPU));
  const auto& state = static_cast<AdamParamState&>(*other.optimizer.state().at(other.b.impl()));
  CHECK(state.step() == 1);
  CHECK(state.exp_avg().is_cpu());
  torch::load(other.optimizer, second, c10::optional<torch::Device>());
  CHECK(other.optimizer.state().size() == 2);
}

TEST_CASE("a moved optimizer keeps its step counts and moments") {
  Pair pair, twin;
  pair.step();
  twin.step();
  std::vector<torch::optim::Adam> all;
  all.push_back(std::move(pair.optimizer));
  (pair.a.sum() + 2 * pair.b.sum()).backward();
  all[0].step();
  (twin.a.sum() + 2 * twin.b.sum()).backward();
  twin.optimizer.step();
  CHECK(torch::equal(pair.a, twin.a));
  CHECK(torch::equal(pair.b, twin.b));
  CHECK(pair.optimizer.param_groups().empty());
  torch::optim::Adam assigned({pair.a}, 1.0);
  assigned = std::move(all[0]);
  CHECK(static_cast<const AdamParamState&>(*assigned.state().at(pair.b.impl())).step() == 2);
  CHECK(assigned.defaults().get_lr() == 0.1);
}
