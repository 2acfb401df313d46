// Pruning: the masks of torch 2.15, and the parameters of pruned modules.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <sstream>
#include <string>
#include <vector>

using namespace ebb;
using namespace ebb::nn::utils;
using support::Contains;

namespace {

nn::Linear layer() {
  nn::Linear linear(4, 3);
  NoGradGuard no_grad;
  linear->weight.copy_(sin(arange(12) * 1.3 + 1).view({3, 4}));
  return linear;
}

Tensor mask_of(const nn::Linear& linear) { return linear->named_buffers()["weight_mask"]; }

std::string digits(const Tensor& mask) {
  std::string text;
  for (std::int64_t i = 0; i < mask.numel(); ++i) text += mask.flatten()[i].item<float>() == 1 ? '1' : '0';
  return text;
}

using Prune = std::function<void(const nn::Linear&)>;
template <class Method>
Prune by(const Method& method, const optional<Tensor>& scores = nullopt) {
  return [=](const nn::Linear& linear) { prune::apply(linear, "weight", method, scores); };
}

struct Row {
  const char* name;
  std::vector<Prune> steps;
  const char* mask;
};

}  // namespace

TEST_CASE("pruning masks equal those of torch for one method and for several") {
  using namespace prune;
  const double inf = std::numeric_limits<double>::infinity();
  const CustomFromMask custom(tensor({{1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 0}}));
  const Row rows[] = {
      {"identity", {by(Identity())}, "111111111111"},
      {"a share of the smallest", {by(L1Unstructured(0.3))}, "110101111010"},
      {"a number of the smallest", {by(L1Unstructured(5))}, "110101011010"},
      {"a share of a half too many", {by(L1Unstructured(0.375))}, "110101111010"},
      {"all", {by(L1Unstructured(1.0))}, "000000000000"},
      {"none", {by(L1Unstructured(0))}, "111111111111"},
      {"by scores", {by(L1Unstructured(4), arange(12).view({3, 4}).to(kFloat))}, "000011111111"},
      {"at random", {by(RandomUnstructured(5))}, "101010101110"},
      {"columns at random", {by(RandomStructured(0.5, 1))}, "010101010101"},
      {"a row at random", {by(RandomStructured(1, 0))}, "111111110000"},
      {"a row by its norm", {by(LnStructured(1, 2, 0))}, "111100001111"},
      {"columns by their sums", {by(LnStructured(0.5, 1))}, "001100110011"},
      {"columns by their largest", {by(LnStructured(2, inf, 1))}, "001100110011"},
      {"columns by their smallest", {by(LnStructured(2, -inf, 1))}, "001100110011"},
      {"a mask", {by(custom)}, "101101111110"},
      {"the smallest of a mask", {by(custom), by(L1Unstructured(3))}, "100101011010"},
      {"half of a half", {by(L1Unstructured(0.5)), by(L1Unstructured(0.5))}, "000101000010"},
      {"some of a half", {by(L1Unstructured(0.5)), by(RandomUnstructured(2))}, "110100001000"},
      {"half of the columns that are left",
       {by(LnStructured(1, 2, 1)), by(LnStructured(0.5, 2, 1))},
       "100010001000"},
      {"three methods", {by(L1Unstructured(6)), by(LnStructured(1, 2, 0)), by(custom)}, "100100001010"},
      {"columns at random of those left",
       {by(LnStructured(1, 1, 1)), by(RandomStructured(2, 1))},
       "001000100010"},
      {"identity of a mask", {by(L1Unstructured(4)), by(Identity())}, "110101111010"},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    manual_seed(7);
    const nn::Linear linear = layer();
    const Tensor before = linear->weight.detach().clone();
    for (const Prune& step : row.steps) step(linear);
    CHECK(digits(mask_of(linear)) == row.mask);
    CHECK(equal(linear->weight, before * mask_of(linear)));
  }
}

TEST_CASE("global_unstructured prunes several parameters together") {
  manual_seed(7);
  const nn::Linear a = layer(), b = layer();
  {
    NoGradGuard no_grad;
    b->weight.mul_(0.5).add_(0.1);
  }
  prune::l1_unstructured(b, "weight", 2);
  const prune::Parameters both{{a.ptr(), "weight"}, {b.ptr(), "weight"}};
  prune::global_unstructured(both, prune::L1Unstructured(8));
  CHECK(digits(mask_of(a)) == "111101111011");
  CHECK(digits(mask_of(b)) == "110001000010");
  prune::global_unstructured(both, prune::RandomUnstructured(0.25));
  CHECK(digits(mask_of(a)) == "011100011011");
  CHECK(digits(mask_of(b)) == "110001000000");
  prune::global_unstructured(both, prune::L1Unstructured(1), {ones({3, 4}), ones({3, 4}) * 0.5});
  CHECK(digits(mask_of(a)) == "011100011011");
  CHECK_THROWS_WITH(prune::global_unstructured(both, prune::LnStructured(1, 2)), Contains("unstructured"));
  CHECK_THROWS_WITH(prune::global_unstructured(both, prune::Identity(), {ones({3, 4})}), Contains("1 imp"));
}

TEST_CASE("a pruned module trains its original weight and uses the masked weight") {
  nn::Sequential net(nn::Linear(prune::l1_unstructured(layer(), "weight", 0.5)), nn::ReLU());
  auto& linear = *net->ptr<nn::LinearImpl>(0);
  std::vector<std::string> names;
  for (const auto& item : linear.state_dict()) names.push_back(item.key());
  CHECK(names == std::vector<std::string>{"bias", "weight_orig", "weight_mask"});
  CHECK(prune::is_pruned(*net));
  CHECK(prune::is_pruned(linear));
  const Tensor mask = linear.named_buffers()["weight_mask"],
               original = linear.named_parameters()["weight_orig"];
  CHECK(original.requires_grad());
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1));
  const Tensor x = ones({2, 4});
  net->forward(x).pow(2).sum().backward();
  CHECK(equal(original.grad() * (1 - mask), zeros({3, 4})));
  sgd.step();
  const Tensor y = net->forward(x);
  CHECK(equal(linear.weight, original * mask));
  CHECK(allclose(y, relu(linear.bias + (original * mask).sum(1)).expand({2, 3})));

  // A clone is pruned with the same mask and is independent; a file contains the original and the mask.
  nn::Sequential copy(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  CHECK(prune::is_pruned(*copy));
  CHECK(equal(copy->forward(x), y));
  nn::Sequential other(nn::Linear(prune::identity(layer(), "weight")), nn::ReLU());
  std::stringstream bytes;
  save(net, bytes);
  load(other, bytes);
  CHECK(equal(other->forward(x), y));

  prune::remove(linear, "weight");
  CHECK_FALSE(prune::is_pruned(*net));
  CHECK(prune::is_pruned(*copy));
  CHECK(linear.named_parameters().contains("weight"));
  CHECK(linear.weight.requires_grad());
  CHECK(linear.weight.is_leaf());
  CHECK(equal(linear.weight, (original * mask).detach()));
  CHECK(linear.buffers().empty());
  CHECK(equal(net->forward(x), y));
}

TEST_CASE("pruning throws for invalid arguments and changes nothing") {
  const nn::Linear linear = layer();
  CHECK_THROWS_WITH(prune::Amount(1.5), Contains("amount=1.5"));
  CHECK_THROWS_WITH(prune::Amount(-1), Contains("amount=-1"));
  CHECK_THROWS_WITH(prune::l1_unstructured(linear, "weight", 13), Contains("amount=13"));
  CHECK_THROWS_WITH(prune::l1_unstructured(linear, "wait", 1), Contains("no parameter 'wait'"));
  CHECK_THROWS_WITH(prune::ln_structured(linear, "bias", 1, 2, 0), Contains("multidimensional"));
  CHECK_THROWS_WITH(prune::random_structured(linear, "weight", 1, 2), Contains("Invalid index 2"));
  CHECK_THROWS_WITH(prune::custom_from_mask(linear, "weight", ones({4, 3})), Contains("of one shape"));
  CHECK_THROWS_WITH(prune::l1_unstructured(linear, "weight", 1, ones({4, 3})), Contains("importance_scores"));
  CHECK_THROWS_WITH(prune::remove(linear, "weight"), Contains("has to be pruned before"));
  CHECK_FALSE(prune::is_pruned(linear));
  CHECK(linear->named_parameters().keys() == std::vector<std::string>{"weight", "bias"});
  nn::Linear normed = weight_norm(layer());
  CHECK_THROWS_WITH(prune::identity(normed, "weight"), Contains("computed from other parameters"));
  CHECK_FALSE(prune::is_pruned(normed));
}

TEST_CASE("PruningContainer applies its last method to the unmasked elements") {
  prune::PruningContainer container;
  const Tensor t = tensor({1.0F, -4.0F, 3.0F, 2.0F});
  CHECK_THROWS_WITH(container.compute_mask(t, ones({4})), Contains("there is no method"));
  container.add_pruning_method(std::make_shared<prune::L1Unstructured>(1));
  CHECK(digits(container.compute_mask(t, tensor({0.0F, 1.0F, 1.0F, 1.0F}))) == "0110");
  CHECK(container.size() == 1);
  CHECK(equal(prune::L1Unstructured(2).prune(t), tensor({0.0F, -4.0F, 3.0F, 0.0F})));
  const Tensor scores = tensor({4.0F, 3.0F, 2.0F, 1.0F});
  CHECK(equal(prune::L1Unstructured(2).prune(t, nullopt, scores), tensor({1.0F, -4.0F, 0.0F, 0.0F})));
}
