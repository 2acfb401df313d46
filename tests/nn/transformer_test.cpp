// MultiheadAttention and transformers: results and gradients of torch 2.15, keys, masks, clones.
#include <ebb/ebb.h>
#include <ebb/nn/modules/transformer.h>

#include "support/catch.h"

#include <cmath>

using namespace ebb;
namespace F = ebb::nn::functional;
using support::Contains;

namespace {

using Numbers = std::vector<double>;

// Returns numbers that the program that created the golden values also uses.
Variable wave(std::int64_t count, double rate, double start) { return arange(count, kDouble) * rate + start; }
Variable given(std::vector<std::int64_t> sizes, double start) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return wave(count, 0.7, start).sin().reshape(sizes).requires_grad_();
}
double mark(const Variable& x) {
  return (x.detach().reshape({-1}) * wave(x.numel(), 0.3, 1).cos()).sum().item<double>();
}
template <class M>
M prepared(M module) {
  module->to(kDouble);
  module->eval();
  NoGradGuard no_grad;
  double start = 1;
  for (const Variable& p : module->parameters())
    p.copy_((wave(p.numel(), 0.7, start++).sin() * 0.4).reshape(p.sizes()));
  return module;
}

// Checks one scalar of each result, of the gradient of each input, and of each parameter, in torch's order.
void check(nn::Module& module, const variable_list& inputs, const variable_list& outputs,
           const Numbers& expected) {
  Variable loss = zeros({}, kDouble);
  for (const Variable& y : outputs)
    loss = loss + (y * wave(y.numel(), 0.9, 0).cos().reshape(y.sizes())).sum();
  module.zero_grad();
  loss.backward();
  Numbers got;
  for (const Variable& y : outputs) got.push_back(mark(y));
  for (const Variable& x : inputs) got.push_back(mark(x.grad()));
  for (const Variable& p : module.parameters()) got.push_back(mark(p.grad()));
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-9).margin(1e-11));
  }
}
void check(nn::Module& module, const variable_list& inputs, const std::tuple<Variable, Variable>& outputs,
           const Numbers& expected) {
  check(module, inputs, variable_list{std::get<0>(outputs), std::get<1>(outputs)}, expected);
}

Variable mask(std::vector<std::vector<int>> rows) {
  std::vector<Variable> out;
  for (const std::vector<int>& row : rows)
    out.push_back(tensor(std::vector<std::int64_t>(row.begin(), row.end())));
  return stack(out).to(kBool);
}
Variable padding() { return mask({{0, 0, 1, 0}, {0, 1, 0, 0}}); }
Variable forbidden() { return mask({{0, 1, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}}); }
Variable causal(std::int64_t size) {
  return nn::TransformerImpl::generate_square_subsequent_mask(size, TensorOptions(kDouble));
}

using AttentionOptions = nn::MultiheadAttentionOptions;
using LayerOptions = nn::TransformerEncoderLayerOptions;

void near(const Variable& x, const Numbers& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(x.detach().flatten()[static_cast<std::int64_t>(i)].item<double>() ==
          Approx(expected[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("MultiheadAttention has the values of torch") {
  auto m = prepared(nn::MultiheadAttention(6, 2));
  const Variable q = given({3, 2, 6}, 20), k = given({4, 2, 6}, 21), v = given({4, 2, 6}, 22);
  SECTION("without options") {
    check(*m, {q, k, v}, m->forward(q, k, v),
          {0.6638243156475, 0.16926435897143, 0.38816703005557, 0.50812533656039, 0.044019705445945,
           0.54635785892965, -0.19749592608033, -0.45863400214025, -0.15399223470912});
  }
  SECTION("with masks") {
    check(*m, {q, k, v}, m->forward(q, k, v, padding(), true, forbidden(), false),
          {0.6596151819851, 0.030890368171467, -0.76728127031579, -0.099031891148084, 0.087110003432219,
           -0.78217040283627, 0.048091058562281, -0.43243311609859, -0.15399223470912});
  }
  SECTION("need_weights=false") {
    check(*m, {q, k, v}, {std::get<0>(m->forward(q, k, v, padding(), false, forbidden()))},
          {0.6596151819851, -0.014555688462637, -0.032538415689473, 0.087110003432219, -0.44932676523257,
           -0.064879160373314, -0.43243311609859, -0.15399223470912});
    CHECK_FALSE(std::get<1>(m->forward(q, k, v, {}, false)).defined());
  }
  SECTION("self-attention with is_causal") {
    for (const bool hint : {true, false}) {
      q.mutable_grad().reset();
      check(*m, {q}, {std::get<0>(m->forward(q, q, q, {}, false, causal(3), true, hint))},
            {1.0961546062266, 0.060741165902434, -0.10847359484057, -0.084956860964785, -0.44331363649411,
             -0.15399223470912});
    }
  }
  SECTION("a float mask per head") {
    const Variable each = given({4, 3, 3}, 5);
    check(*m, {q, each}, m->forward(q, q, q, {}, true, each),
          {1.0860234398253, -0.75261773680386, 0.78746551672675, 0.0022177678072705, -1.1214814628797,
           0.036955602986147, -0.47377927766929, -0.15399223470912});
  }
}

TEST_CASE("is_causal masks later keys in the attention weights") {
  for (const bool batch_first : {false, true})
    for (const bool averaged : {false, true}) {
      auto m = prepared(nn::MultiheadAttention(AttentionOptions(6, 2).batch_first(batch_first)));
      const Variable q = given({3, 3, 6}, 20);
      const auto [y, weights] = m->forward(q, q, q, {}, true, causal(3), averaged, /*is_causal=*/true);
      const auto [expected_y, expected] =
          m->forward(q, q, q, {}, true, causal(3), averaged, /*is_causal=*/false);
      CHECK(allclose(y, expected_y));
      CHECK(allclose(weights, expected));
      CHECK(weights.triu(1).eq(0).all().item<bool>());
      CHECK(allclose(weights.sum(-1), ones_like(weights.sum(-1))));
    }
}

TEST_CASE("MultiheadAttention has the options of torch") {
  SECTION("kdim, vdim, add_bias_kv, add_zero_attn and batch_first") {
    auto m = prepared(nn::MultiheadAttention(
        AttentionOptions(6, 3).add_bias_kv(true).add_zero_attn(true).kdim(5).vdim(4).batch_first(true)));
    CHECK(m->state_dict().keys() == std::vector<std::string>{"q_proj_weight", "k_proj_weight",
                                                             "v_proj_weight", "in_proj_bias", "bias_k",
                                                             "bias_v", "out_proj.weight", "out_proj.bias"});
    const Variable q = given({2, 3, 6}, 20), k = given({2, 4, 5}, 21), v = given({2, 4, 4}, 22);
    check(*m, {q, k, v}, m->forward(q, k, v, padding(), true, forbidden()),
          {0.2234042046982, -0.41329715983076, 0.1527318805616, -0.098068679755416, -0.027366811148062,
           0.32183233488475, -0.32155387551138, 0.69324813414568, 0.11026856602675, -0.033242496727986,
           -0.037786907442328, 0.69934074115382, -0.15399223470912});
    const Variable q1 = given({3, 6}, 20), k1 = given({4, 5}, 21), v1 = given({4, 4}, 22);
    check(*m, {q1, k1, v1}, m->forward(q1, k1, v1, padding()[0], true, forbidden()),
          {-0.24273658347029, -0.17356543814588, 0.037416381837083, -0.05789547610475, -0.053034907437465,
           0.27205217916179, -0.46739558081543, 0.3307014775363, 0.62101136867493, 0.06355115720521,
           0.031819824802543, 0.19968673796043, 4.3570612116029});
    // The fused path also includes the appended rows.
    CHECK(allclose(std::get<0>(m->forward(q, k, v, padding(), false, forbidden())),
                   std::get<0>(m->forward(q, k, v, padding(), true, forbidden())), 1e-12, 1e-12));
  }
  SECTION("bias=false") {
    auto m = prepared(nn::MultiheadAttention(AttentionOptions(6, 2).bias(false)));
    CHECK(m->state_dict().keys() == std::vector<std::string>{"in_proj_weight", "out_proj.weight"});
    const Variable q = given({3, 2, 6}, 20), k = given({4, 2, 6}, 21);
    check(*m, {q, k}, {std::get<0>(m->forward(q, k, k, {}, false))},
          {0.57958395181251, -0.097298808699489, 0.15532799773426, 0.076498498446793, 0.01869232454759});
  }
  SECTION("dropout in training mode") {
    nn::MultiheadAttention m(AttentionOptions(6, 2).dropout(0.5));
    const Variable x = randn({3, 2, 6});
    const Variable weights = std::get<1>(m->forward(x, x, x, {}, true, {}, false));
    CHECK((weights == 0).any().item<bool>());
    m->eval();
    CHECK_FALSE((std::get<1>(m->forward(x, x, x)) == 0).any().item<bool>());
  }
  SECTION("static_k and static_v") {
    auto m = prepared(nn::MultiheadAttention(6, 2));
    const Variable q = given({3, 2, 6}, 20), k = given({4, 2, 6}, 21);
    const auto options = F::MultiheadAttentionForwardFuncOptions(
        6, 2, m->in_proj_weight, m->in_proj_bias, {}, {}, false, 0, m->out_proj->weight, m->out_proj->bias);
    const auto heads = [&](std::int64_t part) {
      const Variable x =
          linear(k, m->in_proj_weight.narrow(0, 6 * part, 6), m->in_proj_bias.narrow(0, 6 * part, 6));
      return x.view({4, 4, 3}).transpose(0, 1);
    };
    CHECK(allclose(
        std::get<0>(F::multi_head_attention_forward(
            q, k, k, F::MultiheadAttentionForwardFuncOptions(options).static_k(heads(1)).static_v(heads(2)))),
        std::get<0>(F::multi_head_attention_forward(q, k, k, options)), 1e-12, 1e-12));
  }
}

TEST_CASE("MultiheadAttention with only padding keys and no biases returns zeros") {
  auto m = prepared(nn::MultiheadAttention(AttentionOptions(6, 2).bias(false)));
  const Variable x = given({3, 1, 6}, 20), none = ones({1, 3}, kBool);
  for (const bool weights : {false, true})
    CHECK((std::get<0>(m->forward(x, x, x, none, weights)) == 0).all().item<bool>());
}

TEST_CASE("transformer layers have the values of torch") {
  const auto options = LayerOptions(6, 2).dim_feedforward(5);
  const Variable x = given({3, 2, 6}, 20), memory = given({4, 2, 6}, 21);
  SECTION("encoder layer") {
    auto m = prepared(nn::TransformerEncoderLayer(options));
    check(*m, {x}, {m->forward(x)},
          {-0.51483338670479, 0.089240370833768, -0.062749295216742, 0.18249706096005, 0.22368304191843,
           0.13933089780086, 0.053895912339323, 0.2742297328683, 1.7011467363396, 0.65769062608295,
           0.32836271310794, 0.5489733000868, 0.72771026855906, -0.15399223470912});
  }
  SECTION("encoder layer with norm_first") {
    auto m = prepared(nn::TransformerEncoderLayer(
        LayerOptions(options).activation(kGELU).norm_first(true).batch_first(true).layer_norm_eps(0.01)));
    const Variable y = given({2, 3, 6}, 20);
    check(*m, {y}, {m->forward(y, causal(3), mask({{0, 0, 1}, {0, 0, 0}}))},
          {1.6321900453885, 1.3311110114003, 0.044142597879488, -0.049569916530058, -0.32899745819969,
           -0.15237046752316, -0.38526254266754, 0.11180631620473, 1.2608530982427, -0.15399223470912,
           -0.05055977390681, 0.02325644854418, 0.0087363838064607, 0.058981600278628});
  }
  SECTION("decoder layer with a custom activation") {
    auto m = prepared(nn::TransformerDecoderLayer(
        LayerOptions(options).activation([](const Variable& t) { return ebb::tanh(t); })));
    CHECK(m->state_dict().keys()[10] == "linear2.weight");
    check(*m, {x, memory},
          {m->forward(x, memory, causal(3), forbidden(), mask({{0, 0, 0}, {0, 0, 1}}),
                      mask({{0, 0, 1, 0}, {0, 0, 0, 0}}))},
          {-1.7938204761929,  0.045038440066226,  -0.028828831051106, -0.030557094767928, 0.011863771254202,
           0.023659784049559, 0.019813451656298,  -0.084693415034138, -0.16976081251227,  -0.089307058998538,
           -0.07762226866867, -0.026174109075483, -0.2270172610481,   -1.1664480781909,   0.76591485992768,
           0.063895705730224, -0.10504822301376,  0.3390589440096,    0.7435651638701,    0.54770493893895,
           -0.15399223470912});
  }
  SECTION("unbatched decoder layer") {
    auto m = prepared(nn::TransformerDecoderLayer(LayerOptions(options).norm_first(true)));
    const Variable t = given({3, 6}, 20), s = given({4, 6}, 21);
    check(*m, {t, s}, {m->forward(t, s, causal(3), {}, {}, {}, /*tgt_is_causal=*/true)},
          {0.037643768905473, 0.55128303020735, 0.30036594512114,  -0.10367795955092, -1.0896242076659,
           -0.19586297138295, 4.3481848514126,  0.20370750807903,  0.5018014374601,   -0.10968067966987,
           4.352983767716,    0.32745742837313, -0.10373790140042, 0.11420989024275,  4.3570612116029,
           -0.04160658958951, 0.21111046548418, 0.014983422974508, -0.25654354089602, -0.14958035361536,
           -0.013530345277302});
  }
}

TEST_CASE("transformers have the values of torch") {
  SECTION("TransformerEncoder") {
    auto m = prepared(
        nn::TransformerEncoder(nn::TransformerEncoderOptions(LayerOptions(6, 2).dim_feedforward(5), 2)
                                   .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({6}))))));
    const Variable x = given({3, 2, 6}, 20);
    check(*m, {x}, {m->forward(x, causal(3), {}, /*is_causal=*/true)},
          {-1.1582856436642,   -0.012629856443038, 0.011521123757824,  -0.018164297028827, -0.025525183261368,
           0.0016527028023071, 0.026191486990536,  0.10184210838204,   -0.14561546388086,  -0.066278252554826,
           -0.028683697698324, -0.10863637670533,  -0.11387995545889,  -0.033773745082805, -0.044161151887403,
           0.26967667143619,   0.26223900639043,   -0.010099917060024, -0.19278546207113,  -0.061746017331576,
           0.14777330404158,   0.19942293923702,   0.23115334762237,   0.17757701272738,   -0.19004795320149,
           0.36429526563419,   0.63533285305592,   -0.15399223470912});
  }
  SECTION("Transformer") {
    auto m =
        prepared(nn::Transformer(nn::TransformerOptions(6, 2, 2, 2).dim_feedforward(5).batch_first(true)));
    const Variable s = given({2, 4, 6}, 20), t = given({2, 3, 6}, 21);
    check(*m, {s, t}, {m->forward(s, t, {}, causal(3), {}, padding(), {}, padding(), false, true)},
          {-0.14810850784706,    -0.00027814542862888, 0.0079306735602318,   0.00051209344544516,
           -4.6800048994002e-06, -0.00071248987526079, -4.2524068389421e-05, 0.00031434761015518,
           0.00035833266564855,  -0.0042162319092427,  -3.1479251449304e-05, -0.00018246687102569,
           0.00012157651862633,  0.00015781823175614,  -1.0773956237192e-05, -0.00053373361543075,
           0.0030183158076356,   0.00078670788493811,  0.0001337752379086,   -0.0015987833442017,
           -0.0038662871985539,  0.0085489868312624,   -0.0034011592820752,  -0.006039037650717,
           -0.0048119158054102,  -0.0087201355178759,  0.0073158432144095,   -0.0087576855638316,
           0.027324206968731,    -0.0036391625365004,  -0.015346856473668,   -0.011899968720447,
           0.0013944307076833,   -0.026434903405,      -0.076157599619965,   -0.011093039756245,
           -0.020595499892407,   0.0095383099357781,   -0.013058406696091,   -0.13083645027471,
           -0.012827033343646,   -0.019259385644731,   -0.020595432903082,   -0.03934944925553,
           -0.067476626406567,   0.023214437673545,    -0.020856830981786,   0.0069722520776176,
           0.14459510833109,     0.041288658039822,    0.012460036294041,    0.047173351311618,
           0.058091176247505,    0.043559396807829,    0.034849873836705,    0.12571918084337,
           0.06362084139037,     -0.0039073262565605,  0.30173497938153,     0.014267186736352,
           0.034850914021864,    0.23290418874093,     0.2265825502376,      0.67080771965146,
           -0.1424254822897,     0.53710347327062,     -0.15399223470912});
  }
}

TEST_CASE("transformers have the initial values of torch") {
  manual_seed(3);
  const nn::MultiheadAttention m(AttentionOptions(4, 2).add_bias_kv(true).kdim(3));
  near(m->q_proj_weight, {0.2568811774253845, -0.49405407905578613, 0.7782190442085266});
  near(m->k_proj_weight, {-0.24325749278068542, -0.9178128242492676});
  near(m->bias_k, {0.22675058245658875, 0.0060455454513430595, 0.6710177659988403});
  near(m->bias_v, {0.21808049082756042, 0.5085067749023438});
  near(m->out_proj->weight, {-0.4957364797592163, -0.39443063735961914});
  near(m->out_proj->bias, {0, 0});
  manual_seed(3);
  const nn::TransformerDecoderLayer layer(LayerOptions(4, 2).dim_feedforward(3));
  near(layer->multihead_attn->in_proj_weight, {-0.40696078538894653, -0.20882117748260498});
  near(layer->linear2->weight, {0.5630236864089966, 0.08765004575252533});
  near(layer->linear2->bias, {0.2903461456298828, -0.48428693413734436});
  manual_seed(3);
  const nn::Transformer both(nn::TransformerOptions(4, 2, 1, 1).dim_feedforward(3));
  const auto all = both->named_parameters();
  // Layers are drawn before they are cloned, and cloning draws numbers as in libtorch; matrices are redrawn.
  near(all["encoder.layers.0.linear2.bias"], {0.20127078890800476, -0.39000892639160156});
  CHECK((all["encoder.layers.0.linear1.weight"].abs() <= std::sqrt(6.0 / (4 + 3))).all().item<bool>());
  CHECK((all["encoder.layers.0.linear1.weight"].abs() > std::sqrt(1.0 / 4)).any().item<bool>());
  near(all["decoder.norm.weight"], {1, 1});
}

TEST_CASE("the clone of a transformer shares no tensors with the original") {
  struct Twice : nn::Cloneable<Twice> {
    Twice() { Twice::reset(); }
    void reset() override { factor = register_parameter("factor", full({}, 2.0)); }
    Variable forward(const Variable& tgt, const Variable&, const Variable&, const Variable&, const Variable&,
                     const Variable&) {
      return tgt * factor;
    }
    Variable factor;
  };
  nn::AnyModule own(std::make_shared<Twice>());
  nn::Transformer m(nn::TransformerOptions(6, 2, 1, 1).dim_feedforward(5).custom_decoder(own));
  m->eval();
  const Variable s = randn({4, 2, 6}), t = randn({3, 2, 6});
  CHECK(equal(m(s, t), t * 2));
  const auto copy = std::dynamic_pointer_cast<nn::TransformerImpl>(m->clone());
  const auto before = m->named_parameters(), after = copy->named_parameters();
  REQUIRE(before.keys() == after.keys());
  for (const auto& item : before) {
    INFO(item.key());
    CHECK(equal(*item, after[item.key()]));
    CHECK_FALSE(item->is_alias_of(after[item.key()]));
  }
  own.get<Twice>().factor.set_data(full({}, 5.0));
  CHECK(equal(m(s, t), t * 5));
  CHECK(equal(copy->forward(s, t), t * 2));
}

TEST_CASE("generate_square_subsequent_mask masks later keys") {
  const double inf = INFINITY;
  const Variable square = nn::TransformerImpl::generate_square_subsequent_mask(3);
  CHECK(square.dtype() == kFloat);
  CHECK(equal(square, tensor({0.0, -inf, -inf, 0.0, 0.0, -inf, 0.0, 0.0, 0.0}).view({3, 3}).to(kFloat)));
  CHECK_THROWS_WITH(nn::TransformerImpl::generate_square_subsequent_mask(-1), Contains("negative"));
}

TEST_CASE("MultiheadAttention throws for arguments that do not fit") {
  nn::MultiheadAttention m(6, 2);
  const Variable x = ones({3, 2, 6}), y = ones({4, 2, 6});
  CHECK_THROWS_WITH(nn::MultiheadAttention(6, 4), Contains("embed_dim must be divisible by num_heads"));
  CHECK_THROWS_WITH(m(ones({3, 2, 5}), x, x), Contains("embed_dim, 6, got [3, 2, 5]"));
  CHECK_THROWS_WITH(m(x, x, ones({3, 6})), Contains("all be of 3 dimensions"));
  CHECK_THROWS_WITH(m(x, y, x), Contains("the same length and batch size"));
  CHECK_THROWS_WITH(m(x, ones({3, 1, 6}), ones({3, 1, 6})),
                    Contains("the batch sizes of query and key differ: 2 and 1"));
  CHECK_THROWS_WITH(m(x, x, ones({3, 2, 4})), Contains("does not match value shape [3, 2, 4]"));
  CHECK_THROWS_WITH(m(x, y, y, ones({2, 3}, kBool)), Contains("should be [2, 4] (batch, keys)"));
  CHECK_THROWS_WITH(m(x, y, y, Variable(), true, ones({4, 4}, kBool)), Contains("should be [3, 4] (L, S)"));
  CHECK_THROWS_WITH(m(x, y, y, Variable(), true, ones({3, 3, 4}, kBool)), Contains("should be [4, 3, 4]"));
  CHECK_THROWS_WITH(m(x, y, y, Variable(), true, ones({3, 4}, kLong)),
                    Contains("attn_mask must be Bool or floating"));
  CHECK_THROWS_WITH(m(x, x, x, Variable(), true, Variable(), true, true),
                    Contains("attn_mask, which is missing"));
  nn::Transformer both(nn::TransformerOptions(6, 2, 1, 1).dim_feedforward(5));
  CHECK_THROWS_WITH(both(x, ones({3, 1, 6})), Contains("batch number of src and tgt must be equal"));
  CHECK_THROWS_WITH(both(ones({3, 2, 5}), x), Contains("equal to d_model, 6"));
  CHECK_THROWS_WITH(nn::TransformerEncoder(nn::TransformerEncoderOptions(LayerOptions(6, 2), 0)),
                    Contains("at least one layer"));
  CHECK_THROWS_WITH(
      nn::TransformerEncoderLayer(LayerOptions(6, 2).activation(nn::TransformerActivation::Function()))(x),
      Contains("empty function"));
}

TEST_CASE("a fully masked query attends to nothing with and without need_weights") {
  manual_seed(3);
  nn::MultiheadAttention m(6, 2);
  m->to(kDouble);
  const Variable x = randn({3, 2, 6}, kDouble);
  const Variable bools = mask({{0, 1, 0}, {1, 1, 1}, {1, 0, 0}});
  const Variable numbers =
      zeros({3, 3}, kDouble).masked_fill(bools, -std::numeric_limits<double>::infinity());
  for (const Variable& unseen : {bools, numbers}) {
    Variable results[2], gradients[2];
    for (const bool weights : {false, true}) {
      const Variable leaf = x.clone().requires_grad_();
      m->zero_grad();
      const auto [y, w] = m(leaf, leaf, leaf, Variable(), weights, unseen);
      if (weights) CHECK(w.select(1, 1).eq(0).all().item<bool>());
      y.sum().backward();
      results[weights] = y;
      gradients[weights] = leaf.grad();
    }
    CHECK(results[0].allclose(results[1]));
    CHECK(gradients[0].isfinite().all().item<bool>());
    CHECK(gradients[0].allclose(gradients[1]));
  }
}

TEST_CASE("attention dropout draws the same numbers with and without need_weights") {
  const Variable x = randn({3, 2, 6});
  nn::TransformerEncoderLayer layer(LayerOptions(6, 2).dim_feedforward(5).dropout(0.25));
  // The test disables other dropout and normalisation before attention.
  layer->dropout->options.p(0);
  layer->dropout1->options.p(0);
  layer->dropout2->options.p(0);
  manual_seed(5);
  const Variable y = layer(x);
  manual_seed(5);
  const Variable seen = std::get<0>(layer->self_attn(x, x, x, Variable(), /*need_weights=*/true));
  const Variable z = layer->norm1(x + seen);
  const Variable expected = layer->norm2(z + layer->linear2(relu(layer->linear1(z))));
  CHECK(y.allclose(expected));
}
