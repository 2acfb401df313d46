// Layers, initial values, functional forms and utilities: values of libtorch 1.13, shapes, options.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>

using namespace ebb;
namespace F = ebb::nn::functional;
using support::Contains;

namespace {

double value(const Variable& x) { return x.item<double>(); }

void near(const Variable& x, const std::vector<double>& expected, double tolerance) {
  const Variable flat = x.detach().flatten().to(kDouble);
  REQUIRE(flat.numel() >= static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(value(flat[static_cast<std::int64_t>(i)]) == Approx(expected[i]).margin(tolerance));
}

}  // namespace

TEST_CASE("layers have the initial values of libtorch") {
  manual_seed(3);
  const nn::Linear linear(2, 3);
  near(linear->weight, {-0.7011, -0.5578, -0.3029, -0.6690, -0.0401, -0.6221}, 5e-5);
  near(linear->bias, {0.3845, 0.3446, 0.1335}, 5e-5);
  const nn::Conv2d conv(1, 2, 2);
  near(conv->weight, {0.3879, -0.0490, 0.2995, -0.3502, -0.098531, -0.445823, -0.040595, -0.324395}, 5e-5);
  near(conv->bias, {0.4492, 0.3473}, 5e-5);
  const nn::Embedding embedding(3, 2);
  near(embedding->weight, {1.5912, -0.0115, 0.9684, 0.6749, 0.6594, -2.1392}, 5e-5);
  const nn::Bilinear bilinear(2, 2, 2);
  near(bilinear->weight, {0.4316, -0.5100, -0.6342, -0.6129, -0.3480, -0.1858, -0.7010, -0.3311}, 5e-5);
  near(bilinear->bias, {0.0136, 0.1166}, 5e-5);
  const nn::ConvTranspose1d transposed(2, 3, 2);
  near(transposed->weight, {-0.0585, -0.0463, -0.2656, 0.2091, -0.0983, -0.2791, -0.0983, -0.0570}, 5e-5);
  near(transposed->bias, {0.3608, 0.2623, 0.1018}, 5e-5);
}

TEST_CASE("init functions draw the values of libtorch") {
  Variable w = empty({3, 4}, kDouble);
  const auto check = [&](auto fill, const std::vector<double>& expected, double tolerance = 1e-12) {
    manual_seed(7);
    fill();
    near(w, expected, tolerance);
  };
  check([&] { nn::init::uniform_(w, -1, 2); },
        {-0.16185871028078802, -0.17891885904470306, 1.5862788842528763});
  check([&] { nn::init::normal_(w, 1, 2); }, {0.70640980503000961, 2.5722825974470718, 2.893643218007913});
  check([&] { nn::init::xavier_uniform_(w, 2); },
        {-0.81701612958332182, -0.83807563442431166, 1.3409317666664184});
  check([&] { nn::init::xavier_normal_(w, 2); },
        {-0.1569305602419809, 0.84042039926199352, 1.0121948763676691});
  check([&] { nn::init::kaiming_uniform_(w); },
        {-0.54040537400149791, -0.55433492713735288, 0.88694299492645878});
  check([&] { nn::init::kaiming_normal_(w, 0.1, kFanOut, kLeakyReLU); },
        {-0.11926286425033664, 0.63869614583574152, 0.76923997434905111});
  check([&] { nn::init::orthogonal_(w, 2); },
        {-0.17615342140197754, 0.94336569309234619, 1.1361813545227051, -1.3372073173522949,
         1.8680607080459595},
        1e-6);
  check([&] { nn::init::sparse_(w, 0.4, 0.1); },
        {0, 0, 0, 0, 0, -0.08948278791726387, 0, 0, 0.013817266368739246, 0, 0.031767831539796808,
         0.013280696453151093});
  check([&] { nn::init::eye_(w); }, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
  check([&] { nn::init::constant_(w, 3); }, {3, 3, 3});
  CHECK(nn::init::calculate_gain(kTanh) == 5.0 / 3.0);
  CHECK(nn::init::calculate_gain(kReLU) == std::sqrt(2.0));
  CHECK(nn::init::calculate_gain(kLeakyReLU, 0.2) == Approx(1.3867504905630728).epsilon(1e-15));
  CHECK_THROWS_WITH(nn::init::xavier_uniform_(empty({3})), Contains("fewer than 2 dimensions"));
  Variable kernel = empty({2, 3, 3});
  nn::init::dirac_(kernel);
  CHECK(equal(nn::functional::conv1d(arange(8, kFloat).view({1, 1, 8}).expand({1, 3, 8}), kernel,
                                     F::Conv1dFuncOptions().padding(1)),
              arange(8, kFloat).view({1, 1, 8}).expand({1, 2, 8})));
  nn::init::trunc_normal_(w, 0, 1, -0.5, 0.5);
  CHECK(value(w.abs().max()) <= 0.5);
}

TEST_CASE("layers have the documented output shapes") {
  const Variable image = rand({2, 4, 8, 8});
  CHECK(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).stride(2).padding(1))(image).sizes() ==
        IntArrayRef({2, 6, 4, 4}));
  CHECK(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(kSame))(image).sizes() == IntArrayRef({2, 6, 8, 8}));
  CHECK(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(1).padding_mode(kReflect))(image).sizes() ==
        IntArrayRef({2, 6, 8, 8}));
  CHECK(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 2, 3).stride(2))(image).sizes() ==
        IntArrayRef({2, 2, 17, 17}));
  nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(4, 2, 3).stride(2).padding(1));
  CHECK(up->forward(image, IntArrayRef({16, 16})).sizes() == IntArrayRef({2, 2, 16, 16}));
  CHECK(nn::MaxPool2d(2)(image).sizes() == IntArrayRef({2, 4, 4, 4}));
  CHECK(nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(1))(image).sizes() == IntArrayRef({2, 4, 6, 6}));
  CHECK(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({nullopt, 3}))(image).sizes() ==
        IntArrayRef({2, 4, 8, 3}));
  CHECK(nn::Flatten()(image).sizes() == IntArrayRef({2, 256}));
  CHECK(nn::Unflatten(nn::UnflattenOptions(1, {2, 2}))(image).sizes() == IntArrayRef({2, 2, 2, 8, 8}));
  CHECK(nn::PixelShuffle(2)(image).sizes() == IntArrayRef({2, 1, 16, 16}));
  CHECK(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 3, 4}))(image).sizes() == IntArrayRef({2, 4, 15, 11}));
  CHECK(nn::ReflectionPad2d(1)(image).sizes() == IntArrayRef({2, 4, 10, 10}));
  CHECK(nn::Unfold(3)(image).sizes() == IntArrayRef({2, 36, 36}));
  CHECK(nn::BatchNorm2d(4)(image).sizes() == image.sizes());
  CHECK(nn::GroupNorm(2, 4)(image).sizes() == image.sizes());
  CHECK(nn::InstanceNorm2d(4)(image).sizes() == image.sizes());
  CHECK(nn::LayerNorm(nn::LayerNormOptions({8, 8}))(image).sizes() == image.sizes());
  CHECK(nn::Bilinear(3, 2, 5)(rand({4, 3}), rand({4, 2})).sizes() == IntArrayRef({4, 5}));
  CHECK(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2.0, 2.0}).mode(kNearest))(image)
            .sizes() == IntArrayRef({2, 4, 16, 16}));
}

TEST_CASE("Embedding looks up rows, skips padding_idx and applies max_norm") {
  nn::Embedding table(nn::EmbeddingOptions(5, 2).padding_idx(-1));
  CHECK(*table->options.padding_idx() == 4);
  CHECK(value(table->weight[4].abs().sum()) == 0);
  table(tensor({{0, 4}, {4, 1}})).sum().backward();
  CHECK(value(table->weight.grad()[4].abs().sum()) == 0);
  CHECK(value(table->weight.grad()[0].sum()) == 2);
  const Variable rows = tensor({{3.0F, 4.0F}, {30.0F, 40.0F}});
  nn::Embedding fixed =
      nn::Embedding::from_pretrained(rows, nn::EmbeddingFromPretrainedOptions().max_norm(1));
  CHECK_FALSE(fixed->weight.requires_grad());
  near(fixed(tensor({0})), {0.6, 0.8}, 1e-6);
  CHECK(fixed->weight[1][0].item<float>() == 30);
  const Variable bags =
      F::embedding_bag(tensor({0, 1, 1, 0}), tensor({{1.0, 2.0}, {3.0, 5.0}}, TensorOptions(kDouble)),
                       F::EmbeddingBagFuncOptions().offsets(tensor({0, 3})).mode(kMean));
  near(bags, {7.0 / 3, 4, 1, 2}, 1e-12);
  near(F::embedding_bag(tensor({{0, 1}}), tensor({{1.0, 7.0}, {3.0, 5.0}}, TensorOptions(kDouble)),
                        F::EmbeddingBagFuncOptions().mode(kMax)),
       {3, 7}, 1e-12);
}

TEST_CASE("functional forms apply their options") {
  const Variable x = tensor({-2.0, -0.5, 0.5, 2.0}, kDouble);
  near(F::relu(x), {0, 0, 0.5, 2}, 0);
  Variable y = x.clone();
  CHECK(F::relu(y, F::ReLUFuncOptions().inplace(true)).is_same(y));
  near(y, {0, 0, 0.5, 2}, 0);
  const Variable image = x.view({1, 1, 2, 2});
  const std::vector<double> factors = {1.7, 1.7};
  CHECK(equal(nn::Upsample(nn::UpsampleOptions().scale_factor(factors).mode(kArea))(image),
              F::interpolate(image, F::InterpolateFuncOptions().scale_factor(factors).mode(kArea))));
  const auto bilinear = nn::UpsampleOptions().scale_factor(factors).mode(kBilinear);
  CHECK(equal(
      nn::Upsample(nn::UpsampleOptions(bilinear).recompute_scale_factor(true))(image),
      F::interpolate(
          image,
          F::InterpolateFuncOptions().scale_factor(factors).mode(kBilinear).recompute_scale_factor(true))));
  nn::Sequential inplace(nn::SiLU(true), nn::Mish(nn::MishOptions().inplace(true)));
  Variable z = x.clone();
  CHECK(inplace->forward(z).is_same(z));
  CHECK(allclose(z, mish(silu(x))));
  near(F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.1)), {-0.2, -0.05, 0.5, 2}, 1e-15);
  near(F::softmax(x, F::SoftmaxFuncOptions(0)).sum(), {1}, 1e-15);
  near(F::mse_loss(x, x + 1, F::MSELossFuncOptions(kSum)), {4}, 1e-15);
  near(F::pad(x, F::PadFuncOptions({1, 1}).value(9)), {9, -2, -0.5, 0.5, 2, 9}, 0);
  near(F::normalize(x.view({1, 4})), {-2 / std::sqrt(8.5)}, 1e-15);
  near(F::rrelu(x), {-2 * 11.0 / 48, -0.5 * 11.0 / 48, 0.5, 2}, 1e-15);
  CHECK(F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false)).equal(x));
  CHECK_THROWS_WITH(F::dropout(x, F::DropoutFuncOptions().p(2)), Contains("between 0 and 1, but got 2"));
  const Variable hard = F::gumbel_softmax(rand({5, 4}), F::GumbelSoftmaxFuncOptions().hard(true).dim(1));
  CHECK(value(hard.max()) == Approx(1));
  CHECK(value(hard.sum()) == Approx(5));
  const Variable line = tensor({0.0, 1.0, 2.0}, kDouble).view({1, 1, 3});
  near(F::interpolate(
           line,
           F::InterpolateFuncOptions().size(std::vector<std::int64_t>{5}).mode(kLinear).align_corners(true)),
       {0, 0.5, 1, 1.5, 2}, 1e-15);
  near(F::interpolate(line, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2}).mode(kNearest)),
       {0, 0, 1, 1, 2, 2}, 0);
  for (const double factor : {0.0, -1.0, 1e300, double{INFINITY}, double{NAN}})
    CHECK_THROWS_AS(
        F::interpolate(line,
                       F::InterpolateFuncOptions().scale_factor(std::vector<double>{factor}).mode(kNearest)),
        Error);
  Variable w = zeros({4, 5});
  for (const double sparsity : {-0.1, 1.1, double{NAN}})
    CHECK_THROWS_WITH(nn::init::sparse_(w, sparsity),
                      Contains("sparse_: sparsity must be between 0 and 1, got"));
}

TEST_CASE("clip_grad and parameters_to_vector work on all parameters together") {
  Variable a = ones({2}, kDouble).requires_grad_(), b = ones({2, 2}, kDouble).requires_grad_();
  (a.sum() * 3 + b.sum() * 4).backward();
  const double norm = std::sqrt(2 * 9 + 4 * 16);
  CHECK(nn::utils::clip_grad_norm_({a, b}, 1.0) == Approx(norm));
  CHECK(value(a.grad()[0]) == Approx(3 / (norm + 1e-6)).epsilon(1e-12));
  CHECK(nn::utils::clip_grad_norm_({a, b}, 7.0) == Approx(1));  // smaller gradients are unchanged
  CHECK(value(a.grad()[0]) == Approx(3 / (norm + 1e-6)).epsilon(1e-12));
  nn::utils::clip_grad_value_({a, b}, 0.1);
  CHECK(value(b.grad().max()) == 0.1);
  const Variable flat = nn::utils::parameters_to_vector({a, b});
  CHECK(flat.sizes() == IntArrayRef({6}));
  nn::utils::vector_to_parameters(arange(6, TensorOptions(kDouble)), {a, b});
  CHECK(value(b[1][1]) == 5);
  a.mutable_grad().fill_(std::nan(""));
  CHECK_THROWS_WITH(nn::utils::clip_grad_norm_({a, b}, 1.0, 2.0, true), Contains("non-finite"));
}

TEST_CASE("Sequential forwards values of any type and reports mismatched types") {
  struct Split : nn::Module {
    std::tuple<Variable, Variable> forward(const Variable& x) { return {x, x + 1}; }
  };
  struct Join : nn::Module {
    Variable forward(std::tuple<Variable, Variable> pair) { return std::get<0>(pair) + std::get<1>(pair); }
  };
  nn::Sequential net(Split{}, Join{});
  CHECK(value(net(ones({1}, kDouble))) == 3);
  nn::Sequential half(Split{});
  CHECK(std::get<1>(half->forward<std::tuple<Variable, Variable>>(ones({1})))[0].item<float>() == 2);
  CHECK_THROWS_WITH(half->forward(ones({1})), Contains("The type of the return value is"));
  CHECK_THROWS_WITH(nn::Sequential(Join{})->forward(ones({1})), Contains("Expected argument #0"));
  CHECK_THROWS_WITH(nn::Sequential()->forward(ones({1})), Contains("empty Sequential"));
  nn::Sequential nested(nn::Sequential(nn::Linear(2, 3), nn::ReLU()),
                        nn::Functional([](const Variable& x) { return x * 2; }));
  CHECK(nested(ones({1, 2})).sizes() == IntArrayRef({1, 3}));
  CHECK(nested->at<nn::SequentialImpl>(0).size() == 2);
  nn::AnyModule any(nn::Linear(2, 3));
  CHECK(any.forward(ones({1, 2})).sizes() == IntArrayRef({1, 3}));
  CHECK(any.get<nn::LinearImpl>().options.out_features() == 3);
}

TEST_CASE("containers preserve the order of modules and parameters") {
  nn::ModuleList list(nn::Linear(1, 2), nn::ReLU());
  list->insert(1, nn::Tanh());
  CHECK(list->size() == 3);
  CHECK(list[1]->as<nn::Tanh>() != nullptr);
  CHECK(list->named_children().keys() == std::vector<std::string>{"0", "1", "2"});
  nn::ModuleDict dict;
  dict->insert("a", nn::Linear(1, 2).ptr());
  dict->insert("b", nn::ReLU().ptr());
  CHECK(dict->pop("a")->as<nn::Linear>() != nullptr);
  CHECK(dict->keys() == std::vector<std::string>{"b"});
  nn::ParameterList parameters(ones({2}), zeros({3})), more(full({1}, 5), full({1}, 6));
  more->extend(*parameters);
  more->extend(*parameters);
  more->extend(*more);
  REQUIRE(more->size() == 12);
  CHECK(more->state_dict().keys()[11] == "11");
  CHECK(more->named_parameters().keys() == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(equal((*more)[7], full({1}, 6)));
  CHECK(equal((*more)[5], zeros({3})));
  more->extend(std::vector<Variable>{ones({4})});
  CHECK((*more)[12].sizes() == IntArrayRef({4}));
  more->extend(OrderedDict<std::string, Variable>({{"named", ones({5})}}));
  CHECK(more->named_parameters().contains("named"));
  CHECK_THROWS_WITH(more->extend(OrderedDict<std::string, Variable>({{"named", ones({5})}})),
                    Contains("Parameter 'named' already defined"));
  CHECK(parameters->size() == 2);
  CHECK(parameters[1].numel() == 3);
  CHECK_THROWS_WITH(parameters[2], Contains("out of range"));
}

TEST_CASE("BatchNorm counts batches, and without a momentum it uses the cumulative average") {
  nn::BatchNorm1d norm(nn::BatchNorm1dOptions(2).momentum(nullopt));
  norm->to(kDouble);
  const Variable a = tensor({{1.0, 2.0}, {3.0, 6.0}}), b = tensor({{5.0, 2.0}, {7.0, 2.0}});
  norm(a.to(kDouble));
  norm(b.to(kDouble));
  near(norm->running_mean, {4, 3}, 1e-12);
  CHECK(norm->num_batches_tracked.item<std::int64_t>() == 2);
  CHECK_THROWS_WITH(norm(ones({1, 2}, kDouble)), Contains("more than 1 value per channel"));
  norm->eval();
  CHECK(norm(ones({1, 2}, kDouble)).sizes() == IntArrayRef({1, 2}));
}

TEST_CASE("local_response_norm of integers averages in floating point") {
  const Variable x = tensor({1, 2, 3, 4, 5, 6}).view({1, 3, 2});
  const Variable y = F::local_response_norm(x, F::LocalResponseNormFuncOptions(3).alpha(0.5).beta(1).k(2));
  CHECK(y.dtype() == kFloat);
  // Squares over three channels, padded with zeros: 10 / 3, 20 / 3, 35 / 3, 56 / 3, 34 / 3, 52 / 3.
  near(y, {1 / 3.5, 2 / 5.0, 3 / 7.5, 4 / 11.0, 5 / 7.5, 6 / 10.5}, 1e-6);
}
