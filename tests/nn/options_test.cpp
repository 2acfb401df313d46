// Options and helper functions of modules, and arguments at their limits.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <utility>
#include <vector>

// Options: setters can be chained, getters read and write, and module names are those of libtorch.

using namespace ebb;
using namespace ebb::nn;

TEST_CASE("setters of options can be chained on temporaries and on variables") {
  auto options = Conv2dOptions(3, 4, 5).stride({2, 1}).padding(kSame).bias(false);
  options.stride(3).groups(1);
  CHECK((*options.stride())[0] == 3);
  CHECK((*options.stride())[1] == 3);
  CHECK(options.padding().mode() == std::string("same"));
  CHECK_FALSE(options.bias());
  static_assert(std::is_same_v<decltype(options.bias(true)), Conv2dOptions&>);
}

TEST_CASE("options can be written through their getters") {
  optim::AdamOptions adam(0.5);
  adam.lr() *= 2;
  std::get<0>(adam.betas()) = 0.25;
  const optim::AdamOptions& read = adam;
  CHECK(read.lr() == 1);
  CHECK(read.get_lr() == 1);
  CHECK(std::get<0>(read.betas()) == 0.25);

  ELUOptions elu;
  elu.alpha() = 3;
  CHECK(ELU(elu)->options.alpha() == 3);
  data::DataLoaderOptions loader(4);
  loader.workers() = 3;
  CHECK(loader.max_jobs() == 6);
}

TEST_CASE("options of a module can be changed after construction") {
  Threshold threshold(0, 7);
  const Variable x = tensor({-1.0, 1.0});
  CHECK(threshold(x)[0].item<double>() == 7);
  threshold->options.value(9);
  CHECK(threshold(x)[0].item<double>() == 9);
}

TEST_CASE("name() returns the class names of libtorch") {
  CHECK(ReLU()->name() == "ebb::nn::ReLUImpl");
  CHECK(Conv2d(1, 1, 1)->name() == "ebb::nn::Conv2dImpl");
  CHECK(ConvTranspose3d(1, 1, 1)->name() == "ebb::nn::ConvTranspose3dImpl");
  CHECK(BatchNorm1d(1)->name() == "ebb::nn::BatchNorm1dImpl");
  CHECK(ReflectionPad2d(1)->name() == "ebb::nn::ReflectionPad2dImpl");
  CHECK(AdaptiveMaxPool2d(1)->name() == "ebb::nn::AdaptiveMaxPool2dImpl");
}

// Helpers of modules that programs use.

TEST_CASE("a string literal is accepted as an AnyValue") {
  nn::AnyValue value("text");
  CHECK(value.type_info() == typeid(const char*));
  CHECK(std::string(value.get<const char*>()) == "text");
  struct Speaker : nn::Module {
    int forward(const char* text) { return static_cast<int>(std::string(text).size()); }
  };
  nn::AnyModule module(std::make_shared<Speaker>());
  CHECK(module.forward<int>("four") == 4);
}

TEST_CASE("operator+= concatenates parameter lists") {
  nn::ParameterList a(ones({1}), ones({2})), b(ones({3}));
  *a += *b;
  CHECK(a->size() == 3);
  CHECK(a[2].size(0) == 3);
  (*a += *b) += *b;
  CHECK(a->size() == 5);
}

// Arguments of layers and utilities at their limits.

using support::Contains;

TEST_CASE("dropout modules accept every probability from 0 to 1 inclusive") {
  for (const double p : {0.0, 1.0}) {
    CHECK(equal(nn::Dropout(p)(ones({4})), ones({4}) * (1 - p)));
    CHECK(equal(nn::Dropout2d(p)(ones({1, 2, 2, 2})), ones({1, 2, 2, 2}) * (1 - p)));
    CHECK_NOTHROW(nn::AlphaDropout(p));
  }
  for (const double p : {-0.01, 1.01})
    CHECK_THROWS_WITH(nn::Dropout(p), Contains("dropout probability has to be between 0 and 1"));
}

TEST_CASE("transposed convolutions accept a feasible output_size and report the feasible range") {
  nn::ConvTranspose2d conv(nn::ConvTranspose2dOptions(2, 3, 3).stride(2));
  const Variable x = ones({5, 2, 3, 4});
  for (const std::int64_t height : {7, 8})
    for (const std::int64_t width : {9, 10})
      for (const std::vector<std::int64_t>& size :
           {std::vector<std::int64_t>{height, width}, std::vector<std::int64_t>{5, 3, height, width}})
        CHECK(conv->forward(x, IntArrayRef(size)).sizes() == IntArrayRef({5, 3, height, width}));
  // A dilation allows more output_padding than the stride.
  nn::ConvTranspose1d wide(nn::ConvTranspose1dOptions(1, 1, 2).stride(2).dilation(3));
  for (const std::int64_t size : {9, 12}) {
    const std::vector<std::int64_t> wanted = {size};
    CHECK_THROWS_WITH(wide->forward(ones({1, 1, 4}), IntArrayRef(wanted)),
                      Contains("must lie between 10 and 11"));
  }
}

TEST_CASE("trunc_normal_ with bounds far in the tail draws values between them") {
  manual_seed(1);
  Variable x = empty({10000});
  nn::init::trunc_normal_(x, 0, 1, 5, 6);
  CHECK(x.min().item<float>() >= 5);
  CHECK(x.max().item<float>() <= 6);
  CHECK_THROWS_WITH(nn::init::trunc_normal_(x, 0, 1, 6, 5), Contains("trunc_normal_: the bounds a = 6"));
}

TEST_CASE("clip_grad_norm_ of order 0 counts all defined gradients, including those that are zero") {
  Variable a = ones({2}).requires_grad_(), b = ones({3}).requires_grad_(), c = ones({1}).requires_grad_();
  (a * 0).sum().backward();
  b.sum().backward();
  CHECK(nn::utils::clip_grad_norm_({a, b, c}, 1.0, 0.0) == 2);
  CHECK(b.grad()[0].item<float>() == Approx(0.5));
}

TEST_CASE("vector_to_parameters throws for a vector of wrong size and changes nothing") {
  const Variable a = ones({2}), b = ones({2, 2});
  for (const Variable& vec : {zeros({5}), zeros({0}), zeros({2, 3})})
    CHECK_THROWS_WITH(nn::utils::vector_to_parameters(vec, {a, b}),
                      Contains("vector_to_parameters: expected a vector of at least 6 elements"));
  CHECK(equal(a, ones({2})));
}

TEST_CASE("batch_norm in training throws for one value per channel and accepts more") {
  const auto options = nn::functional::BatchNormFuncOptions().training(true);
  const Variable mean = zeros({2}), var = ones({2});
  for (const Variable& x : {ones({1, 2, 3}), ones({3, 2}), ones({1, 2, 1, 2})})
    CHECK_NOTHROW(nn::functional::batch_norm(x, mean, var, options));
  for (const Variable& x : {ones({1, 2}), ones({1, 2, 1}), ones({1, 2, 1, 1})})
    CHECK_THROWS_WITH(nn::functional::batch_norm(x, mean, var, options),
                      Contains("Expected more than 1 value per channel"));
}

TEST_CASE("layers accept zero input or output features") {
  using namespace nn;
  const Variable none = zeros({2, 0}), x = ones({2, 3});
  CHECK(equal(Linear(0, 2)(none), zeros({2, 2})));
  CHECK(Linear(3, 0)(x).sizes() == IntArrayRef({2, 0}));
  CHECK(Bilinear(3, 3, 0)(x, x).sizes() == IntArrayRef({2, 0}));
  RNNCell without_input(0, 2);
  CHECK(equal(without_input(none), (without_input->bias_ih + without_input->bias_hh).tanh().expand({2, 2})));
  CHECK(GRUCell(3, 0)(x).sizes() == IntArrayRef({2, 0}));
  CHECK(std::get<0>(LSTMCell(3, 0)(x)).sizes() == IntArrayRef({2, 0}));
  CHECK(Conv1d(0, 2, 2)->weight.sizes() == IntArrayRef({2, 0, 2}));
  CHECK(equal(Conv1d(0, 2, 2)->bias, zeros({2})));
  CHECK(Embedding(0, 3)(zeros({0}, kLong)).sizes() == IntArrayRef({0, 3}));
  CHECK(PReLU(0)(zeros({2, 0, 3})).sizes() == IntArrayRef({2, 0, 3}));
}

TEST_CASE("Dropout3d of an unbatched input zeroes channels") {
  manual_seed(1);
  const Variable out = nn::Dropout3d(0.5)(ones({64, 2, 2, 2})).flatten(1);
  CHECK(equal(out, out.narrow(1, 0, 1).expand({64, 8})));
}

TEST_CASE("modules and functions throw for the options and sizes for which torch throws") {
  using namespace nn;
  namespace F = nn::functional;
  const Variable x = ones({2, 6, 3}), image = ones({1, 1, 4, 4}), at = zeros({1, 1, 4, 4, 4}, kLong), none;
  const std::vector<std::pair<const char*, std::function<void()>>> table = {
      {"batch_norm: eps must be positive during training",
       [&] { BatchNorm1d(BatchNorm1dOptions(6).eps(0))(x); }},
      {"batch_norm: eps must be non-negative",
       [&] { F::batch_norm(x, ones({6}), ones({6}), F::BatchNormFuncOptions().eps(-1)); }},
      {"GroupNorm: num_channels (10) must be divisible", [] { GroupNorm(GroupNormOptions(3, 10)); }},
      {"Bilinear: in1_features must be > 0", [] { Bilinear(0, 2, 2); }},
      {"LPPool2d: norm_type must be a non-zero value", [] { LPPool2d(0, 2); }},
      {"Conv: groups must be a positive integer, got 0", [] { Conv2d(Conv2dOptions(2, 2, 1).groups(0)); }},
      {"Conv: in_channels and out_channels must not be negative", [] { Conv1d(-2, 2, 1); }},
      {"LSTM: proj_size has to be", [] { LSTM(LSTMOptions(2, 2).proj_size(2)); }},
      {"GRU: num_layers must be greater than zero", [] { GRU(GRUOptions(2, 2).num_layers(0)); }},
      {"RNN: dropout should be a number in range [0, 1]", [] { RNN(RNNOptions(2, 2).dropout(2)); }},
      {"GRUCell: input_size and hidden_size must not be negative", [] { GRUCell(-1, 2); }},
      {"FractionalMaxPool2d: output_ratio must be between 0 and 1",
       [] { FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_ratio(1.5)); }},
      {"FractionalMaxPool3d: kernel_size must be greater than 0",
       [] { FractionalMaxPool3d(FractionalMaxPool3dOptions(0).output_ratio(0.5)); }},
      {"LinearCrossEntropyLoss: expected a weight for each of 3 classes",
       [] { LinearCrossEntropyLoss(LinearCrossEntropyLossOptions(2, 3).weight(ones({2}))); }},
      {"LinearCrossEntropyLoss: expected label_smoothing to be in range [0, 1]",
       [] { LinearCrossEntropyLoss(LinearCrossEntropyLossOptions(2, 3).label_smoothing(2)); }},
      {"Expected hidden of as many dimensions as the input, 1",
       [] { RNNCell(2, 2)(ones({2}), ones({1, 2})); }},
      {"triplet_margin_loss: margin must be greater than 0",
       [&] { TripletMarginLoss(TripletMarginLossOptions().margin(0))(x, x, x); }},
      {"triplet_margin_with_distance_loss: margin must be",
       [&] { TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions().margin(-1))(x, x, x); }},
      {"interpolate: size or scale_factor must have a value for each of the 2 spatial",
       [&] { F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<std::int64_t>{2})); }},
      {"max_unpool3d: expected a stride of three values above 0",
       [&] { MaxUnpool3d(MaxUnpool3dOptions(3).stride(0))(ones({1, 1, 4, 4, 4}), at); }},
      {"reflection_pad: only the batch may be empty",
       [] { F::pad(ones({2, 0, 3}), F::PadFuncOptions({1, 1}).mode(kReflect)); }},
      {"embedding_bag: max mode does not support scaling",
       [] {
         F::embedding_bag(zeros({1, 1}, kLong), ones({2, 2}),
                          F::EmbeddingBagFuncOptions().mode(kMax).scale_grad_by_freq(true));
       }},
      {"embedding_bag: max mode does not support sparse weights",
       [] { EmbeddingBag(EmbeddingBagOptions(2, 2).mode(kMax).sparse(true))(zeros({1, 1}, kLong)); }},
  };
  const Variable rows = ones({4, 3}), loss_of = zeros({4, 3});
  for (const Variable& var : {ones({2, 3}), ones({1, 1}), ones({3}), ones({1, 4, 3})})
    CHECK_THROWS_WITH(GaussianNLLLoss()(rows, loss_of, var), Contains("var is of incorrect size"));
  for (const Variable& var : {ones({4, 3}), ones({1, 3}), ones({4, 1}), ones({4})})
    CHECK(GaussianNLLLoss()(rows, loss_of, var).item<float>() == Approx(0.5));
  for (const auto& [text, call] : table) {
    INFO(text);
    CHECK_THROWS_WITH(call(), support::Contains(text));
  }
}
