// Containers of modules and parameters, and modules that are built from others.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;
namespace F = nn::functional;
using Names = std::vector<std::string>;

TEST_CASE("OrderedDict supports update() and access by index and key, and its errors contain the key") {
  OrderedDict<std::string, Tensor> dict("Weight");
  CHECK(dict.key_description() == "Weight");
  CHECK_THROWS_WITH(dict.back(), Contains("Called back() on an empty OrderedDict"));
  dict.reserve(3);
  dict.insert("a", full({1}, 1.0));
  const OrderedDict<std::string, Tensor> more({{"b", full({1}, 2.0)}, {"c", full({1}, 3.0)}});
  dict.update(more);
  OrderedDict<std::string, Tensor> last({{"d", full({1}, 4.0)}});
  dict.update(std::move(last));
  CHECK(dict.keys() == Names{"a", "b", "c", "d"});
  CHECK(more.size() == 2);
  CHECK(dict.back().key() == "d");
  CHECK(dict[1].key() == "b");
  CHECK(dict[1].pair().second.is_same(more["b"]));
  CHECK((*dict[2]).item<float>() == 3);
  CHECK(std::as_const(dict)[3]->item<float>() == 4);
  CHECK(dict.items().size() == 4);
  CHECK_THROWS_WITH(dict.update(more), Contains("Weight 'b' already defined"));
  CHECK_THROWS_WITH(dict["e"], Contains("Weight 'e' is not defined"));
  dict.erase("b");
  CHECK(dict.pairs()[1].first == "c");
  CHECK(dict["d"].item<float>() == 4);
}

TEST_CASE("ModuleDict is built from a list or a dictionary and supports replacement and clear") {
  const std::shared_ptr<nn::Module> one = std::make_shared<nn::LinearImpl>(1, 2),
                                    two = std::make_shared<nn::ReLUImpl>();
  const nn::ModuleDict by_list(
      std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{{"one", one}, {"two", two}});
  OrderedDict<std::string, std::shared_ptr<nn::Module>> ordered;
  ordered.insert("one", one);
  ordered.insert("two", two);
  nn::ModuleDict dict(ordered);
  CHECK(by_list->keys() == dict->keys());
  CHECK(dict->values() == std::vector<std::shared_ptr<nn::Module>>{one, two});
  CHECK(dict->parameters().size() == 2);
  const std::shared_ptr<nn::Module> other = std::make_shared<nn::LinearImpl>(3, 4);
  OrderedDict<std::string, std::shared_ptr<nn::Module>> replacing;
  replacing.insert("one", other);
  dict->update(replacing);
  CHECK(dict->keys() == Names{"one", "two"});
  CHECK(dict["one"] == other);
  CHECK(dict->named_parameters().keys() == Names{"one.weight", "one.bias"});
  CHECK(by_list["one"] == one);
  dict->clear();
  CHECK(dict->empty());
  CHECK(dict->parameters().empty());
}

TEST_CASE("ParameterDict is built from a dictionary and its clone has separate parameters") {
  OrderedDict<std::string, Tensor> given("Parameter");
  given.insert("w", ones({2}).requires_grad_());
  given.insert("fixed", full({1}, 3.0));
  const nn::ParameterDict dict(given);
  CHECK(dict->keys() == Names{"w", "fixed"});
  CHECK(dict->values()[1].item<float>() == 3);
  const auto copy = std::dynamic_pointer_cast<nn::ParameterDictImpl>(dict->clone());
  REQUIRE(copy);
  CHECK(copy->keys() == dict->keys());
  CHECK(copy->values()[0].requires_grad());
  CHECK_FALSE(copy->values()[1].requires_grad());
  copy->values()[0].detach().fill_(7);
  CHECK(dict->values()[0].sum().item<float>() == 2);
}

TEST_CASE("Sequential is built from a dictionary of modules and push_back accepts named modules") {
  OrderedDict<std::string, nn::AnyModule> modules;
  modules.insert("first", nn::AnyModule(nn::Linear(3, 4)));
  modules.insert("second", nn::AnyModule(nn::Tanh()));
  nn::Sequential net(std::move(modules));
  net->push_back(nn::NamedAnyModule("third", nn::Linear(4, 2)));
  CHECK(net->named_parameters().keys() == Names{"first.weight", "first.bias", "third.weight", "third.bias"});
  const Tensor x = randn({5, 3});
  const auto &first = net->at<nn::LinearImpl>(0), &third = net->at<nn::LinearImpl>(2);
  CHECK(equal(net->forward<Tensor>(x),
              F::linear(tanh(F::linear(x, first.weight, first.bias)), third.weight, third.bias)));
}

TEST_CASE("apply with names calls the function with the path of every submodule") {
  const nn::Sequential inner(nn::Linear(1, 1), nn::ReLU());
  nn::Sequential net(nn::Linear(2, 2), inner);
  Names seen;
  net->apply([&](const std::string& name, nn::Module&) { seen.push_back(name); }, "net");
  CHECK(seen == Names{"net", "net.0", "net.1", "net.1.0", "net.1.1"});
  Names again;
  net->apply([&](const std::string& name, const std::shared_ptr<nn::Module>& module) {
    if (module->children().empty()) again.push_back(name);
  });
  CHECK(again == Names{"0", "1.0", "1.1"});
}

TEST_CASE("EmbeddingBag::from_pretrained uses the given rows and freezes them by default") {
  const Tensor rows = arange(8, kFloat).view({4, 2});
  const Tensor index = tensor({0, 2, 3, 1}).view({2, 2});
  for (const bool freeze : {true, false}) {
    nn::EmbeddingBag bag = nn::EmbeddingBag::from_pretrained(
        rows, nn::EmbeddingBagFromPretrainedOptions().freeze(freeze).mode(kSum).padding_idx(3));
    CHECK(bag->weight.requires_grad() == !freeze);
    CHECK(equal(bag->forward(index), tensor({4.F, 6.F, 2.F, 3.F}).view({2, 2})));
  }
  CHECK_FALSE(nn::EmbeddingBag::from_pretrained(rows)->weight.requires_grad());
  CHECK_THROWS_WITH(nn::EmbeddingBag::from_pretrained(ones({3})), Contains("2-dimensional"));
}

TEST_CASE("each index of max pooling is the position of the maximum in the input") {
  const Tensor line = randn({2, 3, 12}), plane = randn({2, 3, 9, 8}), body = randn({2, 3, 6, 7, 8});
  const auto check = [](const Tensor& x, const std::tuple<Tensor, Tensor>& pooled, std::int64_t dims) {
    const auto& [values, places] = pooled;
    const Tensor flat = x.flatten(-dims);
    CHECK(equal(flat.gather(-1, places.flatten(-dims)), values.flatten(-dims)));
  };
  nn::AdaptiveMaxPool1d one(5);
  nn::AdaptiveMaxPool2d two(nn::AdaptiveMaxPool2dOptions({3, 5}));
  nn::AdaptiveMaxPool3d three(nn::AdaptiveMaxPool3dOptions({2, 3, 4}));
  check(line, one->forward_with_indices(line), 1);
  check(plane, two->forward_with_indices(plane), 2);
  check(body, three->forward_with_indices(body), 3);
  nn::FractionalMaxPool2d flat(
      nn::FractionalMaxPool2dOptions(2).output_size(std::vector<std::int64_t>{4, 4}));
  nn::FractionalMaxPool3d deep(
      nn::FractionalMaxPool3dOptions(2).output_size(std::vector<std::int64_t>{3, 4, 4}));
  check(plane, flat->forward_with_indices(plane), 2);
  check(body, deep->forward_with_indices(body), 3);
}

TEST_CASE("fuse_linear_bn_weights merges a batch norm into the linear layer before it") {
  const Tensor weight = randn({3, 4}), bias = randn({3}), mean = randn({3}), var = rand({3}) + 0.5,
               scale = randn({3}), shift = randn({3}), x = randn({5, 4});
  const auto [w, b] = nn::utils::fuse_linear_bn_weights(weight, bias, mean, var, 1e-3, scale, shift);
  const Tensor expected =
      batch_norm(F::linear(x, weight, bias), scale, shift, mean, var, false, 0.1, 1e-3, false);
  CHECK(allclose(F::linear(x, w, b), expected, 1e-4, 1e-5));
}

TEST_CASE("clip_grad_value_ accepts a single tensor") {
  const Tensor x = zeros({3}).requires_grad_();
  x.mutable_grad() = tensor({-2.F, 0.25F, 3.F});
  nn::utils::clip_grad_value_(x, 0.5);
  CHECK(equal(x.grad(), tensor({-0.5F, 0.25F, 0.5F})));
}

TEST_CASE("functional rms_norm equals its formula") {
  const Tensor x = randn({2, 3, 4}, kDouble), weight = randn({3, 4}, kDouble);
  const Tensor norm = F::rms_norm(x, F::RMSNormFuncOptions({3, 4}).weight(weight).eps(0.25));
  CHECK(allclose(norm, x / (x.square().mean({1, 2}, true) + 0.25).sqrt() * weight, 1e-12));
}

TEST_CASE("reset_running_stats of InstanceNorm restores the initial statistics") {
  nn::InstanceNorm2d norm(nn::InstanceNorm2dOptions(2).track_running_stats(true));
  norm->forward(randn({3, 2, 4, 4}) * 5 + 1);
  CHECK_FALSE(equal(norm->running_mean, zeros({2})));
  norm->reset_running_stats();
  CHECK(equal(norm->running_mean, zeros({2})));
  CHECK(equal(norm->running_var, ones({2})));
  CHECK(norm->num_batches_tracked.item<std::int64_t>() == 0);
}

TEST_CASE(
    "reset_parameters of transformers and adaptive softmax resets all parameters except out_proj.weight") {
  const auto changes = [](auto module) {
    const NoGradGuard no_grad;
    for (const Tensor& p : module->parameters()) p.fill_(7);
    module->reset_parameters();
    for (const auto& p : module->named_parameters()) {
      INFO(p.key());
      if (!p.key().ends_with("out_proj.weight")) CHECK_FALSE(p.value().eq(7).any().template item<bool>());
    }
  };
  changes(nn::TransformerEncoder(nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(4, 2), 2)
                                     .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({4}))))));
  changes(nn::TransformerDecoder(nn::TransformerDecoderOptions(nn::TransformerDecoderLayerOptions(4, 2), 2)
                                     .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({4}))))));
  changes(nn::AdaptiveLogSoftmaxWithLoss(nn::AdaptiveLogSoftmaxWithLossOptions(16, 10, {3, 6})));
  const nn::Transformer plain(8, 2);
  CHECK(plain->options.d_model() == 8);
  CHECK(plain->options.nhead() == 2);
  CHECK(plain->options.num_encoder_layers() == nn::TransformerOptions(8, 2).num_encoder_layers());
}

TEST_CASE("a clone of a module with spectral_norm has its own copies of the power iteration vectors") {
  for (const bool parametrized : {false, true})
    for (const bool trains : {false, true}) {
      INFO("parametrized " << parametrized << ", training " << trains);
      nn::Linear m(3, 4);
      if (parametrized)
        nn::utils::parametrizations::spectral_norm(m);
      else
        nn::utils::spectral_norm(m);
      m->train(trains);
      {
        const NoGradGuard no_grad;  // so that a step changes the vectors
        for (const Tensor& p : m->parameters()) p.normal_();
      }
      const auto copy = std::dynamic_pointer_cast<nn::LinearImpl>(m->clone());
      CHECK(copy->is_training() == trains);
      const auto same_vectors = [&] {
        bool same = true;
        for (const auto& buffer : m->named_buffers())
          same = same && equal(buffer.value(), copy->named_buffers()[buffer.key()]);
        return same;
      };
      CHECK(same_vectors());
      const Tensor x = randn({2, 3});
      CHECK(equal(copy->forward(x), m->forward(x)));
      CHECK(same_vectors());
      copy->train();
      copy->forward(x);
      CHECK_FALSE(same_vectors());
    }
}

TEST_CASE("an RNN gives packed sequences the same results as each sequence alone") {
  nn::RNN rnn(3, 4);
  namespace rnns = nn::utils::rnn;
  const Tensor x = randn({5, 2, 3});
  const auto [packed, last] = rnn->forward_with_packed_input(rnns::pack_padded_sequence(x, tensor({5, 3})));
  const auto [padded, lengths] = rnns::pad_packed_sequence(packed);
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t length = lengths[i].item<std::int64_t>();
    const auto [alone, state] = rnn->forward(x.select(1, i).narrow(0, 0, length).unsqueeze(1));
    CHECK(allclose(padded.select(1, i).narrow(0, 0, length), alone.squeeze(1), 1e-5, 1e-6));
    CHECK(allclose(last.select(1, i), state.squeeze(1), 1e-5, 1e-6));
  }
}

TEST_CASE("layers with zero features have parameters without elements") {
  const nn::Linear none(0, 3), to_none(4, 0);
  CHECK(none->weight.sizes() == IntArrayRef({3, 0}));
  CHECK(nn::Linear(to_none)->forward(ones({2, 4})).sizes() == IntArrayRef({2, 0}));
  nn::AdaptiveLogSoftmaxWithLoss softmax(nn::AdaptiveLogSoftmaxWithLossOptions(4, 10, {3, 6}));
  softmax->reset_parameters();
  CHECK(softmax->log_prob(ones({2, 4})).exp().sum(1).allclose(ones({2})));
}
