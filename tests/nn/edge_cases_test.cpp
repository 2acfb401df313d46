// Rare calls: errors of every type, overloads, state hooks, clipping of mixed gradients.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

#include <typeinfo>

// Rare calls: errors of every type, overloads, state hooks, reset_parameters.

using namespace ebb;
using support::Contains;
using support::require_close;
using support::require_same;
using support::Saying;
namespace F = nn::functional;
using Names = std::vector<std::string>;
using State = nn::Module::StateDict;

TEST_CASE("an error in a module preserves its type and names the module") {
  nn::Sequential inner(nn::ReflectionPad2d(1), nn::Embedding(3, 2), nn::Linear(2, 2));
  const nn::Sequential net(nn::Identity(), inner);
  CHECK_THROWS_MATCHES(inner->at<nn::ReflectionPad2dImpl>(0).forward(ones({4, 4})), NotImplementedError,
                       Saying("for shape [4, 4].\n  in module '1.0', ebb::nn::ReflectionPad2d(padding="));
  CHECK_THROWS_MATCHES(inner->at<nn::EmbeddingImpl>(1).forward(tensor({7})), IndexError,
                       Saying("in module '1.1', ebb::nn::Embedding(num_embeddings=3"));
  bool plain = false;
  try {
    inner->at<nn::LinearImpl>(2).forward(ones({3}));
  } catch (const Error& error) {
    plain = typeid(error) == typeid(Error);
    CHECK_THAT(error.what(), Contains("in module '1.2', ebb::nn::Linear(in_features=2"));
  }
  CHECK(plain);
}

TEST_CASE("AnyModule returns the type of its module, selects overloads and reports wrong arguments") {
  struct Either : nn::Module {
    Variable forward(const Variable& x) { return x * 2; }
    Variable forward(const Variable& x, const Variable& y) { return x - y; }
  };
  struct Scaled : nn::Module {
    Variable forward(const Variable& x, double factor) { return x * factor; }
  };
  nn::AnyModule either(std::make_shared<Either>()), scaled(std::make_shared<Scaled>()), none;
  CHECK(either.type_info() == typeid(Either));
  CHECK(nn::AnyModule(nn::Linear(1, 1)).type_info() == typeid(nn::LinearImpl));
  const Variable x = full({1}, 5.0), y = full({1}, 3.0);
  CHECK(either.forward(x).item<float>() == 10);
  CHECK(either.forward(x, y).item<float>() == 2);
  CHECK(scaled.forward(x, 4.0).item<float>() == 20);
  CHECK_THROWS_WITH(either.forward(x, y, x), Contains("Either's forward()") && Contains("but received 3"));
  CHECK_THROWS_WITH(scaled.forward(x), Contains("expects 2 argument(s), but received 1"));
  CHECK_THROWS_WITH(
      scaled.forward(x, y),
      Contains("argument #1") && Contains("type double, but received value of type ebb::Tensor"));
  CHECK_THROWS_WITH(scaled.forward<double>(x, 4.0), Contains("cast AnyValue to double"));
  CHECK_THROWS_WITH(none.type_info(), Contains("type_info() on an empty AnyModule"));
  CHECK_THROWS_WITH(none.ptr(), Contains("ptr() on an empty AnyModule"));
}

TEST_CASE("load_state_dict with assign uses the tensors that a pre-hook inserts") {
  nn::Linear m(2, 1);
  m->register_load_state_dict_pre_hook([](nn::Module&, State& state, const std::string&) {
    state.insert("weight", state["kernel"]);
    state.erase("kernel");
    state["bias"] = state["bias"] * 2;
  });
  const Variable kernel = randn({1, 2}, kDouble);
  const State state({{"kernel", kernel}, {"bias", full({1}, 3.0, kDouble)}});
  m->load_state_dict(state, /*strict=*/true, /*assign=*/true);
  CHECK(m->weight.is_alias_of(kernel));
  CHECK(m->bias.dtype() == kDouble);
  CHECK(m->bias.item<double>() == 6);
  CHECK(m->weight.requires_grad());
  CHECK(state.keys() == Names{"kernel", "bias"});
}

TEST_CASE("load_state_dict reports undefined entries as missing keys or, if unknown, as unexpected keys") {
  const State state({{"weight", ones({1, 2})}, {"bias", Variable()}, {"more", Variable()}});
  for (const bool hooked : {false, true}) {
    INFO(hooked);
    nn::Linear m(2, 1);
    const Variable bias = m->bias.detach().clone();
    if (hooked) m->register_load_state_dict_pre_hook([](nn::Module&, State&, const std::string&) {});
    CHECK_THROWS_WITH(m->load_state_dict(state),
                      Contains("Missing:\n    \"bias\"") && Contains("Unexpected:\n    \"more\""));
    const nn::IncompatibleKeys keys = m->load_state_dict(state, /*strict=*/false);
    CHECK(keys.missing_keys == Names{"bias"});
    CHECK(keys.unexpected_keys == Names{"more"});
    CHECK(equal(m->weight, ones({1, 2})));
    CHECK(equal(m->bias, bias));
  }
}

TEST_CASE("a lazy layer throws for a state whose weight has another rank") {
  struct Case {
    nn::AnyModule lazy;
    Variable weight;
    std::string message;
  };
  const Case cases[] = {
      {nn::AnyModule(nn::LazyLinear(3)), ones({3, 4, 1}), "the state has [3, 4, 1]"},
      {nn::AnyModule(nn::LazyConv1d(nn::Conv1dOptions(0, 3, 2))), ones({3, 4}), "the state has [3, 4]"},
      {nn::AnyModule(nn::LazyConvTranspose2d(nn::ConvTranspose2dOptions(0, 3, 2))), ones({4, 3, 2}),
       "the state has [4, 3, 2]"},
      {nn::AnyModule(nn::LazyBatchNorm1d()), ones({4, 1}), "the state has [4, 1]"}};
  for (const Case& each : cases) {
    INFO(each.message);
    const auto module = each.lazy.ptr();
    CHECK_THROWS_WITH(module->load_state_dict(State({{"weight", each.weight}}), /*strict=*/false),
                      Contains(each.message));
    CHECK(module->get_parameter("weight").numel() == 0);
  }
  nn::LazyConvTranspose2d fits(nn::ConvTranspose2dOptions(0, 6, 2).groups(2).bias(false));
  fits->load_state_dict(State({{"weight", ones({4, 3, 2, 2})}}));
  CHECK(fits->options.in_channels() == 4);
  CHECK(fits(ones({1, 4, 1, 1})).eq(2).all().item<bool>());
}

TEST_CASE("normalize writes to the tensor given as out") {
  const Variable x = tensor({3.F, 4.F, 0.F, -2.F}).view({2, 2}), out = zeros({2, 2});
  const Variable result = F::normalize(x, F::NormalizeFuncOptions().dim(1).out(out));
  CHECK(result.is_same(out));
  require_close(out, {0.6, 0.8, 0, -1}, 1e-6);
}

TEST_CASE("embedding_bag multiplies per_sample_weights elementwise and accepts include_last_offset") {
  const Variable table = arange(8, kFloat).view({4, 2}), factors = tensor({1.F, 2.F, 0.5F});
  auto options = F::EmbeddingBagFuncOptions().mode(kSum).offsets(tensor({0, 1, 3}));
  options.per_sample_weights() = factors;
  const Variable bags = F::embedding_bag(tensor({3, 1, 2}), table, options.include_last_offset(true));
  require_close(bags, {6, 7, 2 * 2 + 0.5 * 4, 2 * 3 + 0.5 * 5});
  CHECK_THROWS_WITH(F::embedding_bag(tensor({3, 1, 2}), table, options.per_sample_weights(ones({2}))),
                    Contains("per_sample_weights of the input's shape, [3]"));
}

TEST_CASE("MaxUnpool with only a kernel size inverts the pooling of that kernel size") {
  const Variable x = tensor({1.F, 5.F, 2.F, 7.F, 6.F, 3.F}).view({1, 1, 6});
  nn::MaxPool1d pool(2);
  nn::MaxUnpool1d unpool(2);
  const auto [values, places] = pool->forward_with_indices(x);
  require_close(unpool(values, places), {0, 5, 0, 7, 6, 0});
  CHECK(*unpool->options.stride() == *unpool->options.kernel_size());
}

TEST_CASE(
    "reset_parameters of a Transformer resets its layers in order and its norm to weight 1 and bias 0") {
  const auto check = []<class Layer>(auto module, std::type_identity<Layer>) {
    NoGradGuard no_grad;
    auto norm = module->options.norm();
    for (const Variable& p : norm.ptr()->parameters()) p.fill_(7);
    std::vector<std::shared_ptr<Layer>> copies;
    for (const auto& each : *module->layers)
      copies.push_back(std::dynamic_pointer_cast<Layer>(each->clone()));
    manual_seed(3);
    module->reset_parameters();
    manual_seed(3);
    variable_list expected;
    for (const auto& layer : copies) {
      layer->reset_parameters();
      for (const Variable& p : layer->parameters()) expected.push_back(p);
    }
    for (const auto& p : norm.ptr()->named_parameters())
      expected.push_back(p.key() == "weight" ? ones({4}) : zeros({4}));
    require_same(module->parameters(), expected);
  };
  for (const bool root : {true, false}) {
    const nn::AnyModule norm = root ? nn::AnyModule(nn::RMSNorm(nn::RMSNormOptions({4})))
                                    : nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({4})));
    check(nn::TransformerEncoder(
              nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(4, 2), 2).norm(norm)),
          std::type_identity<nn::TransformerEncoderLayerImpl>());
    check(nn::TransformerDecoder(
              nn::TransformerDecoderOptions(nn::TransformerDecoderLayerOptions(4, 2), 2).norm(norm)),
          std::type_identity<nn::TransformerDecoderLayerImpl>());
  }
}

TEST_CASE("reset_parameters of an adaptive softmax draws its linear layers in order") {
  nn::AdaptiveLogSoftmaxWithLoss softmax(
      nn::AdaptiveLogSoftmaxWithLossOptions(16, 10, {3, 6}).head_bias(true));
  manual_seed(3);
  softmax->reset_parameters();
  manual_seed(3);
  const nn::Linear head(16, 5);
  variable_list expected{head->weight, head->bias};
  const std::int64_t sizes[][2] = {{16, 4}, {4, 3}, {16, 1}, {1, 4}};
  for (const auto& [in, out] : sizes)
    expected.push_back(nn::Linear(nn::LinearOptions(in, out).bias(false))->weight);
  require_same(softmax->parameters(), expected);
}

TEST_CASE("front() and back() return the first and last entry of an OrderedDict and throw if it is empty") {
  OrderedDict<std::string, Variable> dict;
  CHECK_THROWS_WITH(std::as_const(dict).back(), Contains("back() on an empty OrderedDict"));
  CHECK_THROWS_WITH(dict.front(), Contains("front() on an empty OrderedDict"));
  dict.insert("a", full({1}, 1.0));
  dict.insert("b", full({1}, 2.0));
  CHECK(dict.front()->item<float>() == 1);
  CHECK(std::as_const(dict).back().key() == "b");
  dict.front().value() = dict.back().value();
  CHECK(std::as_const(dict)["a"].item<float>() == 2);
  CHECK_THROWS_WITH(dict[2], Contains("Index 2 is out of bounds"));
}

TEST_CASE("modules have the same results and errors with and without EmitNvtx") {
  const nn::Sequential inner(nn::Linear(2, 3), nn::Tanh());
  nn::Sequential net(inner, nn::Linear(3, 1));
  const Variable x = randn({4, 2}), expected = net(x);
  {
    const cuda::EmitNvtx emitted;
    require_same({net(x), net->forward(x)}, {expected, expected});
    CHECK_THROWS_WITH(net(ones({4, 5})), Contains("in module '0.0', ebb::nn::Linear(in_features=2"));
  }
  CHECK_FALSE(cuda::is_nvtx_emitted());
}

TEST_CASE("cuda() and pin_memory() of a packed sequence throw without a GPU") {
  if (cuda::is_available()) return;
  const auto packed = nn::utils::rnn::pack_padded_sequence(randn({3, 2}), tensor({2, 3}), false, false);
  CHECK_THROWS_WITH(packed.cuda(), Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(packed.pin_memory(), Contains("Device::CUDA: "));
}

// Clipping of gradients of several dtypes and memory layouts in one call.

namespace {

Variable with_grad(const Variable& grad) {
  Variable p = zeros_like(grad).set_requires_grad(true);
  p.mutable_grad() = grad;
  return p;
}

// Returns the values of `x` as every second element of a larger tensor.
Variable strided(const Variable& x) {
  Variable out = zeros({x.numel(), 2}, x.options()).select(1, 0);
  out.copy_(x);
  return out;
}

}  // namespace

TEST_CASE("clip_grad_norm_ of gradients of several dtypes uses the norm of all elements") {
  const Variable a = with_grad(full({4}, 3.0, kFloat)), b = with_grad(full({3}, -4.0, kDouble)),
                 c = with_grad(full({2}, 2.0, kHalf));
  for (const std::vector<Variable>& all : {std::vector<Variable>{a, b, c}, std::vector<Variable>{c, b, a}}) {
    CHECK(nn::utils::get_total_norm({all[0].grad(), all[1].grad(), all[2].grad()}).item<double>() ==
          Approx(std::sqrt(4 * 9 + 3 * 16 + 2 * 4)));
    CHECK(nn::utils::get_total_norm({all[0].grad(), all[1].grad(), all[2].grad()}, 1).item<double>() ==
          Approx(4 * 3 + 3 * 4 + 2 * 2));
    CHECK(nn::utils::get_total_norm({all[0].grad(), all[1].grad(), all[2].grad()}, INFINITY).item<double>() ==
          4);
  }
  nn::utils::clip_grad_value_({a, b, c}, 2.5);
  CHECK(equal(a.grad(), full({4}, 2.5, kFloat)));
  CHECK(equal(b.grad(), full({3}, -2.5, kDouble)));
  CHECK(equal(c.grad(), full({2}, 2.0, kHalf)));
}

TEST_CASE("clip_grad_value_ clips strided gradients in place") {
  const Variable a = strided(tensor({1.0, -7.0, 2.0}, kDouble)),
                 b = strided(tensor({5.0, 0.5, -0.5}, kDouble)), c = tensor({9.0, 1.0}, kDouble);
  nn::utils::clip_grad_value_({with_grad(a), with_grad(b), with_grad(c)}, 2);
  CHECK(equal(a, tensor({1.0, -2.0, 2.0}, kDouble)));
  CHECK(equal(b, tensor({2.0, 0.5, -0.5}, kDouble)));
  CHECK(equal(c, tensor({2.0, 1.0}, kDouble)));
}
