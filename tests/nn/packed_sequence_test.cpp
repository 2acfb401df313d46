// Packed sequences: what torch 2.15 gave, the way back, and wrong use.
#include <ebb/ebb.h>
#include <ebb/nn/modules/rnn.h>

#include "support/catch.h"

using namespace ebb;
namespace utils = ebb::nn::utils::rnn;
using support::Contains;

namespace {

std::vector<std::int64_t> integers(const Variable& x) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < x.numel(); ++i) values.push_back(x[i].item<std::int64_t>());
  return values;
}
using Integers = std::vector<std::int64_t>;

void near(const Variable& x, const std::vector<double>& expected) {
  const Variable flat = x.detach().flatten().to(kDouble);
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(flat[static_cast<std::int64_t>(i)].item<double>() == Approx(expected[i]).margin(2e-7));
}

}  // namespace

TEST_CASE("a GRU over packed sequences that were not sorted is torch's") {
  nn::GRU gru(nn::GRUOptions(2, 2).bidirectional(true));
  gru->to(kDouble);
  {
    NoGradGuard no_grad;
    std::int64_t k = 0;
    for (Variable& p : gru->parameters()) {
      p.copy_((arange(k, k + p.numel(), kDouble) * 0.7).sin().mul(0.6).view(p.sizes()));
      k += p.numel();
    }
  }
  const Variable x = (arange(0, 18, kDouble) * 0.9).cos().view({3, 3, 2});
  const auto packed = utils::pack_padded_sequence(x, tensor({1, 3, 2}, kLong), false, false);
  CHECK(integers(packed.batch_sizes()) == Integers{3, 2, 1});
  CHECK(integers(packed.sorted_indices()) == Integers{1, 2, 0});
  CHECK(integers(packed.unsorted_indices()) == Integers{2, 0, 1});
  near(packed.data(), {-0.2272021, -0.9040721, -0.8967584, -0.2107958, 1, 0.62161, 0.6083513, -0.2435442,
                       -0.9111303, -0.8891912, 0.9994346, 0.5949207});
  const auto [out, h] = gru->forward_with_packed_input(packed, (arange(12, kDouble) * 0.1).view({2, 3, 2}));
  const auto [rows, lengths] = utils::pad_packed_sequence(out);
  CHECK(integers(lengths) == Integers{1, 3, 2});
  near(rows, {-0.1622216, 0.6647947, 0.2955168, 0.7969482, 0.2890448,   0.1190864,  0.3813492, 0.354595,
              0.5538589,  0.3032749, 0.731334,  0.4625941, 0,           0,          0,         0,
              0.09758127, 0.3684145, 0.3092308, 0.6538395, 0.5893086,   0.08333113, 0.8103448, 0.7278511,
              0,          0,         0,         0,         -0.07425432, 0.7037051,  0.434083,  0.8484661,
              0,          0,         0,         0});
  near(h, {-0.1622216, 0.6647947, -0.07425432, 0.7037051, 0.5893086, 0.08333113, 0.2955168, 0.7969482,
           0.3813492, 0.354595, 0.731334, 0.4625941});
}

TEST_CASE("packed sequences give what each sequence gives alone") {
  nn::LSTM lstm(nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true));
  const std::vector<Variable> sequences{rand({2, 2}), rand({4, 2}), rand({1, 2})};
  const auto [rows, state] = lstm->forward_with_packed_input(utils::pack_sequence(sequences, false));
  const std::vector<Variable> each = utils::unpack_sequence(rows);
  REQUIRE(each.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [alone, last] = lstm->forward(sequences[i]);
    CHECK(allclose(each[i], alone, 1e-5, 1e-6));
    CHECK(
        allclose(std::get<0>(state).select(1, static_cast<std::int64_t>(i)), std::get<0>(last), 1e-5, 1e-6));
    CHECK(
        allclose(std::get<1>(state).select(1, static_cast<std::int64_t>(i)), std::get<1>(last), 1e-5, 1e-6));
  }
}

TEST_CASE("sequences are packed, padded and taken apart again") {
  const std::vector<Variable> sequences{arange(3, kFloat), arange(2, kFloat) + 5, arange(1, kFloat) + 9};
  const Variable padded = utils::pad_sequence(sequences, true, -1);
  CHECK(equal(padded, tensor({0, 1, 2, 5, 6, -1, 9, -1, -1}, kFloat).view({3, 3})));
  const auto packed = utils::pack_padded_sequence(padded, tensor({3, 2, 1}, kInt), true);
  CHECK(equal(packed.data(), tensor({0, 5, 9, 1, 6, 2}, kFloat)));
  CHECK_FALSE(packed.sorted_indices().defined());
  CHECK_FALSE(packed.is_cuda());
  CHECK_FALSE(packed.is_pinned());
  const auto [again, lengths] = utils::pad_packed_sequence(packed, true, -1, 4);
  CHECK(again.sizes() == IntArrayRef({3, 4}));
  CHECK(equal(again.narrow(1, 0, 3), padded));
  CHECK(equal(again.select(1, 3), full({3}, -1.0)));
  const std::vector<Variable> parts = utils::unpad_sequence(padded, lengths, true);
  for (std::size_t i = 0; i < 3; ++i) CHECK(equal(parts[i], sequences[i]));
  const auto wide = packed.to(TensorOptions(kDouble));
  CHECK(wide.data().dtype() == kDouble);
  CHECK(wide.batch_sizes().is_same(packed.batch_sizes()));
  CHECK(equal(packed.cpu().data(), packed.data()));
  CHECK(integers(utils::invert_permutation(tensor({2, 0, 1}, kLong))) == Integers{1, 2, 0});
  CHECK_FALSE(utils::invert_permutation(Variable()).defined());
}

TEST_CASE("packing says what is wrong") {
  const Variable x = ones({3, 2, 1});
  CHECK_THROWS_WITH(utils::pack_padded_sequence(x, tensor({1, 2}, kLong)), Contains("enforce_sorted"));
  CHECK_THROWS_WITH(utils::pack_padded_sequence(x, tensor({1, 2, 3}, kLong), false, false),
                    Contains("batch_size=2"));
  CHECK_THROWS_WITH(utils::pack_padded_sequence(x, tensor({2, 0}, kLong)), Contains("greater than 0"));
  const auto packed = utils::pack_padded_sequence(x, tensor({3, 2}, kLong));
  CHECK_THROWS_WITH(utils::pad_packed_sequence(packed, false, 0, 2), Contains("total_length=2"));
  CHECK_THROWS_WITH(utils::unpad_sequence(x, tensor({4, 1}, kLong)), Contains("got 4"));
  CHECK_THROWS_WITH(utils::unpad_sequence(x, tensor({1}, kLong)), Contains("as many lengths"));
  CHECK_THROWS_WITH(utils::pack_sequence({}), Contains("empty list"));
  CHECK_THROWS_WITH(utils::PackedSequence(Variable(), Variable()), Contains("undefined"));
  nn::GRU gru(2, 3);
  CHECK_THROWS_WITH(gru->forward_with_packed_input(packed), Contains("Expected 2, got 1"));
}
