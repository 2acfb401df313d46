// What an optimizer remembers, under the keys of either version of libtorch.
#include <torch/torch.h>

#include "support/catch.h"

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

// As helpers of programs for 1.13 take it.
size_t count(
    const ska::flat_hash_map<std::string, std::unique_ptr<torch::optim::OptimizerParamState>>& states) {
  return states.size();
}

}  // namespace

TEST_CASE("a state is found by the parameter's address and by that address as text") {
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
  CHECK_THROWS_WITH(state.count(std::string("bias")), support::Contains("'bias' is no address"));
  CHECK_THROWS_WITH(state.count(key + "!"), support::Contains("is no address"));
}

TEST_CASE("states are equal whose numbers and tensors are") {
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

TEST_CASE("states of L-BFGS are equal whose histories are") {
  torch::optim::LBFGSParamState one, other;
  CHECK(one == other);
  one.old_dirs({torch::ones(2)});
  CHECK_FALSE(one == other);
  other.old_dirs({torch::ones(2)});
  CHECK(one == other);
  other.H_diag(2);
  CHECK_FALSE(one == other);
}

TEST_CASE("a parameter joins one group only") {
  Pair pair;
  using torch::optim::OptimizerParamGroup;
  CHECK_THROWS_WITH(pair.optimizer.add_param_group(OptimizerParamGroup({pair.b})),
                    "some parameters appear in more than one parameter group");
  CHECK(pair.optimizer.param_groups().size() == 1);
  pair.optimizer.add_param_group(OptimizerParamGroup({torch::ones(1)}));
  CHECK(pair.optimizer.param_groups().size() == 2);
}
