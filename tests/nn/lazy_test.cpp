// When modules create their parameters: lazily from their first input, and again in reset_parameters().
#include <ebb/ebb.h>
#include <ebb/nn/modules/lazy.h>

#include "support/catch.h"
#include "support/scopes.h"

#include <sstream>

// Lazy modules, which infer the size of their input.

using namespace ebb;
using support::Contains;

namespace {

template <class M>
std::string printed(const M& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

}  // namespace

TEST_CASE("a lazy layer becomes the plain layer at its first call") {
  nn::LazyLinear lazy(3);
  CHECK(lazy->has_uninitialized_params());
  CHECK(lazy->weight.sizes() == IntArrayRef({3, 0}));
  CHECK(printed(lazy) == "ebb::nn::LazyLinear(in_features=0, out_features=3, bias=true)");
  const Variable handle = lazy->parameters()[0], x = ones({2, 4});
  manual_seed(5);
  lazy(x);
  CHECK_FALSE(lazy->has_uninitialized_params());
  CHECK(printed(lazy) == "ebb::nn::Linear(in_features=4, out_features=3, bias=true)");
  CHECK(handle.is_same(lazy->weight));
  manual_seed(5);
  nn::Linear plain(4, 3);
  CHECK(equal(lazy->weight, plain->weight));
  CHECK(equal(lazy->bias, plain->bias));
  CHECK(equal(lazy->forward(x), plain(x)));
  CHECK_THROWS_WITH(lazy(ones({2, 5})), Contains("5"));
}

TEST_CASE("an optimizer made before the first call steps lazy parameters") {
  nn::Sequential net(nn::LazyLinear(2), nn::ReLU(), nn::LazyLinear(1));
  optim::SGD sgd(net->parameters(), 0.1);
  net(ones({3, 4})).sum().backward();
  const Variable before = net->at<nn::LinearImpl>(2).bias.detach().clone();
  sgd.step();
  CHECK(allclose(net->at<nn::LinearImpl>(2).bias, before - 0.3));
}

TEST_CASE("lazy convolutions infer their channels") {
  nn::LazyConv1d c1(6, 3);
  CHECK(c1(ones({2, 4, 8})).sizes() == IntArrayRef({2, 6, 6}));
  nn::LazyConv2d c2(nn::Conv2dOptions(0, 6, {3, 1}).groups(2).bias(false));
  CHECK(c2(ones({4, 5, 5})).sizes() == IntArrayRef({6, 3, 5}));  // no batch
  CHECK(c2->weight.sizes() == IntArrayRef({6, 2, 3, 1}));
  nn::LazyConv3d c3(2, 2);
  CHECK(c3(ones({1, 3, 4, 4, 4})).size(1) == 2);
  nn::LazyConvTranspose1d t1(5, 2);
  CHECK(t1(ones({1, 3, 4})).sizes() == IntArrayRef({1, 5, 5}));
  nn::LazyConvTranspose2d t2(5, 2);
  CHECK(t2->forward(ones({1, 3, 4, 4}), optional<IntArrayRef>()).sizes() == IntArrayRef({1, 5, 5, 5}));
  nn::LazyConvTranspose3d t3(nn::ConvTranspose3dOptions(0, 4, 1).groups(2));
  CHECK(t3(ones({1, 6, 2, 2, 2})).size(1) == 4);
  CHECK(t3->weight.sizes() == IntArrayRef({6, 2, 1, 1, 1}));
  nn::LazyConv2d odd(nn::Conv2dOptions(0, 6, 3).groups(2));
  CHECK_THROWS_WITH(odd(ones({1, 3, 5, 5})), Contains("divisible by groups"));
  CHECK_THROWS_WITH(odd(ones({3, 5})), Contains("learns its channels"));
}

TEST_CASE("lazy normalisations infer their features") {
  nn::LazyBatchNorm1d b1;
  CHECK(b1->running_mean.numel() == 0);
  b1(randn({4, 3}));
  CHECK(b1->running_mean.sizes() == IntArrayRef({3}));
  CHECK(equal(b1->weight, ones({3})));
  CHECK(b1->num_batches_tracked.item<std::int64_t>() == 1);
  nn::LazyBatchNorm2d b2(nn::BatchNormOptions(0).affine(false));
  b2(randn({2, 5, 3, 3}));
  CHECK_FALSE(b2->weight.defined());
  CHECK(b2->running_var.sizes() == IntArrayRef({5}));
  nn::LazyBatchNorm3d b3;
  CHECK_THROWS_WITH(b3(randn({5, 3, 3, 3})), Contains("of 5 dimensions"));
  CHECK(b3->has_uninitialized_params());
  nn::LazyInstanceNorm1d i1(nn::InstanceNormOptions(0).affine(true));
  i1(randn({3, 7}));
  CHECK(i1->weight.sizes() == IntArrayRef({3}));
  nn::LazyInstanceNorm2d i2;
  CHECK(i2(randn({2, 3, 4, 4})).sizes() == IntArrayRef({2, 3, 4, 4}));
  CHECK(i2->state_dict().keys() == b1->state_dict().keys());
  nn::LazyInstanceNorm3d i3;
  CHECK(i3(randn({2, 3, 2, 2, 2})).size(1) == 3);
}

TEST_CASE("load_state_dict initialises a lazy module with the size of the state") {
  const nn::Sequential plain(nn::Linear(4, 3), nn::BatchNorm1d(3),
                             nn::Conv1d(nn::Conv1dOptions(4, 6, 1).groups(2)));
  nn::Sequential lazy(nn::LazyLinear(3), nn::LazyBatchNorm1d(),
                      nn::LazyConv1d(nn::Conv1dOptions(0, 6, 1).groups(2)));
  lazy->load_state_dict(plain->state_dict());
  for (const auto& item : plain->state_dict()) CHECK(equal(*item, lazy->state_dict()[item.key()]));
  CHECK(lazy->at<nn::LinearImpl>(0).options.in_features() == 4);
  CHECK(lazy->at<nn::Conv1dImpl>(2).options.in_channels() == 4);

  std::stringstream file;
  save(plain, file);
  nn::Sequential other(nn::LazyLinear(3), nn::LazyBatchNorm1d(),
                       nn::LazyConv1d(nn::Conv1dOptions(0, 6, 1).groups(2)));
  load(other, file);
  CHECK(equal(other->at<nn::LinearImpl>(0).weight, plain->at<nn::LinearImpl>(0).weight));
  // There is no input from which to infer a size.
  nn::LazyLinear still(3);
  nn::LazyLinear unknown(3);
  still->load_state_dict(unknown->state_dict());
  CHECK(still->has_uninitialized_params());
}

TEST_CASE("lazy modules preserve dtypes and can be cloned before and after the first call") {
  nn::LazyLinear lazy(2);
  lazy->to(kDouble);
  nn::Sequential net(lazy);
  nn::Sequential early(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  net(ones({1, 3}, kDouble));
  CHECK(lazy->weight.dtype() == kDouble);
  CHECK(early->at<nn::LinearImpl>(0).weight.numel() == 0);
  early(ones({1, 5}, kDouble));
  CHECK(early->at<nn::LinearImpl>(0).weight.size(1) == 5);
  nn::Sequential late(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  CHECK(equal(late->at<nn::LinearImpl>(0).weight, lazy->weight));
  CHECK_FALSE(late->at<nn::LinearImpl>(0).weight.is_alias_of(lazy->weight));
  CHECK(equal(late(ones({1, 3}, kDouble)), net(ones({1, 3}, kDouble))));
}

TEST_CASE("a lazy module throws for an input with zero features") {
  nn::LazyLinear linear(3);
  CHECK_THROWS_WITH(linear(zeros({2, 0})),
                    support::Contains("without features") && support::Contains("[2, 0]"));
  CHECK(linear->name() == "ebb::nn::LazyLinearImpl");
  CHECK(nn::LazyConv2d(3, 2)->name() == "ebb::nn::LazyConv2dImpl");
  nn::LazyConv2d conv(3, 2);
  CHECK_THROWS_WITH(conv(zeros({2, 0, 4, 4})), support::Contains("without features"));
  CHECK(linear(zeros({2, 1})).sizes() == IntArrayRef({2, 3}));
}

// reset_parameters() redraws every parameter of a module and its submodules; recurrent layers with unusual
// options.

namespace {

template <class M>
void reset(M module) {
  if constexpr (requires { module->_reset_parameters(); })
    module->_reset_parameters();
  else
    module->reset_parameters();
}

// Fills all parameters, and checks that reset_parameters() changes all of them.
template <class M>
void require_reset(const char* name, M module) {
  INFO(name);
  {
    const NoGradGuard no_grad;
    for (Variable& p : module->parameters()) p.fill_(7);
  }
  reset(module);
  REQUIRE_FALSE(module->parameters().empty());
  for (const auto& p : module->named_parameters()) {
    INFO(p.key());
    if (p.key().ends_with("out_proj.weight")) continue;  // out_proj of attention, as in torch
    CHECK_FALSE((p.value() == 7).any().template item<bool>());
    CHECK(p.value().requires_grad());
  }
}

}  // namespace

TEST_CASE("reset_parameters redraws every parameter of a module") {
  require_reset("Linear", nn::Linear(4, 3));
  require_reset("Bilinear", nn::Bilinear(4, 3, 2));
  require_reset("Conv1d", nn::Conv1d(4, 6, 3));
  require_reset("Conv2d", nn::Conv2d(nn::Conv2dOptions(4, 6, 3).groups(2)));
  require_reset("Conv3d", nn::Conv3d(2, 3, 2));
  require_reset("ConvTranspose1d", nn::ConvTranspose1d(4, 6, 3));
  require_reset("ConvTranspose2d", nn::ConvTranspose2d(4, 6, 3));
  require_reset("ConvTranspose3d", nn::ConvTranspose3d(2, 3, 2));
  require_reset("Embedding", nn::Embedding(5, 3));
  require_reset("EmbeddingBag", nn::EmbeddingBag(5, 3));
  require_reset("LayerNorm", nn::LayerNorm(nn::LayerNormOptions({4})));
  require_reset("GroupNorm", nn::GroupNorm(2, 4));
  require_reset("BatchNorm1d", nn::BatchNorm1d(4));
  require_reset("BatchNorm2d", nn::BatchNorm2d(4));
  require_reset("BatchNorm3d", nn::BatchNorm3d(4));
  require_reset("RNN", nn::RNN(nn::RNNOptions(3, 4).num_layers(2).bidirectional(true)));
  require_reset("LSTM", nn::LSTM(nn::LSTMOptions(3, 4).num_layers(2).proj_size(2)));
  require_reset("GRU", nn::GRU(nn::GRUOptions(3, 4).bidirectional(true)));
  require_reset("RNNCell", nn::RNNCell(3, 4));
  require_reset("LSTMCell", nn::LSTMCell(3, 4));
  require_reset("GRUCell", nn::GRUCell(3, 4));
  require_reset("MultiheadAttention", nn::MultiheadAttention(4, 2));
  require_reset(
      "MultiheadAttention, other widths",
      nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(5).add_bias_kv(true)));
  require_reset("TransformerEncoderLayer", nn::TransformerEncoderLayer(4, 2));
  require_reset("TransformerDecoderLayer", nn::TransformerDecoderLayer(4, 2));
}

TEST_CASE("recurrent modules with one layer warn about dropout") {
  for (const std::int64_t layers : {1, 2})
    for (const double dropout : {0.0, 0.5}) {
      support::Warnings warnings;
      nn::GRU gru(nn::GRUOptions(3, 4).num_layers(layers).dropout(dropout));
      nn::LSTM lstm(nn::LSTMOptions(3, 4).num_layers(layers).dropout(dropout));
      nn::RNN rnn(nn::RNNOptions(3, 4).num_layers(layers).dropout(dropout));
      REQUIRE(warnings.texts.size() == (layers == 1 && dropout > 0 ? 3 : 0));
      for (const std::string& text : warnings.texts)
        CHECK_THAT(text, Contains("dropout=0.5") && Contains("num_layers=1"));
    }
}

TEST_CASE("LSTM accepts proj_size from 1 to hidden_size - 1") {
  for (const std::int64_t projected : {1, 3}) {
    nn::LSTM lstm(nn::LSTMOptions(3, 4).proj_size(projected));
    const auto [y, state] = lstm(randn({5, 2, 3}));
    CHECK(y.sizes() == IntArrayRef({5, 2, projected}));
    CHECK(std::get<0>(state).sizes() == IntArrayRef({1, 2, projected}));
    CHECK(std::get<1>(state).sizes() == IntArrayRef({1, 2, 4}));
  }
}

TEST_CASE("recurrent layers treat an unbatched sequence as a batch of one for both batch_first values") {
  for (const bool batch_first : {false, true})
    for (const std::int64_t layers : {1, 2})
      for (const bool both : {false, true}) {
        INFO("batch first " << batch_first << ", layers " << layers << ", both directions " << both);
        const std::int64_t batch = batch_first ? 0 : 1, states = layers * (both ? 2 : 1);
        const Tensor x = randn({5, 3}), h = randn({states, 4}), c = randn({states, 4});
        const auto same = [&](const Tensor& got, const Tensor& whole, std::int64_t dim) {
          CHECK(got.sizes() == whole.squeeze(dim).sizes());
          CHECK(equal(got, whole.squeeze(dim)));
        };
        const auto of = [&](auto options) {
          return options.batch_first(batch_first).num_layers(layers).bidirectional(both);
        };
        nn::LSTM lstm(of(nn::LSTMOptions(3, 4)));
        const auto [y, state] = lstm(x, std::tuple(h, c));
        const auto [ys, all] = lstm(x.unsqueeze(batch), std::tuple(h.unsqueeze(1), c.unsqueeze(1)));
        CHECK(y.sizes() == IntArrayRef({5, both ? 8 : 4}));
        same(y, ys, batch);
        same(std::get<0>(state), std::get<0>(all), 1);
        same(std::get<1>(state), std::get<1>(all), 1);
        const auto check = [&](auto layer) {
          const auto [out, last] = layer(x, h);
          const auto [outs, lasts] = layer(x.unsqueeze(batch), h.unsqueeze(1));
          CHECK(last.sizes() == IntArrayRef({states, 4}));
          same(out, outs, batch);
          same(last, lasts, 1);
        };
        check(nn::GRU(of(nn::GRUOptions(3, 4))));
        check(nn::RNN(of(nn::RNNOptions(3, 4))));
      }
}
