// Layers of libtorch or Python against values of torch 2.15.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ebb.h>
#include <ebb/nn/modules/activation.h>
#include <ebb/nn/modules/adaptive_softmax.h>
#include <ebb/nn/modules/cross_map_lrn.h>
#include <ebb/nn/modules/dropout.h>
#include <ebb/nn/modules/loss.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/nn/modules/padding.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/nn/modules/transformer.h>
#include <ebb/nn/modules/unpooling.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/creation/tensor_data.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "support/catch.h"

#include <sstream>
#include <vector>

using ebb::Variable;
namespace nn = ebb::nn;

namespace {

void require_close(const Variable& x, const std::vector<double>& expected, double margin = 1e-9) {
  const Variable flat = x.detach().to(ebb::kDouble).contiguous();
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(flat.data_ptr<double>()[i] == Approx(expected[i]).margin(margin));
  }
}

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

}  // namespace

TEST_CASE("AdaptiveLogSoftmaxWithLoss has the values of torch") {
  nn::AdaptiveLogSoftmaxWithLoss m(nn::AdaptiveLogSoftmaxWithLossOptions(4, 7, {2, 5}).div_value(2));
  m->to(ebb::kDouble);
  std::vector<std::string> names;
  {
    ebb::NoGradGuard no_grad;
    double shift = 0;
    for (const auto& p : m->named_parameters()) {
      names.push_back(p.key());
      p.value().copy_(
          (ebb::arange(p.value().numel(), ebb::kDouble) * 0.37 + shift++).sin().view(p.value().sizes()));
    }
  }
  CHECK(names == std::vector<std::string>{"head.weight", "tail.0.0.weight", "tail.0.1.weight",
                                          "tail.1.0.weight", "tail.1.1.weight"});
  const Variable x = (ebb::arange(12, ebb::kDouble) * 0.7).cos().view({3, 4});
  const nn::ASMoutput out = m->forward(x, ebb::tensor({1, 3, 6}, ebb::kLong));
  require_close(out.output, {-0.41821071761751377, -4.447884775868339, -5.829719985338045});
  CHECK(out.loss == Approx(3.5652718262746323));
  require_close(m->log_prob(x).select(0, 1),
                {-2.8488590785829406, -4.478021691211646, -6.0950106209311565, -4.447884775868339,
                 -2.3702394617095273, -0.8690736834809409, -0.906394232895464});
  require_close(m->predict(x), {1, 5, 1});
  require_close(m->forward(x[0], ebb::tensor(1, ebb::kLong)).output, {-0.41821071761751377});
  out.output.sum().backward();
  CHECK(m->head->weight.grad().defined());
  CHECK_THROWS_WITH(m->forward(x, ebb::tensor({1, 3, 7}, ebb::kLong)), support::Contains("[0, 6]"));
  CHECK_THROWS_WITH(nn::AdaptiveLogSoftmaxWithLoss(4, 7, std::vector<std::int64_t>{5, 2}),
                    support::Contains("increasing"));
}

TEST_CASE("CrossMapLRN2d with an even size has the values of torch") {
  const Variable y = (ebb::arange(5, ebb::kDouble) * 0.9).sin().view({1, 5, 1, 1});
  nn::CrossMapLRN2d m(nn::CrossMapLRN2dOptions(4).alpha(0.5).beta(0.6).k(2));
  require_close(m(y), {0, 0.4887118935585022, 0.6038162112236023, 0.2688044011592865, -0.28788772225379944},
                1e-7);
  CHECK(printed(m) == "ebb::nn::CrossMapLRN2d(4, alpha=0.5, beta=0.6, k=2)");
}

TEST_CASE("padding, shuffle, fold and unfold modules have the right values and shapes") {
  const Variable square = ebb::arange(4, ebb::kDouble).view({1, 1, 2, 2});
  require_close(nn::CircularPad2d(nn::CircularPad2dOptions({1, 0, 0, 2}))(square),
                {1, 0, 1, 3, 2, 3, 1, 0, 1, 3, 2, 3});
  require_close(nn::ZeroPad1d(nn::ZeroPad1dOptions({1, 0}))(ebb::ones({1, 1, 2}, ebb::kDouble)), {0, 1, 1});
  CHECK(nn::ZeroPad3d(nn::ZeroPad3dOptions(1))(ebb::ones({1, 1, 1, 1, 1})).sizes() ==
        ebb::IntArrayRef({1, 1, 3, 3, 3}));
  CHECK(nn::CircularPad1d(nn::CircularPad1dOptions(1))(ebb::ones({1, 1, 3})).size(2) == 5);
  CHECK(nn::CircularPad3d(nn::CircularPad3dOptions(1))(ebb::ones({1, 1, 2, 2, 2})).size(4) == 4);
  require_close(nn::ChannelShuffle(2)(ebb::arange(4, ebb::kDouble).view({1, 4, 1})), {0, 2, 1, 3});
  const Variable x = ebb::tensor({-4., -1., 1., 4.}, ebb::kDouble);
  require_close(nn::Hardsigmoid()(x), {0, 1. / 3, 2. / 3, 1});
  require_close(nn::Hardswish()(x), {0, -1. / 3, 2. / 3, 4});
}

TEST_CASE("MaxUnpool accepts the input size of the pooling") {
  const Variable x = ebb::tensor({6., 8.}, ebb::kDouble).view({1, 1, 1, 2});
  const Variable at = ebb::tensor({5, 7}, ebb::kLong).view({1, 1, 1, 2});
  nn::MaxUnpool2d m(nn::MaxUnpool2dOptions(2).stride(2));
  require_close(m->forward(x, at, std::vector<std::int64_t>{3, 5}),
                {0, 0, 0, 0, 0, 6, 0, 8, 0, 0, 0, 0, 0, 0, 0});
  CHECK(m->forward(x, at).sizes() == ebb::IntArrayRef({1, 1, 2, 4}));
  CHECK(printed(m) == "ebb::nn::MaxUnpool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0])");
}

TEST_CASE("fractional pooling has the windows of torch") {
  const Variable x = ebb::arange(1, 36, ebb::kDouble).pow(1.3).remainder(11).view({1, 1, 5, 7});
  const auto [values, places] =
      ebb::fractional_max_pool2d(x, {2, 3}, {3, 4}, ebb::tensor({.3, .8}, ebb::kDouble).view({1, 1, 2}));
  require_close(places, {9, 9, 5, 5, 9, 17, 17, 13, 30, 24, 24, 27});
  const Variable volume = ebb::arange(1, 121, ebb::kDouble).pow(1.3).remainder(11).view({1, 1, 4, 5, 6});
  const auto [v3, p3] = ebb::fractional_max_pool3d(volume, {2, 2, 3}, {2, 3, 3},
                                                   ebb::tensor({.3, .8, .55}, ebb::kDouble).view({1, 1, 3}));
  require_close(p3, {36, 39, 39, 36, 39, 39, 24, 27, 27, 92, 92, 94, 67, 74, 107, 109, 81, 81});
  nn::FractionalMaxPool2d m(nn::FractionalMaxPool2dOptions(2).output_ratio(0.5));
  CHECK(m(ebb::rand({2, 3, 6, 8})).sizes() == ebb::IntArrayRef({2, 3, 3, 4}));
  CHECK_THROWS_WITH(nn::FractionalMaxPool2d(2), support::Contains("requires specifying"));
}

TEST_CASE("SyncBatchNorm equals BatchNorm in a single process") {
  const Variable x = ebb::rand({4, 3, 5, 2}, ebb::kDouble);
  nn::SyncBatchNorm a(3);
  nn::BatchNorm2d b(3);
  a->to(ebb::kDouble), b->to(ebb::kDouble);
  CHECK(ebb::allclose(a(x), b(x)));
  a->eval(), b->eval();
  CHECK(ebb::allclose(a(x), b(x)));
  CHECK(a->named_buffers().keys() == b->named_buffers().keys());
  CHECK(a->num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE("Dropout1d zeroes whole channels") {
  nn::Dropout1d m(nn::Dropout1dOptions(0.5));
  for (const Variable& y : {m(ebb::ones({2, 16, 3})).view({32, 3}), m(ebb::ones({16, 3}))})
    CHECK(ebb::equal(y, y.select(1, 0).unsqueeze(1).expand_as(y)));
  m->eval();
  CHECK(ebb::equal(m(ebb::ones({2, 3})), ebb::ones({2, 3})));
}

TEST_CASE("TripletMarginWithDistanceLoss accepts a distance function") {
  nn::TripletMarginWithDistanceLoss m(
      nn::TripletMarginWithDistanceLossOptions()
          .distance_function([](const Variable& a, const Variable& b) { return (a - b).abs().sum(-1); })
          .margin(2));
  const Variable zero = ebb::zeros({1, 2}, ebb::kDouble), one = ebb::ones({1, 2}, ebb::kDouble);
  require_close(m(zero, one, one * 1.5), {1});
}

// Normalisations and transformers without biases: values of torch 2.15, names, printing.

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

// Checks one scalar of the result, of the gradient of each input, and of each parameter, in torch's order.
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

}  // namespace

TEST_CASE("normalisations without a bias have the values of torch") {
  const Variable x = given({2, 4, 3}, 20);
  SECTION("LayerNorm") {
    auto m = prepared(nn::LayerNorm(nn::LayerNormOptions({3}).bias(false)));
    check(*m, {x}, m(x), {0.4486683966444, -0.12495812273377, -1.0688113466555});
    CHECK(m->state_dict().keys() == Names{"weight"});
    CHECK(printed(m) == "ebb::nn::LayerNorm([3], eps=1e-05, elementwise_affine=true, bias=false)");
  }
  SECTION("GroupNorm") {
    auto m = prepared(nn::GroupNorm(nn::GroupNormOptions(2, 4).bias(false)));
    check(*m, {x}, m(x), {2.6309457569132, -0.086703545533118, 0.49275526255847});
    CHECK(printed(m) == "ebb::nn::GroupNorm(2, 4, eps=1e-05, affine=true, bias=false)");
  }
  SECTION("BatchNorm") {
    auto m = prepared(nn::BatchNorm1d(nn::BatchNormOptions(4).bias(false)));
    m->train();
    check(*m, {x}, m(x), {2.2182540253631, 1.1867295220256, 0.10819459385101});
    CHECK(m->state_dict().keys() == Names{"weight", "running_mean", "running_var", "num_batches_tracked"});
    CHECK(printed(m) ==
          "ebb::nn::BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=true, bias=false, "
          "track_running_stats=true)");
  }
  SECTION("InstanceNorm") {
    auto m = prepared(nn::InstanceNorm1d(nn::InstanceNormOptions(4).affine(true).bias(false)));
    check(*m, {x}, m(x), {0.39145189128254, 0.068467531635718, -1.2778491914058});
  }
  SECTION("SyncBatchNorm") {
    auto m = prepared(nn::SyncBatchNorm(nn::BatchNormOptions(4).bias(false)));
    m->train();
    check(*m, {x}, m(x), {2.2182540253631, 1.1867295220256, 0.10819459385101});
    m->reset_parameters();
    CHECK_FALSE(m->bias.defined());
  }
}

TEST_CASE("LayerNorm without elementwise_affine does not print its bias option") {
  auto m = nn::LayerNorm(nn::LayerNormOptions({3}).elementwise_affine(false).bias(false));
  CHECK(m->state_dict().is_empty());
  CHECK(printed(m) == "ebb::nn::LayerNorm([3], eps=1e-05, elementwise_affine=false)");
}

TEST_CASE("transformers without biases have the values of torch") {
  const auto options = nn::TransformerEncoderLayerOptions(6, 2).dim_feedforward(5).bias(false);
  SECTION("encoder layer") {
    const Variable x = given({3, 2, 6}, 20);
    auto m = prepared(nn::TransformerEncoderLayer(options));
    CHECK(m->state_dict().keys() == Names{"self_attn.in_proj_weight", "self_attn.out_proj.weight",
                                          "linear1.weight", "linear2.weight", "norm1.weight",
                                          "norm2.weight"});
    check(*m, {x}, m(x),
          {1.1610127681184, 0.082438451926215, 0.074177190685653, -0.24031549133108, -0.039984944218292,
           0.38253247342641, 0.076428608433709, -0.87850583712068});
  }
  SECTION("decoder layer") {
    const Variable x = given({3, 2, 6}, 20), memory = given({4, 2, 6}, 21);
    auto m =
        prepared(nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(options).norm_first(true)));
    check(*m, {x, memory}, m(x, memory),
          {0.90852846767781, 1.2954288203919, 0.019656452093113, 0.0048123528338492, -0.0012682694627665,
           -0.090174684265779, 0.010577164060712, -0.1709342976989, 0.36484019054119, -0.0037445594722161,
           0.031940667032714, -0.14483645581012});
  }
  SECTION("Transformer") {
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

// linear_cross_entropy: values of torch 2.15, with and without chunks; the module.

namespace F = ebb::nn::functional;

namespace {

using Numbers = std::vector<double>;
using Options = F::LinearCrossEntropyFuncOptions;

struct Given {
  Variable x = given({5, 3}, 20), weight = given({4, 3}, 21), bias = given({4}, 22);
  Variable target = tensor(std::vector<std::int64_t>{0, 3, -100, 2, 1});
};

void check_loss(Given in, const Options& options, const Numbers& expected) {
  for (const optional<std::int64_t> chunk :
       {optional<std::int64_t>(), optional<std::int64_t>(2), optional<std::int64_t>(9)}) {
    CAPTURE(chunk.value_or(0));
    for (Variable* each : {&in.x, &in.weight, &in.bias}) *each = each->detach().requires_grad_();
    const Variable loss = F::linear_cross_entropy(
        in.x, in.weight, in.target, Options(options).linear_bias(in.bias).batch_chunk_size(chunk));
    (loss * wave(loss.numel(), 0.9, 0).cos().reshape(loss.sizes())).sum().backward();
    const Numbers got{mark(loss), mark(in.x.grad()), mark(in.weight.grad()), mark(in.bias.grad())};
    for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-11));
  }
}

}  // namespace

TEST_CASE("linear_cross_entropy has the values of torch with and without chunks") {
  const Variable classes = tensor({.5, 1., 2., .25}, kDouble);
  const Options weighted = Options().weight(classes).label_smoothing(0.1);
  check_loss({}, weighted, {0.63035982840928, 0.13586420601272, 0.5418663681449, 0.11363611450614});
  check_loss({}, Options(weighted).reduction(kSum),
             {2.3638493565348, 0.5094907725477, 2.0319988805434, 0.42613542939801});
  check_loss({}, Options(weighted).reduction(kNone),
             {-0.76166739859809, -0.087845003748839, -3.0158328586693, -0.4412820477891});
  Given soft;
  soft.target = softmax(given({5, 4}, 23).detach(), 1);
  check_loss(soft, Options().weight(classes),
             {0.95571305241752, 0.26937071442801, 0.2524322358278, 0.10154366414003});
  check_loss(soft, Options().weight(classes).reduction(kSum),
             {4.7785652620876, 1.3468535721401, 1.262161179139, 0.50771832070013});
  Given places;
  places.weight = given({4, 2, 3}, 21);
  places.bias = given({4, 2}, 22);
  places.target = tensor(std::vector<std::int64_t>{0, 3, 1, -100, 2, 2, 0, 1, 3, 3}).reshape({5, 2});
  check_loss(places, {}, {0.93536025533722, 0.43166541249929, 0.26459671092451, -0.20347744543217});
  check_loss(places, Options().reduction(kNone),
             {-4.6250811135126, 1.0571478667824, 5.3586486268148, -1.6155194899007});
  Given one;
  one.x = given({3}, 20);
  one.target = tensor(std::int64_t{2});
  check_loss(one, {}, {0.66289372542631, 0.22580970347955, 1.6790724877516, 0.22359747745634});
}

TEST_CASE("linear_cross_entropy of only ignored targets has mean NaN") {
  Given in;
  in.target.fill_(-100);
  for (const std::int64_t chunk : {2, 9})
    CHECK(F::linear_cross_entropy(in.x, in.weight, in.target, Options().batch_chunk_size(chunk))
              .isnan()
              .item<bool>());
}

TEST_CASE("LinearCrossEntropyLoss owns its linear layer") {
  nn::LinearCrossEntropyLoss m(
      nn::LinearCrossEntropyLossOptions(3, 4).out_features({2}).bias(true).batch_chunk_size(2));
  CHECK(m->state_dict().keys() == std::vector<std::string>{"linear.weight", "linear.bias"});
  CHECK(m->linear->weight.sizes() == IntArrayRef({8, 3}));
  const Variable x = rand({5, 3}), target = randint(0, 4, {5, 2}, kLong);
  const Variable logits = m->linear(x).reshape({5, 4, 2});
  CHECK(allclose(m(x, target), F::cross_entropy(logits, target)));
  std::ostringstream text;
  text << nn::LinearCrossEntropyLoss(3, 4);
  CHECK(text.str() ==
        "ebb::nn::LinearCrossEntropyLossImpl(\n  (linear): ebb::nn::Linear(in_features=3, out_features=4, "
        "bias=false)\n)");
}
