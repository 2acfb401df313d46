// reset_parameters() draws every parameter of a module anew, those of its parts too; and what recurrent
// layers make of unusual options.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/scopes.h"

using namespace ebb;
using support::Contains;

namespace {

template <class M>
void reset(M module) {
  if constexpr (requires { module->_reset_parameters(); })
    module->_reset_parameters();
  else
    module->reset_parameters();
}

// Fills all parameters, and requires that none is left filled.
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
    if (p.key().ends_with("out_proj.weight")) continue;  // attention's, as in torch
    CHECK_FALSE((p.value() == 7).any().template item<bool>());
    CHECK(p.value().requires_grad());
  }
}

}  // namespace

TEST_CASE("reset_parameters leaves no parameter of a module as it was") {
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

TEST_CASE("a recurrent layer of one layer warns of dropout, which nothing is left to be applied to") {
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

TEST_CASE("an LSTM projects its states to one number, and to as many as it has less one") {
  for (const std::int64_t projected : {1, 3}) {
    nn::LSTM lstm(nn::LSTMOptions(3, 4).proj_size(projected));
    const auto [y, state] = lstm(randn({5, 2, 3}));
    CHECK(y.sizes() == IntArrayRef({5, 2, projected}));
    CHECK(std::get<0>(state).sizes() == IntArrayRef({1, 2, projected}));
    CHECK(std::get<1>(state).sizes() == IntArrayRef({1, 2, 4}));
  }
}

TEST_CASE("a recurrent layer takes a sequence without a batch as a batch of one, also with the batch first") {
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
