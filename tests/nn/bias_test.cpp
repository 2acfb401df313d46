// Normalisations and transformers without biases: numbers of torch 2.15, names, printing.
#include <ebb/ebb.h>
#include <ebb/nn/modules/transformer.h>

#include <sstream>

#include "support/catch.h"

using namespace ebb;

namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

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

// One number of the result, of the gradient of each input, and of each parameter, in the order of torch's.
void check(nn::Module& module, const variable_list& inputs, const Variable& y, const Numbers& expected) {
  (y * wave(y.numel(), 0.9, 0).cos().reshape(y.sizes())).sum().backward();
  Numbers got{mark(y)};
  for (const Variable& x : inputs) got.push_back(mark(x.grad()));
  for (const Variable& p : module.parameters()) got.push_back(mark(p.grad()));
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-9).margin(1e-11));
  }
}

template <class M>
std::string printed(const M& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

}  // namespace

TEST_CASE("normalisations without a shift give torch's numbers") {
  const Variable x = given({2, 4, 3}, 20);
  SECTION("layers") {
    auto m = prepared(nn::LayerNorm(nn::LayerNormOptions({3}).bias(false)));
    check(*m, {x}, m(x), {0.4486683966444, -0.12495812273377, -1.0688113466555});
    CHECK(m->state_dict().keys() == Names{"weight"});
    CHECK(printed(m) == "ebb::nn::LayerNorm([3], eps=1e-05, elementwise_affine=true, bias=false)");
  }
  SECTION("groups") {
    auto m = prepared(nn::GroupNorm(nn::GroupNormOptions(2, 4).bias(false)));
    check(*m, {x}, m(x), {2.6309457569132, -0.086703545533118, 0.49275526255847});
    CHECK(printed(m) == "ebb::nn::GroupNorm(2, 4, eps=1e-05, affine=true, bias=false)");
  }
  SECTION("batches") {
    auto m = prepared(nn::BatchNorm1d(nn::BatchNormOptions(4).bias(false)));
    m->train();
    check(*m, {x}, m(x), {2.2182540253631, 1.1867295220256, 0.10819459385101});
    CHECK(m->state_dict().keys() == Names{"weight", "running_mean", "running_var", "num_batches_tracked"});
    CHECK(printed(m) ==
          "ebb::nn::BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=true, bias=false, "
          "track_running_stats=true)");
  }
  SECTION("instances") {
    auto m = prepared(nn::InstanceNorm1d(nn::InstanceNormOptions(4).affine(true).bias(false)));
    check(*m, {x}, m(x), {0.39145189128254, 0.068467531635718, -1.2778491914058});
  }
  SECTION("batches of all processes") {
    auto m = prepared(nn::SyncBatchNorm(nn::BatchNormOptions(4).bias(false)));
    m->train();
    check(*m, {x}, m(x), {2.2182540253631, 1.1867295220256, 0.10819459385101});
    m->reset_parameters();
    CHECK_FALSE(m->bias.defined());
  }
}

TEST_CASE("a normalisation that scales nothing has no bias to say") {
  auto m = nn::LayerNorm(nn::LayerNormOptions({3}).elementwise_affine(false).bias(false));
  CHECK(m->state_dict().is_empty());
  CHECK(printed(m) == "ebb::nn::LayerNorm([3], eps=1e-05, elementwise_affine=false)");
}

TEST_CASE("transformers without biases give torch's numbers") {
  const auto options = nn::TransformerEncoderLayerOptions(6, 2).dim_feedforward(5).bias(false);
  SECTION("an encoder's layer") {
    const Variable x = given({3, 2, 6}, 20);
    auto m = prepared(nn::TransformerEncoderLayer(options));
    CHECK(m->state_dict().keys() == Names{"self_attn.in_proj_weight", "self_attn.out_proj.weight",
                                          "linear1.weight", "linear2.weight", "norm1.weight",
                                          "norm2.weight"});
    check(*m, {x}, m(x),
          {1.1610127681184, 0.082438451926215, 0.074177190685653, -0.24031549133108, -0.039984944218292,
           0.38253247342641, 0.076428608433709, -0.87850583712068});
  }
  SECTION("a decoder's layer") {
    const Variable x = given({3, 2, 6}, 20), memory = given({4, 2, 6}, 21);
    auto m =
        prepared(nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(options).norm_first(true)));
    check(*m, {x, memory}, m(x, memory),
          {0.90852846767781, 1.2954288203919, 0.019656452093113, 0.0048123528338492, -0.0012682694627665,
           -0.090174684265779, 0.010577164060712, -0.1709342976989, 0.36484019054119, -0.0037445594722161,
           0.031940667032714, -0.14483645581012});
  }
  SECTION("both together") {
    const Variable target = given({3, 2, 6}, 21), source = given({4, 2, 6}, 20);
    auto m = prepared(nn::Transformer(nn::TransformerOptions(6, 2, 1, 1).dim_feedforward(5).bias(false)));
    check(
        *m, {source, target}, m(source, target),
        {1.4081765959624,    -0.039757962811815, 0.1311270972514,     0.055395129416865,  -0.078935768810898,
         -0.028315968321454, -0.056890975274426, -0.014431990756245,  0.15062212829492,   -0.1111750666333,
         -0.020245929290927, 0.13679443652758,   -0.0022879387923542, -0.064815045064019, -0.19538393000974,
         -0.62454653352267,  0.01098466702152,   0.84475084228959,    -1.0091421305122,   0.16119343437643});
  }
}
