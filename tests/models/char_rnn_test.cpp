// The recurrent language model: PyTorch's numbers and names for each cell, states, copies, errors.
#include <ebb/models.h>

#include "support/catch.h"
#include "waves.h"

using namespace ebb;
using namespace ebb::models;
using support::Contains;

namespace {

CharRNNOptions small(CharRNNOptions::Cell cell) {
  return CharRNNOptions(11).cell(cell).embedding_dim(6).hidden_size(8).num_layers(2);
}

}  // namespace

TEST_CASE("a recurrent language model gives PyTorch's logits and gradients") {
  const auto check = [](CharRNNOptions::Cell cell, const waves::Numbers& outputs,
                        const waves::Numbers& gradients) {
    INFO(cell.name());
    waves::check(waves::prepared(CharRNN(small(cell))), waves::tokens(2, 7, 11), outputs, gradients);
  };
  check(kLSTM, {-0.3209241997, -0.2468903109, -0.112467071, 0.3860738843, 0.09417380492},
        {0.00994446992, 0.01354888161, -0.01064223551, 0.1368720309, 0.1368720309, -0.1982391886,
         0.3363596283, 0.1617000188, 0.1617000188, 0.0832048528, -0.0147871521});
  check(kGRU, {-0.2874090059, -0.2763277848, -0.1648548228, 0.441635646, -0.005472007768},
        {0.121448199, 0.1050883228, -0.06040422929, 0.4008390935, 0.227631804, -0.5942277931, 0.2164966138,
         0.4603403674, 0.2148014875, -0.4720891739, -0.0147871521});
  check(kRNN_TANH, {-0.5208228685, -0.0338236, -0.06081461918, 0.2286530601, -0.1691299327},
        {-0.1694830791, 0.3255641607, 0.4865464776, -0.2779302035, -0.2779302035, -0.3357050817, 1.980361055,
         -0.5242972683, -0.5242972683, 0.534148907, -0.0147871521});
}

TEST_CASE("a recurrent language model has the names of PyTorch's example") {
  const CharRNN net(small(kGRU).num_layers(1));
  CHECK(net->named_parameters().keys() ==
        std::vector<std::string>{"encoder.weight", "rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                                 "rnn.bias_hh_l0", "decoder.weight", "decoder.bias"});
  CHECK(net->encoder->weight.abs().max().item<float>() < 0.1f);
  CHECK(net->decoder->weight.abs().max().item<float>() < 0.1f);
  CHECK(net->encoder->weight.abs().max().item<float>() > 0.09f);
  CHECK(net->decoder->bias.abs().max().item<float>() == 0);
}

TEST_CASE("rectified units are those of kRNN_RELU") {
  const Variable ids = waves::tokens(1, 5, 11);
  CharRNN relu = waves::prepared(CharRNN(small(kRNN_RELU))),
          tanh = waves::prepared(CharRNN(small(kRNN_TANH)));
  CHECK_FALSE(allclose(relu(ids), tanh(ids)));
  CHECK((std::get<1>(relu->forward_with_state(ids, {}))[0] >= 0).all().item<bool>());
}

TEST_CASE("a recurrent language model goes on from its state as if it had read all at once") {
  for (const CharRNNOptions::Cell cell : {CharRNNOptions::Cell(kLSTM), CharRNNOptions::Cell(kGRU)}) {
    INFO(cell.name());
    CharRNN net = waves::prepared(CharRNN(small(cell)));
    const Variable ids = waves::tokens(2, 9, 11), all = net(ids);
    const auto [first, state] = net->forward_with_state(ids.slice(1, 0, 4), {});
    const auto [second, end] = net->forward_with_state(ids.slice(1, 4, 9), state);
    CHECK(state.size() == (cell == kLSTM ? 2 : 1));
    CHECK(state[0].sizes() == IntArrayRef({2, 2, 8}));
    CHECK(allclose(cat({first, second}, 1), all, 1e-10, 1e-12));
    const auto text = [&](bool use_cache) {
      return net->generate(ids, 15, GenerateOptions().use_cache(use_cache).generator(Generator(2)));
    };
    CHECK(equal(text(true), text(false)));
  }
}

TEST_CASE("a recurrent language model is copied, and drops only in training") {
  CharRNN net = waves::prepared(CharRNN(small(kLSTM).dropout(0.5)));
  const Variable ids = waves::tokens(1, 6, 11);
  const auto copy = std::dynamic_pointer_cast<CharRNNImpl>(net->clone());
  REQUIRE(copy);
  CHECK(equal(copy->forward(ids), net(ids)));
  {
    const NoGradGuard no_grad;
    for (const Variable& p : copy->parameters()) p.zero_();
  }
  CHECK(copy->forward(ids).abs().max().item<double>() == 0);
  CHECK(net(ids).abs().max().item<double>() > 0);
  CHECK(equal(net(ids), net(ids)));
  net->train();
  CHECK_FALSE(equal(net(ids), net(ids)));
}

TEST_CASE("a recurrent language model says what does not fit") {
  CharRNN net(small(kLSTM));
  CHECK_THROWS_WITH(net(zeros({2, 3})), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net->forward_with_state(waves::tokens(1, 2, 11), {zeros({2, 1, 8})}),
                    Contains("a state has 2 tensors, got 1"));
}
