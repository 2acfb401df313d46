// Recurrent layers, cells and packed sequences: values of torch 2.15, initial values, names, errors.
#include <ebb/ebb.h>
#include <ebb/nn/modules/rnn.h>

#include "support/catch.h"

#include <cmath>
#include <sstream>

// Recurrent layers and cells: values of torch 2.15, initial values, names, unbatched and invalid inputs.

using namespace ebb;
using support::Contains;

namespace {

void near(const Variable& x, const std::vector<double>& expected, double tolerance = 2e-7) {
  const Variable flat = x.detach().flatten().to(kDouble);
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(flat[static_cast<std::int64_t>(i)].item<double>() == Approx(expected[i]).margin(tolerance));
}

/// Fills the parameters with 0.6 sin(0.7 k), where k counts through all parameters, as doubles.
void fill(nn::Module& module) {
  module.to(kDouble);
  NoGradGuard no_grad;
  std::int64_t k = 0;
  for (Variable& p : module.parameters()) {
    p.copy_((arange(k, k + p.numel(), kDouble) * 0.7).sin().mul(0.6).view(p.sizes()));
    k += p.numel();
  }
}

/// Returns cos(0.9 k).
Variable input(std::vector<std::int64_t> sizes) {
  const std::int64_t n = checked_numel(sizes);
  return (arange(0, n, kDouble) * 0.9).cos().view(sizes).detach().requires_grad_();
}

/// Runs backward from a weighted sum of the outputs and the squares of the states.
void backward(const Variable& rows, const std::vector<Variable>& states) {
  Variable loss = (rows * linspace(0.1, 1, rows.numel(), kDouble).view(rows.sizes())).sum();
  for (const Variable& s : states) loss = loss + (s * s).sum();
  loss.backward();
}

/// Checks the sum and the first element of each parameter's gradient.
void gradients(const nn::Module& module, const std::vector<std::pair<double, double>>& expected) {
  const std::vector<Variable> all = module.parameters();
  REQUIRE(all.size() == expected.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("parameter " << i);
    CHECK(all[i].grad().sum().item<double>() == Approx(expected[i].first).margin(2e-8));
    CHECK(all[i].grad().flatten()[0].item<double>() == Approx(expected[i].second).margin(2e-9));
  }
}

std::string text(const nn::Module& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

}  // namespace

TEST_CASE("a bidirectional LSTM of two layers with projections has the values of torch") {
  nn::LSTM lstm(nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true).proj_size(2));
  fill(*lstm);
  const Variable x = input({3, 2, 2});
  const auto [rows, state] = lstm->forward(x);
  const auto& [h, c] = state;
  CHECK(rows.sizes() == IntArrayRef({3, 2, 4}));
  near(rows, {0.07362941, 0.01495239, 0.1735753,  0.2384923, 0.07425782, 0.01838457, 0.1666447,  0.2391433,
              0.1112482,  0.0184135,  0.1389583,  0.1871771, 0.110089,   0.01948431, 0.1416112,  0.1850533,
              0.1286114,  0.01858471, 0.09415529, 0.106187,  0.1290405,  0.01925478, 0.08423623, 0.1109752});
  near(h, {0.1053927, 0.08370317, 0.09879467, 0.01708237, -0.02975034, 0.1658214, 0.3122199, -0.07396863,
           0.1286114, 0.01858471, 0.1290405, 0.01925478, 0.1735753, 0.2384923, 0.1666447, 0.2391433});
  near(c, {0.4016656, 0.3242059,  0.1203254,  0.2805059,  0.1947361,  0.3313931,  -0.3897031, 0.256352,
           0.2949645, -0.7010389, -0.212825,  0.3004091,  0.4114072,  0.2605502,  0.1527317,  0.4245956,
           0.2490478, 0.1559783,  -0.3700644, -0.6466009, -0.5666353, -0.3499831, -0.6806093, -0.5206095});
  backward(rows, {h, c});
  near(x.grad(), {0.1650859, -0.1534297, -0.2939966, -0.5186942, 0.09796047, -0.1200839, -0.08846015,
                  -0.3622845, 0.0621466, -0.06841276, 0.01910622, -0.1775838});
  gradients(*lstm, {{-0.351701379, 0.161127345},   {0.25306661, 0.0153381304},    {2.31249525, 0.248022716},
                    {2.31249525, 0.248022716},     {0.100213116, -0.00634580643}, {1.2879537, -0.0964371298},
                    {0.0989963311, 0.00930700637}, {0.449625653, 0.362404142},    {0.449625653, 0.362404142},
                    {-1.11449016, -0.709383263},   {1.19728534, 0.0462156398},    {0.387821076, 0.048424771},
                    {3.93460771, 0.572777786},     {3.93460771, 0.572777786},     {2.00984704, 0.556376276},
                    {-0.979600228, 0.0258172151},  {-0.465270376, 0.0363654159},  {-3.25726406, 0.430726403},
                    {-3.25726406, 0.430726403},    {-7.10345447, -0.636181294}});
}

TEST_CASE("an LSTM with batch_first and an initial state has the values of torch") {
  nn::LSTM lstm(nn::LSTMOptions(2, 2).batch_first(true));
  fill(*lstm);
  const Variable x = input({2, 3, 2});
  const Variable h0 = full({1, 2, 2}, 0.2, kDouble).requires_grad_(),
                 c0 = full({1, 2, 2}, -0.3, kDouble).requires_grad_();
  const auto [rows, state] = lstm->forward(x, std::tuple(h0, c0));
  near(rows, {-0.3609218, 0.2597665, -0.1291824, 0.1298859, -0.01969438, 0.05764761, -0.3383409, 0.254737,
              -0.2558095, 0.2295586, -0.04078891, 0.09525967});
  near(std::get<0>(state), {-0.01969438, 0.05764761, -0.04078891, 0.09525967});
  near(std::get<1>(state), {-0.03112614, 0.07256896, -0.06782401, 0.1135897});
  backward(rows, {std::get<0>(state), std::get<1>(state)});
  near(x.grad(), {0.04618492, 0.05260154, -0.01639867, 0.02868883, 0.003602493, 0.06207898, 0.03219682,
                  0.06934097, 0.04022432, 0.1437877, -0.08669916, 0.0119388});
  near(h0.grad(), {-0.01688493, 0.01972669, -0.06142913, -0.01759626});
  near(c0.grad(), {0.01929489, 0.03689395, 0.1204962, 0.07451111});
  gradients(*lstm, {{-0.326831427, -0.0954999546},
                    {0.0659869769, 0.00585653762},
                    {1.7456893, -0.146470552},
                    {1.7456893, -0.146470552}});
}

TEST_CASE("a bidirectional unbatched GRU has the values of torch") {
  nn::GRU gru(nn::GRUOptions(2, 2).bidirectional(true));
  fill(*gru);
  const Variable x = input({3, 2}), h0 = full({2, 2}, 0.2, kDouble).requires_grad_();
  const auto [rows, h] = gru->forward(x, h0);
  CHECK(rows.sizes() == IntArrayRef({3, 4}));
  CHECK(h.sizes() == IntArrayRef({2, 2}));
  near(rows, {-0.05202494, 0.68528, 0.05470736, 0.6745887, 0.2182012, 0.359826, 0.367165, 0.0199246,
              0.4546827, 0.214835, 0.4209756, 0.1180576});
  near(h, {0.4546827, 0.214835, 0.05470736, 0.6745887});
  backward(rows, {h});
  near(x.grad(), {0.2124962, 0.60659, -0.2685911, 0.3703135, -0.2145297, 0.6563779});
  near(h0.grad(), {0.4070223, 0.3220385, 0.6363416, 1.092775});
  gradients(*gru, {{-1.86748949, 0.018644528},
                   {0.733185237, -0.0190661292},
                   {3.4009544, -0.147529786},
                   {1.32758513, -0.147529786},
                   {-1.77126153, 0.0399365803},
                   {0.376328485, -0.0326141938},
                   {2.58303408, -0.111860966},
                   {0.835909366, -0.111860966}});
}

TEST_CASE("an RNN without biases has the values of torch") {
  nn::RNN rnn(nn::RNNOptions(2, 2).nonlinearity(kReLU).bias(false));
  fill(*rnn);
  const Variable x = input({3, 1, 2});
  const auto [rows, h] = rnn->forward(x);
  near(rows, {0.2402713, 0.9132176, 0, 0, 0, 0});
  backward(rows, {h});
  near(x.grad(), {0.1655556, 0.1836722, 0, 0, 0, 0});
  gradients(*rnn, {{0.616211788, 0.1}, {0, 0}});
}

TEST_CASE("recurrent cells have the values of torch") {
  nn::RNNCell rnn(2, 2);
  nn::LSTMCell lstm(2, 2);
  nn::GRUCell gru(2, 2);
  fill(*rnn);
  fill(*lstm);
  fill(*gru);
  const Variable x = input({2, 2});
  near(rnn->forward(x), {0.2502723, 0.9080343, -0.3221279, 0.0004094102});
  const auto [h, c] = lstm->forward(x);
  near(h, {-0.2594141, 0.2662435, -0.05997964, -0.02624932});
  near(c, {-0.3195744, 0.4482312, -0.08909347, -0.03144771});
  near(gru->forward(x), {-0.1749607, 0.6521565, 0.1495556, -0.05734142});
  // A single unbatched row.
  near(gru->forward(x[1]), {0.1495556, -0.05734142});
  CHECK(std::get<1>(lstm->forward(x[0])).sizes() == IntArrayRef({2}));
  CHECK_THROWS_WITH(gru->forward(ones({3, 4, 2}, kDouble)), Contains("1D or 2D"));
  CHECK_THROWS_WITH(gru->forward(ones({4, 3}, kDouble)),
                    Contains("inconsistent input_size: got 3 expected 2"));
  CHECK_THROWS_WITH(gru->forward(x, ones({3, 2}, kDouble)), Contains("Input batch size 2"));
  CHECK_THROWS_WITH(gru->forward(x, ones({2, 3}, kDouble)), Contains("inconsistent hidden_size: got 3"));
}

TEST_CASE("recurrent layers have the initial values of torch") {
  manual_seed(3);
  const nn::LSTM lstm(nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true).proj_size(2));
  const auto named = lstm->named_parameters();
  const std::vector<std::pair<const char*, std::vector<double>>> expected = {
      {"weight_ih_l0", {-0.5724272, -0.4554493}},
      {"weight_hh_l0", {-0.3684913, -0.3605955}},
      {"bias_ih_l0", {-0.08065903, 0.5338213}},
      {"bias_hh_l0", {0.4097219, 0.04114933}},
      {"weight_hr_l0", {-0.2618977, 0.00860959}},
      {"weight_ih_l0_reverse", {0.1315812, 0.3884593}},
      {"weight_hh_l0_reverse", {0.06114239, -0.2019926}},
      {"bias_ih_l0_reverse", {0.1561497, -0.01294752}},
      {"bias_hh_l0_reverse", {-0.5432209, -0.07645331}},
      {"weight_hr_l0_reverse", {-0.4108745, 0.5630237}},
      {"weight_ih_l1", {0.4346456, 0.01975031}},
      {"weight_hh_l1", {0.5124503, -0.1915928}},
      {"bias_ih_l1", {0.4014411, -0.4973261}},
      {"bias_hh_l1", {0.1149822, 0.3697766}},
      {"weight_hr_l1", {0.4053865, -0.5003926}},
      {"weight_ih_l1_reverse", {0.3224627, -0.3550169}},
      {"weight_hh_l1_reverse", {-0.1645531, -0.4085003}},
      {"bias_ih_l1_reverse", {-0.08764365, 0.118253}},
      {"bias_hh_l1_reverse", {0.05908202, -0.3030212}},
      {"weight_hr_l1_reverse", {0.4527892, 0.02054331}}};
  REQUIRE(named.size() == expected.size());
  std::size_t i = 0;
  for (const auto& item : named) {
    CHECK(item.key() == expected[i].first);
    near(item.value().flatten().narrow(0, 0, 2), expected[i++].second, 5e-7);
  }
  CHECK(lstm->all_weights().size() == 20);
  CHECK(named["weight_ih_l1"].sizes() == IntArrayRef({12, 4}));
  manual_seed(3);
  const nn::GRUCell cell(2, 3);
  near(cell->weight_ih.flatten().narrow(0, 0, 2), {-0.5724272, -0.4554493}, 5e-7);
  near(cell->bias_hh.narrow(0, 0, 2), {0.370911, 0.1439533}, 5e-7);
}

TEST_CASE("recurrent layers apply dropout between layers as torch does and only in training") {
  nn::RNN rnn(nn::RNNOptions(2, 2).num_layers(2).dropout(0.5));
  fill(*rnn);
  const Variable x = input({4, 2, 2});
  manual_seed(5);
  near(std::get<0>(rnn->forward(x)),
       {0.8089344, -0.5917453, 0.4186418, 0.3964559, 0.3016075, 0.145452, 0.3655198, 0.4185426, 0.7039582,
        -0.5131935, -0.3296203, 0.9038856, 0.5839982, -0.2281433, 0.8701693, -0.4891847});
  rnn->eval();
  const Variable once = std::get<0>(rnn->forward(x));
  CHECK(equal(std::get<0>(rnn->forward(x)), once));
}

TEST_CASE("states of recurrent layers can be detached in place") {
  nn::LSTM lstm(3, 4);
  const Variable x = randn({5, 2, 3});
  std::tuple<Variable, Variable> state(zeros({1, 2, 4}), zeros({1, 2, 4}));
  for (int batch = 0; batch < 2; ++batch) {
    Variable out;
    std::tie(out, state) = lstm->forward(x, state);
    out.sum().backward();
    std::get<0>(state).detach_();
    std::get<1>(state).detach_();
    CHECK_FALSE(std::get<0>(state).requires_grad());
  }
  nn::GRU gru(3, 4);
  Variable hidden = std::get<1>(gru(x));
  hidden.detach_();
  CHECK(hidden.is_leaf());
}

TEST_CASE("recurrent layers are printed as in libtorch") {
  CHECK(text(*nn::LSTM(nn::LSTMOptions(128, 64).num_layers(3).dropout(0.2))) ==
        "ebb::nn::LSTM(input_size=128, hidden_size=64, num_layers=3, bias=true, batch_first=false, "
        "dropout=0.2, "
        "bidirectional=false)");
  CHECK(
      text(*nn::LSTM(nn::LSTMOptions(128, 64).proj_size(32))) ==
      "ebb::nn::LSTM(input_size=128, hidden_size=64, num_layers=1, bias=true, batch_first=false, dropout=0, "
      "bidirectional=false, proj_size=32)");
  CHECK(text(*nn::GRU(nn::GRUOptions(2, 3).bias(false))) ==
        "ebb::nn::GRU(input_size=2, hidden_size=3, num_layers=1, bias=false, batch_first=false, dropout=0, "
        "bidirectional=false)");
  CHECK(text(*nn::RNN(2, 3)) ==
        "ebb::nn::RNN(input_size=2, hidden_size=3, num_layers=1, bias=true, batch_first=false, dropout=0, "
        "bidirectional=false)");
  CHECK(text(*nn::RNNCell(20, 10)) == "ebb::nn::RNNCell(20, 10)");
  CHECK(text(*nn::RNNCell(nn::RNNCellOptions(20, 10).bias(false).nonlinearity(kReLU))) ==
        "ebb::nn::RNNCell(20, 10, bias=false, nonlinearity=kReLU)");
  CHECK(text(*nn::LSTMCell(20, 10)) == "ebb::nn::LSTMCell(20, 10)");
  CHECK(text(*nn::GRUCell(nn::GRUCellOptions(20, 10).bias(false))) == "ebb::nn::GRUCell(20, 10, bias=false)");
}

TEST_CASE("recurrent layers can be cloned, converted and called like other modules") {
  nn::LSTM lstm(2, 3);
  lstm->flatten_parameters();
  const auto copy = std::dynamic_pointer_cast<nn::LSTMImpl>(lstm->clone());
  REQUIRE(copy);
  const Variable x = rand({4, 2, 2});
  CHECK(equal(std::get<0>(copy->forward(x)), std::get<0>(lstm->forward(x))));
  {
    NoGradGuard no_grad;
    copy->named_parameters()["weight_hh_l0"].add_(1);
  }
  CHECK_FALSE(equal(std::get<0>(copy->forward(x)), std::get<0>(lstm->forward(x))));
  using Result = std::tuple<Variable, std::tuple<Variable, Variable>>;
  nn::AnyModule any(lstm);
  CHECK(equal(std::get<0>(any.forward<Result>(x)), std::get<0>(lstm->forward(x))));
  nn::Sequential sequence(nn::Linear(5, 2), lstm);
  CHECK(std::get<0>(sequence->forward<Result>(rand({4, 2, 5}))).sizes() == IntArrayRef({4, 2, 3}));
  lstm->to(kDouble);
  CHECK(std::get<0>(lstm->forward(x.to(kDouble))).dtype() == kDouble);
  CHECK_THROWS_WITH(lstm->forward(x), Contains("does not match weight dtype"));
}

TEST_CASE("recurrent layers throw for invalid inputs and options") {
  nn::GRU gru(2, 3);
  const Variable x = ones({4, 2, 2});
  CHECK_THROWS_WITH(gru->forward(ones({2})), Contains("input must have 3 dimensions, got 1"));
  CHECK_THROWS_WITH(gru->forward(ones({4, 2, 3})), Contains("Expected 2, got 3"));
  CHECK_THROWS_WITH(gru->forward(x, ones({2, 2, 3})), Contains("Expected hidden size [1, 2, 3]"));
  CHECK_THROWS_WITH(gru->forward(x, ones({2, 3})), Contains("hx should also be 3-D but got 2-D"));
  CHECK_THROWS_WITH(gru->forward(ones({4, 2}), ones({1, 1, 3})),
                    Contains("hx should also be 2-D but got 3-D"));
  CHECK_THROWS_WITH(gru->forward(ones({0, 2, 2})), Contains("sequence length"));
  CHECK_THROWS_WITH(gru->forward(Variable()), Contains("undefined"));
  nn::LSTM lstm(2, 3);
  CHECK_THROWS_WITH(lstm->forward(x, std::tuple(ones({1, 2, 3}), ones({1, 2, 4}))),
                    Contains("Expected hidden[1] size"));
  CHECK_THROWS_WITH(nn::LSTM(nn::LSTMOptions(2, 3).proj_size(3)), Contains("proj_size"));
  CHECK_THROWS_WITH(nn::GRU(nn::GRUOptions(2, 3).dropout(1.5)), Contains("[0, 1]"));
  CHECK_THROWS_WITH(nn::GRU(nn::GRUOptions(2, 3).num_layers(0)), Contains("num_layers"));
  CHECK_THROWS_WITH(nn::RNN(nn::RNNOptions(2, 0)), Contains("hidden_size"));
  // An empty batch is allowed.
  CHECK(std::get<0>(gru->forward(ones({4, 0, 2}))).sizes() == IntArrayRef({4, 0, 3}));
}

// Packed sequences: values of torch 2.15, unpacking, and errors.

namespace utils = ebb::nn::utils::rnn;

namespace {

std::vector<std::int64_t> integers(const Variable& x) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < x.numel(); ++i) values.push_back(x[i].item<std::int64_t>());
  return values;
}
using Integers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a GRU with unsorted packed sequences has the values of torch") {
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

TEST_CASE("a bidirectional LSTM gives packed sequences the same results as each sequence alone") {
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

TEST_CASE("sequences can be packed, padded and unpacked") {
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

TEST_CASE("sequences that are not sorted are packed alike with either dimension first") {
  const Variable batch_first = arange(24, kFloat).view({4, 3, 2}), lengths = tensor({1, 3, 2, 3}, kLong);
  const auto rows = utils::pack_padded_sequence(batch_first, lengths, true, false);
  const auto columns =
      utils::pack_padded_sequence(batch_first.transpose(0, 1).contiguous(), lengths, false, false);
  CHECK(equal(rows.data(), columns.data()));
  CHECK(equal(rows.batch_sizes(), columns.batch_sizes()));
  CHECK(equal(rows.sorted_indices(), columns.sorted_indices()));
  const auto [again, kept] = utils::pad_packed_sequence(rows, true);
  CHECK(equal(kept, lengths));
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t length = lengths[i].item<std::int64_t>();
    CHECK(equal(again[i].narrow(0, 0, length), batch_first[i].narrow(0, 0, length)));
  }
}

TEST_CASE("packing functions throw for invalid arguments") {
  const Variable x = ones({3, 2, 1});
  CHECK_THROWS_WITH(utils::pack_padded_sequence(x, tensor({1, 2}, kLong)), Contains("enforce_sorted"));
  CHECK_THROWS_WITH(utils::pack_padded_sequence(x, tensor({1, 2, 3}, kLong), false, false),
                    Contains("batch_size=2"));
  CHECK_THROWS_WITH(utils::pack_padded_sequence(x, tensor({2, 0}, kLong)), Contains("greater than 0"));
  const auto packed = utils::pack_padded_sequence(x, tensor({3, 2}, kLong));
  CHECK_THROWS_WITH(utils::pad_packed_sequence(packed, false, 0, 2), Contains("total_length=2"));
  CHECK_THROWS_WITH(utils::unpad_sequence(x, tensor({4, 1}, kLong)), Contains("got 4"));
  CHECK_THROWS_WITH(utils::unpad_sequence(x, tensor({1}, kLong)),
                    Contains("a length for each of the 2 sequences"));
  CHECK_THROWS_WITH(utils::pack_sequence({}), Contains("empty list"));
  CHECK_THROWS_WITH(utils::PackedSequence(Variable(), Variable()), Contains("undefined"));
  nn::GRU gru(2, 3);
  CHECK_THROWS_WITH(gru->forward_with_packed_input(packed), Contains("Expected 2, got 1"));
}
