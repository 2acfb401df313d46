// Choosing tokens: temperature, top_k, top_p, the end of a text.
#include <ebb/models.h>

#include <set>

#include "support/catch.h"
#include "waves.h"

using namespace ebb;
using namespace ebb::models;
using support::Contains;

namespace {

// A model that says the same after every token: probabilities 0.4, 0.3, 0.2, 0.1 of tokens 2, 0, 3, 1.
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

TEST_CASE("tokens come as often as the model says") { close(frequencies({}), {0.3, 0.1, 0.4, 0.2}); }

TEST_CASE("temperature makes likely tokens more likely") {
  // Half of it squares the probabilities: 9, 1, 16 and 4 of 30.
  close(frequencies(GenerateOptions().temperature(0.5)), {9 / 30.0, 1 / 30.0, 16 / 30.0, 4 / 30.0});
  close(frequencies(GenerateOptions().temperature(0)), {0, 0, 1, 0});
}

TEST_CASE("top_k draws among the likeliest") {
  close(frequencies(GenerateOptions().top_k(2)), {3 / 7.0, 0, 4 / 7.0, 0});
  close(frequencies(GenerateOptions().top_k(1)), {0, 0, 1, 0});
  close(frequencies(GenerateOptions().top_k(9)), {0.3, 0.1, 0.4, 0.2});
}

TEST_CASE("top_p draws among the fewest whose probabilities reach it") {
  close(frequencies(GenerateOptions().top_p(0.75)), {3 / 9.0, 0, 4 / 9.0, 2 / 9.0});
  close(frequencies(GenerateOptions().top_p(0.65)), {3 / 7.0, 0, 4 / 7.0, 0});
  close(frequencies(GenerateOptions().top_p(0.01)), {0, 0, 1, 0});
  // Of what top_k leaves: 4/7 are fewer than 0.6, 3/4 of 16/30, 9/30 and 4/30 are not.
  close(frequencies(GenerateOptions().top_k(2).top_p(0.6)), {3 / 7.0, 0, 4 / 7.0, 0});
  close(frequencies(GenerateOptions().top_k(2).top_p(0.5)), {0, 0, 1, 0});
}

TEST_CASE("a generator draws the same again and leaves the default one alone") {
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

TEST_CASE("a text that has ended repeats its end until all have") {
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

TEST_CASE("generating says what is wrong with its arguments") {
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
