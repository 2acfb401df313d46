// Parametrizations, weight_norm and spectral_norm: values of torch 2.15, names, clones.
#include <ebb/ebb.h>
#include <ebb/nn/functional_call.h>
#include <ebb/nn/fusion.h>
#include <ebb/nn/parametrize.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;
namespace utils = ebb::nn::utils;

namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

Variable wave(std::int64_t count, double rate, double start) { return arange(count, kDouble) * rate + start; }
void fill(const Variable& x, double start, double scale = 0.4) {
  NoGradGuard no_grad;
  x.copy_((wave(x.numel(), 0.7, start).sin() * scale).reshape(x.sizes()));
}
Variable given(std::vector<std::int64_t> sizes, double start) {
  const Variable x = empty(sizes, kDouble);
  fill(x, start, 1);
  return x.requires_grad_();
}
double mark(const Variable& x) {
  return (x.detach().reshape({-1}) * wave(x.numel(), 0.3, 1).cos()).sum().item<double>();
}
template <class M>
M prepared(M module) {
  module->to(kDouble);
  fill(module->weight, 1);
  fill(module->bias, 2);
  return module;
}
// Checks one scalar of the result, of the gradients of input and parameters, and of further tensors.
template <class M>
void check(M& module, const Variable& x, const Numbers& expected, const variable_list& besides = {},
           bool by_handle = true) {
  module->zero_grad();
  const Variable y = by_handle ? module(x) : module->forward(x);
  (y * wave(y.numel(), 0.9, 0).cos().reshape(y.sizes())).sum().backward();
  Numbers got{mark(y), mark(x.grad())};
  for (const Variable& p : module->parameters()) got.push_back(mark(p.grad()));
  for (const Variable& b : besides) got.push_back(mark(b));
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-10));
}

struct Doubled : utils::parametrize::Parametrization {
  Variable forward(const variable_list& originals) override { return originals[0] * 2; }
  variable_list right_inverse(const Variable& value) override { return {value / 2}; }
};

}  // namespace

TEST_CASE("weight_norm has the values of torch") {
  const std::vector<std::pair<optional<std::int64_t>, Numbers>> cases = {
      {0, {-0.31195884210646, -0.03398209129059, 0.12280866423345, -1.7924419723369, -1.1982776719979}},
      {1, {-0.31195884210646, -0.03398209129059, 0.12280866423345, -0.21871087029569, -4.9557256328173}},
      {nullopt,
       {-0.31195884210646, -0.03398209129059, 0.12280866423345, -0.048995935817161, -5.0303733554948}}};
  for (const auto& [dim, expected] : cases)
    for (const bool by_handle : {true, false}) {
      auto m = prepared(nn::Linear(3, 4));
      utils::parametrizations::weight_norm(m, "weight", dim);
      check(m, given({2, 3}, 5), expected, {}, by_handle);
      CHECK(m->state_dict().keys() ==
            Names{"bias", "parametrizations.weight.original0", "parametrizations.weight.original1"});
      auto old = prepared(nn::Linear(3, 4));
      // The dimension may be negative.
      utils::weight_norm(old, "weight", dim ? optional<std::int64_t>(*dim - 2) : dim);
      check(old, given({2, 3}, 5), expected, {}, by_handle);
      CHECK(old->state_dict().keys() == Names{"bias", "weight_g", "weight_v"});
    }
}

TEST_CASE("spectral_norm has the values of torch") {
  SECTION("parametrizations::spectral_norm") {
    auto m = prepared(nn::ConvTranspose1d(2, 3, 2));
    utils::parametrizations::spectral_norm(m, "weight", 2);
    CHECK(m->state_dict().keys() == Names{"bias", "parametrizations.weight.original",
                                          "parametrizations.weight.0._u", "parametrizations.weight.0._v"});
    const variable_list vectors = m->buffers();
    fill(vectors[0], 3);
    fill(vectors[1], 4);
    const Numbers expected = {-3.7727928300329, 0.19534027171443, 0.2689977094227,
                              -1.1909079945008, -0.4628840604947, -0.53490613182512};
    check(m, given({1, 2, 4}, 5), expected, vectors);
    m->eval();
    check(m, given({1, 2, 4}, 5), expected, vectors);
  }
  SECTION("utils::spectral_norm") {
    auto m = prepared(nn::Linear(3, 4));
    utils::spectral_norm(m);
    CHECK(m->state_dict().keys() == Names{"bias", "weight_orig", "weight_u", "weight_v"});
    const variable_list vectors = m->buffers();
    fill(vectors[0], 3);
    fill(vectors[1], 4);
    check(m, given({2, 3}, 5),
          {-0.94086883332938, -0.063045772377491, 0.12280866423345, -9.3611117314043, 0.13299135835721,
           0.18496169444929},
          vectors);
    const Variable weight = m->weight.detach().clone();
    utils::remove_spectral_norm(m);
    CHECK(m->state_dict().keys() == Names{"bias", "weight"});
    CHECK(allclose(m->weight, weight));
    CHECK(m->weight.is_leaf());
    CHECK(m->is_training());
  }
}

TEST_CASE("remove_spectral_norm sets the weight to the original divided by the current spectral norm") {
  for (const bool trains : {true, false}) {
    INFO("training " << trains);
    nn::Linear m(3, 4);
    utils::spectral_norm(m);
    m->train(trains);
    const Variable original = m->named_parameters()["weight_orig"].detach().clone();
    const Variable u = m->named_buffers()["weight_u"].clone(), v = m->named_buffers()["weight_v"].clone();
    utils::remove_spectral_norm(m);
    CHECK(m->is_training() == trains);
    CHECK(allclose(m->weight, original / u.dot(original.mv(v)), 1e-6));
  }
}

TEST_CASE("remove_weight_norm preserves the weight") {
  auto m = prepared(nn::Linear(3, 4));
  const Variable before = m->weight.detach().clone();
  utils::weight_norm(m);
  CHECK_THROWS_WITH(utils::weight_norm(m), Contains("computed from other parameters already"));
  {
    NoGradGuard no_grad;
    m->named_parameters()["weight_g"].mul_(2);
  }
  utils::remove_weight_norm(m);
  CHECK(m->named_parameters().keys() == Names{"bias", "weight"});
  CHECK(m->weight.is_same(m->named_parameters()["weight"]));
  CHECK(m->weight.requires_grad());
  CHECK(allclose(m->weight, before * 2));
  m(ones({1, 3}, kDouble)).sum().backward();
  CHECK(equal(m->weight.grad(), ones({4, 3}, kDouble)));
  CHECK_THROWS_WITH(utils::remove_weight_norm(m), Contains("not found"));
  CHECK_THROWS_WITH(utils::weight_norm(m, "weihgt"), Contains("has no parameter 'weihgt'"));
  CHECK_THROWS_WITH(utils::weight_norm(m, "weight", 2), Contains("out of range"));
  CHECK_THROWS_WITH(utils::spectral_norm(m, "bias"), Contains("two dimensions"));
  CHECK_THROWS_WITH(utils::spectral_norm(m, "weight", 0), Contains("must be positive"));
}

TEST_CASE("register_parametrization computes a parameter with the given functions") {
  nn::Linear m(nn::LinearOptions(2, 2).bias(false));
  const Variable start = m->weight.detach().clone();
  utils::parametrize::register_parametrization(m, "weight",
                                               [](const Variable& w) { return w.triu() + w.triu(1).t(); });
  CHECK(utils::parametrize::is_parametrized(*m));
  CHECK(utils::parametrize::is_parametrized(*m, "weight"));
  CHECK_FALSE(utils::parametrize::is_parametrized(*m, "bias"));
  CHECK(m->named_parameters().keys() == Names{"parametrizations.weight.original"});
  CHECK(equal(m->weight, m->weight.t()));
  CHECK(equal(m->weight[0], start[0]));
  m(ones({1, 2})).sum().backward();
  CHECK(equal(m->parameters()[0].grad(), tensor({{1.f, 2.f}, {0.f, 1.f}})));
  SECTION("several functions with right inverses are applied in order") {
    utils::parametrize::register_parametrization(m, "weight", std::make_shared<Doubled>());
    CHECK(m->named_parameters().keys() == Names{"parametrizations.weight.original"});
    CHECK(equal(m->weight[0], start[0]));
    CHECK(equal(m->parameters()[0][0], start[0] / 2));
    utils::parametrize::assign(*m, "weight", ones({2, 2}) * 4);
    CHECK(equal(m->parameters()[0], ones({2, 2}) * 2));
    CHECK(equal(m->weight, ones({2, 2}) * 4));
  }
  SECTION("removal leaves the parametrized or the original value") {
    const bool leave = GENERATE(true, false);
    const Variable now = m->weight.detach().clone();
    utils::parametrize::remove_parametrizations(m, "weight", leave);
    CHECK(equal(m->weight, leave ? now : start));
    CHECK(m->named_parameters().keys() == Names{"weight"});
    CHECK_FALSE(utils::parametrize::is_parametrized(*m));
    CHECK(m->children().empty());
  }
  SECTION("refresh recomputes the parameter without a call of the module") {
    {
      NoGradGuard no_grad;
      m->parameters()[0].fill_(3);
    }
    utils::parametrize::refresh(*m);
    CHECK(equal(m->weight, ones({2, 2}) * 3));
  }
  CHECK_THROWS_WITH(
      utils::parametrize::register_parametrization(m, "bias", [](const Variable& w) { return w; }),
      Contains("has no parameter 'bias'"));
  nn::Linear other(2, 3);
  CHECK_THROWS_WITH(
      utils::parametrize::register_parametrization(other, "weight", [](const Variable& w) { return w.t(); }),
      Contains("in place of"));
  CHECK_THROWS_WITH(utils::parametrize::remove_parametrizations(other, "weight"),
                    Contains("has no parametrization"));
}

TEST_CASE("earlier graphs of a parametrized module use the weight with which they were recorded") {
  auto m = prepared(nn::Linear(3, 4));
  utils::parametrizations::weight_norm(m);
  const Variable g = m->named_parameters()["parametrizations.weight.original0"], x = given({2, 3}, 5);
  const Variable first = m(x).pow(2).sum();
  {
    NoGradGuard no_grad;
    g.mul_(3);
  }
  const Variable second = m(x).pow(2).sum();
  // Both weights are alive, and the gradient of each is its own.
  const Variable of_second = autograd::grad({second}, {x})[0];
  const auto plain = prepared(nn::Linear(3, 4));
  const Variable linear_first = (linear(x, plain->weight, plain->bias)).pow(2).sum();
  const Variable linear_second = (linear(x, plain->weight * 3, plain->bias)).pow(2).sum();
  CHECK(allclose(of_second, autograd::grad({linear_second}, {x})[0]));
  CHECK(
      allclose(autograd::grad({first}, {x}, {}, {}, false, true)[0], autograd::grad({linear_first}, {x})[0]));
}

TEST_CASE("a frozen parameter stays frozen while it is parametrized and afterwards") {
  const std::function<void(nn::Linear&)> ways[] = {
      [](nn::Linear& m) {
        utils::parametrize::register_parametrization(m, "weight", [](const Variable& w) { return w * 2; });
      },
      [](nn::Linear& m) { utils::parametrizations::weight_norm(m); },
      [](nn::Linear& m) { utils::parametrizations::spectral_norm(m); },
      [](nn::Linear& m) { utils::parametrizations::orthogonal(m); }};
  for (const bool trains : {true, false})
    for (const auto& parametrize : ways) {
      INFO("trains " << trains << ", way " << &parametrize - ways);
      nn::Linear m(nn::LinearOptions(3, 3).bias(false));
      m->weight.set_requires_grad(trains);
      parametrize(m);
      REQUIRE_FALSE(m->parameters().empty());
      for (const Variable& p : m->parameters()) CHECK(p.requires_grad() == trains);
      CHECK(m->weight.requires_grad() == trains);
      utils::parametrize::remove_parametrizations(m, "weight");
      CHECK(m->weight.requires_grad() == trains);
    }
}

TEST_CASE("clones of parametrized modules are parametrized") {
  const bool old = GENERATE(true, false);
  auto m = prepared(nn::Linear(3, 4));
  if (old)
    utils::spectral_norm(m);
  else
    utils::parametrizations::weight_norm(m);
  m->eval();
  nn::Sequential net(m);
  nn::Sequential copy(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  CHECK(copy->state_dict().keys() == net->state_dict().keys());
  const Variable x = given({2, 3}, 5), before = net(x).detach();
  CHECK(equal(copy(x), before));
  {
    NoGradGuard no_grad;
    for (const Variable& p : m->parameters()) p.mul_(3);
  }
  CHECK(equal(copy(x), before));
  CHECK_FALSE(equal(net(x), before));
  for (const Variable& p : copy->parameters()) CHECK(p.is_leaf());
}

TEST_CASE("functional_call uses the given tensors in place of the module's own") {
  auto m = prepared(nn::Linear(3, 4));
  const Variable x = given({2, 3}, 5), own = m->weight.detach().clone();
  nn::Module::StateDict tensors;
  tensors.insert("weight", given({4, 3}, 1));
  const Variable y = nn::functional_call(m, tensors, x);
  CHECK(allclose(y, linear(x, tensors["weight"], m->bias)));
  CHECK(equal(m->weight, own));
  CHECK(m->weight.is_leaf());
  y.pow(2).sum().backward();
  CHECK_FALSE(m->weight.grad().defined());
  CHECK(m->bias.grad().defined());
  const Variable expected =
      autograd::grad({linear(x, tensors["weight"], m->bias).pow(2).sum()}, {tensors["weight"]})[0];
  CHECK(allclose(tensors["weight"].grad(), expected));
  // First and second derivatives with respect to the given tensors.
  CHECK(gradgradcheck(
      [&](const Variable& w) {
        nn::Module::StateDict one;
        one.insert("weight", w);
        return nn::functional_call(m, one, x).tanh();
      },
      {given({4, 3}, 2)}));

  nn::BatchNorm1d norm(3);
  norm->to(kDouble);
  nn::Module::StateDict buffers;
  buffers.insert("running_mean", zeros({3}, kDouble));
  nn::functional_call(norm, buffers, x);
  CHECK((buffers["running_mean"] != 0).all().item<bool>());
  CHECK((norm->running_mean == 0).all().item<bool>());
}

TEST_CASE("functional_call accepts the module's own tensors") {
  auto a = prepared(nn::Linear(3, 3)), b = prepared(nn::Linear(3, 3));
  {
    NoGradGuard no_grad;
    b->weight.mul_(-2);
  }
  nn::Sequential net(a, b);
  const Variable x = given({2, 3}, 5);
  const nn::Module::StateDict own = net->named_parameters();
  const Variable y = net->forward(x).pow(2).sum(), same = nn::functional_call(net, own, x).pow(2).sum();
  CHECK(equal(same, y));
  const variable_list expected = autograd::grad({y}, own.values()),
                      grads = autograd::grad({same}, own.values());
  for (std::size_t i = 0; i < grads.size(); ++i) CHECK(allclose(grads[i], expected[i]));

  nn::Module::StateDict swapped;
  swapped.insert("0.weight", b->weight);
  swapped.insert("1.weight", a->weight);
  const Variable other = nn::functional_call(net, swapped, x);
  CHECK(allclose(other, linear(linear(x, b->weight, a->bias), a->weight, b->bias)));
  other.sum().backward();
  CHECK(allclose(a->weight.grad(), linear(x, b->weight, a->bias).sum(0).expand({3, 3})));
}

TEST_CASE("functional_call and SubstituteGuard report wrong names and shapes") {
  nn::Sequential net(nn::Linear(2, 2));
  nn::Module::StateDict tensors;
  tensors.insert("0.wieght", ones({2, 2}));
  nn::functional_call(net, tensors, ones({1, 2}));
  CHECK_THROWS_WITH(utils::SubstituteGuard(*net, tensors, true),
                    Contains("'0.wieght'") && Contains("0.weight"));
  CHECK_THROWS_WITH(utils::SubstituteGuard(*net, nn::Module::StateDict(), true),
                    Contains("no tensor is given for '0.weight'"));
  nn::Module::StateDict none;
  none.insert("0.weight", Variable());
  CHECK_THROWS_WITH(utils::SubstituteGuard(*net, none), Contains("undefined"));

  nn::Linear shared(2, 2);
  nn::Sequential twice(shared, shared);
  nn::Module::StateDict one;
  one.insert("1.weight", zeros({2, 2}));
  {
    NoGradGuard no_grad;
    CHECK(equal(nn::functional_call(twice, one, ones({1, 2}))[0], shared->bias));
  }
  one.insert("0.weight", zeros({2, 2}));
  CHECK_THROWS_WITH(utils::SubstituteGuard(*twice, one), Contains("are one tensor"));
}

TEST_CASE("within a SubstituteGuard, backward throws for a graph that was recorded before the guard") {
  nn::Linear net(2, 1);
  const Tensor x = ones({1, 2}).requires_grad_();
  const Tensor loss = net(x).tanh().sum(), bias_only = (net->bias * 2).sum();
  nn::Module::StateDict tensors;
  tensors.insert("weight", full({1, 2}, 3.0));
  tensors.insert("bias", zeros({1}));
  {
    const nn::utils::SubstituteGuard guard(*net, tensors);
    CHECK_THROWS_WITH(loss.backward({}, true), support::Contains("is substituted now"));
    CHECK_THROWS_WITH(bias_only.backward({}, true), support::Contains("is substituted now"));
    net(x).sum().backward();
    CHECK(x.grad().equal(full({1, 2}, 3.0)));
  }
  CHECK_FALSE(net->bias.grad().defined());
  loss.backward();
  bias_only.backward();
  CHECK(net->weight.grad().defined());
  CHECK(net->bias.grad().defined());
}

TEST_CASE("fuse functions merge batch norms into the layers before them") {
  const auto norm = [](auto bn) {
    bn->to(kDouble);
    for (const Variable& t : {bn->weight, bn->bias, bn->running_mean}) fill(t, 3);
    NoGradGuard no_grad;
    bn->running_var.copy_(wave(bn->running_var.numel(), 0.5, 1));
    bn->eval();
    return bn;
  };
  const auto check_fused = [&](auto layer, auto bn, std::vector<std::int64_t> sizes, auto fuse) {
    layer->to(kDouble);
    layer->eval();
    auto n = norm(bn);
    auto fused = fuse(layer, n);
    const Variable x = given(sizes, 7);
    CHECK(allclose(fused(x), n(layer(x)), 1e-10, 1e-12));
    CHECK_FALSE(fused->is_training());
    CHECK(fused->weight.requires_grad());
  };
  const auto fuse = [](const auto& a, const auto& b) { return utils::fuse_conv_bn_eval(a, b); };
  check_fused(nn::Conv1d(2, 4, 3), nn::BatchNorm1d(4), {2, 2, 6}, fuse);
  check_fused(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).groups(2).bias(false)), nn::BatchNorm2d(6), {2, 4, 5, 5},
              fuse);
  check_fused(nn::Conv3d(2, 3, 2), nn::BatchNorm3d(3), {1, 2, 3, 3, 3}, fuse);
  check_fused(nn::ConvTranspose1d(2, 4, 3), nn::BatchNorm1d(4), {2, 2, 6}, fuse);
  check_fused(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 6, 3).groups(2)), nn::BatchNorm2d(6),
              {2, 4, 5, 5}, fuse);
  check_fused(nn::ConvTranspose3d(2, 3, 2), nn::BatchNorm3d(3), {1, 2, 3, 3, 3}, fuse);
  check_fused(nn::Linear(3, 4), nn::BatchNorm1d(4), {5, 3},
              [](const auto& a, const auto& b) { return utils::fuse_linear_bn_eval(a, b); });
  CHECK_THROWS_WITH(utils::fuse_conv_bn_eval(nn::Conv1d(1, 1, 1), nn::BatchNorm1d(1)),
                    Contains("must be in evaluation"));
}
