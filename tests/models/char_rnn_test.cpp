// CharRNN and token sampling: results and names of PyTorch, states, copies, errors.
#include <ebb/models.h>

#include "support/catch.h"
#include "waves.h"

#include <set>

// CharRNN: results and names of PyTorch for each cell, states, copies, errors.

using namespace ebb;
using namespace ebb::models;
using support::Contains;

namespace {

CharRNNOptions small(CharRNNOptions::Cell cell) {
  return CharRNNOptions(11).cell(cell).embedding_dim(6).hidden_size(8).num_layers(2);
}

}  // namespace

TEST_CASE("CharRNN gives the logits and gradients of PyTorch") {
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

TEST_CASE("CharRNN has the parameter names of the PyTorch example") {
  const CharRNN net(small(kGRU).num_layers(1));
  CHECK(net->named_parameters().keys() ==
        std::vector<std::string>{"encoder.weight", "rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                                 "rnn.bias_hh_l0", "decoder.weight", "decoder.bias"});
  CHECK(net->encoder->weight.abs().max().item<float>() < 0.1f);
  CHECK(net->decoder->weight.abs().max().item<float>() < 0.1f);
  CHECK(net->encoder->weight.abs().max().item<float>() > 0.09f);
  CHECK(net->decoder->bias.abs().max().item<float>() == 0);
}

TEST_CASE("CharRNN with kRNN_RELU uses ReLU units") {
  const Variable ids = waves::tokens(1, 5, 11);
  CharRNN relu = waves::prepared(CharRNN(small(kRNN_RELU))),
          tanh = waves::prepared(CharRNN(small(kRNN_TANH)));
  CHECK_FALSE(allclose(relu(ids), tanh(ids)));
  CHECK((std::get<1>(relu->forward_with_state(ids, {}))[0] >= 0).all().item<bool>());
}

TEST_CASE("CharRNN gives the same result for a whole sequence and for parts that continue from its state") {
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

TEST_CASE("a clone of CharRNN gives equal results and dropout is active only in training") {
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

TEST_CASE("CharRNN refuses inputs and states of wrong shape or dtype") {
  CharRNN net(small(kLSTM));
  CHECK_THROWS_WITH(net(zeros({2, 3})), Contains("Long of shape [B, T]"));
  CHECK_THROWS_WITH(net->forward_with_state(waves::tokens(1, 2, 11), {zeros({2, 1, 8})}),
                    Contains("a state has 2 tensors, got 1"));
}

// Token sampling: temperature, top_k, top_p, the end of a text.

namespace {

// A model with the same probabilities after every token: 0.4, 0.3, 0.2 and 0.1 for tokens 2, 0, 3 and 1.
CharRNN constant_model() {
  CharRNN net(CharRNNOptions(4).embedding_dim(2).hidden_size(2).num_layers(1));
  NoGradGuard no_grad;
  for (const Variable& p : net->parameters()) p.zero_();
  net->decoder->bias.copy_(tensor({0.3, 0.1, 0.4, 0.2}).log());
  return net;
}

std::vector<double> frequencies(const GenerateOptions& options) {
  manual_seed(3);
  CharRNN net = constant_model();
  const Variable text = net->generate(zeros({4000, 1}, kLong), 2, options).slice(1, 1, 3);
  std::vector<double> shares;
  for (std::int64_t token = 0; token < 4; ++token)
    shares.push_back((text == token).to(kDouble).mean().item<double>());
  return shares;
}

void close(const std::vector<double>& shares, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(i);
    if (expected[i] == 0)
      CHECK(shares[i] == 0);
    else
      CHECK(shares[i] == Approx(expected[i]).margin(0.025));
  }
}

}  // namespace

TEST_CASE("generate draws tokens with the probabilities of the model") {
  close(frequencies({}), {0.3, 0.1, 0.4, 0.2});
}

TEST_CASE("a temperature below 1 makes likely tokens more likely") {
  // A temperature of 0.5 squares the probabilities: 9, 1, 16 and 4 of 30.
  close(frequencies(GenerateOptions().temperature(0.5)), {9 / 30.0, 1 / 30.0, 16 / 30.0, 4 / 30.0});
  close(frequencies(GenerateOptions().temperature(0)), {0, 0, 1, 0});
}

TEST_CASE("top_k draws among the k most likely tokens") {
  close(frequencies(GenerateOptions().top_k(2)), {3 / 7.0, 0, 4 / 7.0, 0});
  close(frequencies(GenerateOptions().top_k(1)), {0, 0, 1, 0});
  close(frequencies(GenerateOptions().top_k(9)), {0.3, 0.1, 0.4, 0.2});
}

TEST_CASE("top_p draws among the smallest set of tokens whose probabilities reach p") {
  close(frequencies(GenerateOptions().top_p(0.75)), {3 / 9.0, 0, 4 / 9.0, 2 / 9.0});
  close(frequencies(GenerateOptions().top_p(0.65)), {3 / 7.0, 0, 4 / 7.0, 0});
  close(frequencies(GenerateOptions().top_p(0.01)), {0, 0, 1, 0});
  // After top_k the probabilities are 3/7 and 4/7: 4/7 does not reach 0.6, but it reaches 0.5.
  close(frequencies(GenerateOptions().top_k(2).top_p(0.6)), {3 / 7.0, 0, 4 / 7.0, 0});
  close(frequencies(GenerateOptions().top_k(2).top_p(0.5)), {0, 0, 1, 0});
}

TEST_CASE("generate with a generator is repeatable and does not advance the default generator") {
  CharRNN net = constant_model();
  const Variable start = zeros({2, 1}, kLong);
  manual_seed(1);
  const Variable expected = rand({3});
  manual_seed(1);
  const Variable a = net->generate(start, 20, GenerateOptions().generator(Generator(9)));
  const Variable b = net->generate(start, 20, GenerateOptions().generator(Generator(9)));
  const Variable c = net->generate(start, 20, GenerateOptions().generator(Generator(10)));
  CHECK(equal(a, b));
  CHECK_FALSE(equal(a, c));
  CHECK(equal(rand({3}), expected));
}

TEST_CASE("a sequence that has ended is padded with eos_token until all sequences have ended") {
  CharRNN net = constant_model();
  manual_seed(4);
  const Variable text = net->generate(zeros({5, 1}, kLong), 60, GenerateOptions().eos_token(1));
  const std::int64_t length = text.size(1);
  CHECK(length < 61);
  std::set<std::int64_t> ends;
  for (std::int64_t row = 0; row < 5; ++row) {
    std::int64_t end = 1;
    while (end < length && text[row][end].item<std::int64_t>() != 1) ++end;
    REQUIRE(end < length);
    ends.insert(end);
    CHECK((text[row].slice(0, end, length) == 1).all().item<bool>());
  }
  CHECK(ends.size() > 1);
  CHECK(*ends.rbegin() == length - 1);
}

TEST_CASE("generate refuses invalid arguments") {
  CharRNN net = constant_model();
  const Variable start = zeros({1, 1}, kLong);
  CHECK_THROWS_WITH(net->generate(start, 1, GenerateOptions().temperature(-1)), Contains("temperature"));
  CHECK_THROWS_WITH(net->generate(start, 1, GenerateOptions().top_k(-1)), Contains("top_k"));
  CHECK_THROWS_WITH(net->generate(start, 1, GenerateOptions().top_p(0)), Contains("top_p"));
  CHECK_THROWS_WITH(net->generate(start, 1, GenerateOptions().top_p(1.5)), Contains("top_p"));
  CHECK_THROWS_WITH(net->generate(start, -1), Contains("max_new_tokens"));
  CHECK_THROWS_WITH(net->generate(zeros({1, 0}, kLong), 1), Contains("at least one token"));
  CHECK(equal(net->generate(start, 0), start));
  CHECK_THROWS_WITH(KeyValueCache(0), Contains("num_layers"));
  CHECK_THROWS_WITH(KeyValueCache(2).update(2, start, start), Contains("layer 2"));
}
